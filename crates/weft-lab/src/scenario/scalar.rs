//! Single value of a file, of any type.

use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// A TOML value.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(from = "Written")]
pub enum Scalar {
    /// A text in quotes.
    Text(String),
    /// A number or boolean, in TOML notation.
    Literal(String),
}

impl Scalar {
    /// Returns the text in the file, without quotes.
    pub fn text(&self) -> &str {
        match self {
            Scalar::Text(text) | Scalar::Literal(text) => text,
        }
    }
}

/// Returns the text with its location.
pub fn text_of(scalar: &Spanned<Scalar>) -> Spanned<String> {
    Spanned::new(scalar.span(), scalar.get_ref().text().to_owned())
}

/// Reads a field that may be a number without quotes.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Spanned<String>>, D::Error> {
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
            // With a decimal point, even without digits after it.
            Written::Decimal(number) => Scalar::Literal(format!("{number:?}")),
            Written::Text(text) => Scalar::Text(text),
        }
    }
}
