//! The names of variants, as serde writes them: an enum states them once.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use std::fmt;

/// Returns the name under which serde writes `variant`: one without fields, of an enum that serde reads and
/// writes by the names of its variants.
///
/// # Panics
/// For another one. The list of frozen names in the tests has every enum that asks.
pub fn name_of<T: Serialize + DeserializeOwned>(variant: &T) -> &'static str {
    let mut names: &'static [&'static str] = &[];
    // It always fails: only the names are of interest.
    let _ = T::deserialize(Names(&mut names));
    let written = Written(variant).to_string();
    let name = names.iter().find(|name| **name == written);
    name.expect("serde reads every variant that it writes")
}

/// Takes the names of the variants of an enum, in place of a value.
struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = variants;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant as the text that serde writes.
struct Written<'a, T>(&'a T);

impl<T: Serialize> fmt::Display for Written<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(formatter)
    }
}
