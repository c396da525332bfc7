//! Fields that a table may have, derived from the type that it is read into.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// Returns the names of a struct's fields in files.
pub fn fields<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut asked = Asked(&[]);
    // Reading always fails, but the struct names its fields before that.
    let _ = T::deserialize(&mut asked);
    asked.0
}

/// Records the requested fields.
struct Asked(&'static [&'static str]);

impl<'de> Deserializer<'de> for &mut Asked {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.0 = fields;
        Err(Error::custom("asked for its fields only"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("no struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}
