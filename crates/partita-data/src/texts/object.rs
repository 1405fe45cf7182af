//! An object of JSON without room for what is not wanted of it.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The names of an object's fields, and whether each is text.
pub(super) struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Vec<(String, bool)>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NameSeed {
    type Value = Vec<(String, bool)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object such as {\"text\": \"…\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            names.push((name, map.next_value_seed(IsTextSeed)?));
        }
        Ok(names)
    }
}

/// Whether a value is text, or a list that begins with some.
struct IsTextSeed;

impl<'de> DeserializeSeed<'de> for IsTextSeed {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<bool, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for IsTextSeed {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
        Ok(true)
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(false)
    }
}

/// The values of these fields; all others are skipped without room for them.
pub(super) struct ValueSeed<'n>(pub(super) &'n [&'n str]);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Vec<Option<String>>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Vec<Option<String>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object such as {\"text\": \"…\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = vec![None; self.0.len()];
        while let Some(name) = map.next_key::<String>()? {
            match self.0.iter().position(|wanted| *wanted == name) {
                Some(at) => values[at] = map.next_value_seed(CellSeed { name: &name, nested: false })?,
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(values)
    }
}

/// A value as a cell: text and numbers as they are, lists of them joined; null is none.
struct CellSeed<'n> {
    name: &'n str,
    nested: bool,
}

impl<'de> DeserializeSeed<'de> for CellSeed<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CellSeed<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text, a number or a list of them in the field '{}'", self.name)
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Some(value.to_owned()))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        if self.nested {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        }
        let mut all: Option<String> = None;
        while let Some(item) = items.next_element_seed(CellSeed { name: self.name, nested: true })? {
            let Some(item) = item else { continue };
            match &mut all {
                Some(all) => {
                    all.push_str(", ");
                    all.push_str(&item);
                }
                None => all = Some(item),
            }
        }
        Ok(all)
    }
}
