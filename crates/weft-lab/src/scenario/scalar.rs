//! A single value of a file, whatever its type.

use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::place::Text;

/// A value as TOML has it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(from = "Written")]
pub enum Scalar {
    /// Between quotes.
    Text(String),
    /// A number or truth value, as TOML writes it.
    Literal(String),
}

impl Scalar {
    /// What stands in the file, without quotes.
    pub fn text(&self) -> &str {
        match self {
            Scalar::Text(text) | Scalar::Literal(text) => text,
        }
    }
}

/// What stands there, with its place.
pub fn text_of(scalar: &Spanned<Scalar>) -> Text {
    Spanned::new(scalar.span(), scalar.get_ref().text().to_owned())
}

/// For a field that may be a number without quotes.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Text>, D::Error> {
    let scalar = Spanned::deserialize(from)?;
    Ok(Some(text_of(&scalar)))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Truth(bool),
    Whole(i64),
    Decimal(f64),
    Text(String),
}

impl From<Written> for Scalar {
    fn from(written: Written) -> Scalar {
        match written {
            Written::Truth(truth) => Scalar::Literal(truth.to_string()),
            Written::Whole(number) => Scalar::Literal(number.to_string()),
            // With a point also where nothing stands behind it.
            Written::Decimal(number) => Scalar::Literal(format!("{number:?}")),
            Written::Text(text) => Scalar::Text(text),
        }
    }
}
