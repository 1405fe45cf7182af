//! Files of other versions of Partita. What an older version did not write yet gets its default; what only a newer one
//! knows is named, with the advice to update. Nothing is silently left out.

use crate::error::{DataError, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::Path;

/// At most this number of unknown things are named in a message.
const NAMED: usize = 3;
/// Characters of an unknown value that a message shows.
const SHOWN: usize = 40;

/// Where a stored thing comes from.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The file.
    pub path: &'a Path,
    /// What the file is, for messages.
    pub kind: &'static str,
    /// The version that wrote it, if the file says so.
    pub version: Option<&'a str>,
}

impl<'a> Origin<'a> {
    /// The error for something that this version does not know. Only a newer version can have written it on purpose.
    pub fn unknown(&self, what: String) -> DataError {
        match self.version {
            Some(version) if !is_newer(version) => {
                self.corrupt(format!("it has {what}, which Partita {version} does not know"))
            }
            _ => self.newer(what),
        }
    }

    fn newer(&self, what: String) -> DataError {
        let written_by = match self.version {
            Some(version) if is_newer(version) => format!("Partita {version}"),
            _ => "a newer version of Partita".to_owned(),
        };
        DataError::Newer { path: self.path.to_owned(), written_by, what }
    }

    /// The error for content that contradicts itself.
    pub fn corrupt(&self, problem: String) -> DataError {
        DataError::corrupt(self.path, self.kind, problem)
    }

    /// Check the name of the layout, such as `partita-linear-1`: a higher number is from a newer version.
    ///
    /// # Errors
    /// [`DataError::Newer`] or [`DataError::Corrupt`] if the layout is not the expected one.
    pub fn check_format(&self, found: &str, expected: &str) -> Result<()> {
        let (family, known) = numbered(expected);
        match numbered(found) {
            _ if found == expected => Ok(()),
            (same, number) if same == family && number > known => {
                Err(self.newer(format!("the format {found}")))
            }
            _ => Err(self.corrupt(format!("its format is {found}; this version reads {expected}"))),
        }
    }

    /// Options that are stored as a JSON object.
    ///
    /// # Errors
    /// [`DataError::Corrupt`] if the text is none.
    pub fn options(self, text: &str) -> Result<StoredOptions<'a>> {
        match serde_json::from_str(text) {
            Ok(entries) => Ok(StoredOptions { origin: self, entries }),
            Err(e) => Err(self.corrupt(format!("its options: {e}"))),
        }
    }
}

/// Options as some version wrote them.
///
/// ```
/// use partita::linear::Params;
/// use partita_data::versions::Origin;
/// let origin = Origin { path: "model.safetensors".as_ref(), kind: "Partita model", version: Some("99.0.0") };
/// // What is missing gets its default.
/// let stored = origin.options(r#"{"k": 3, "seed": 7}"#)?;
/// assert_eq!(stored.fill(&Params::new(3))?, Params { seed: 7, ..Params::new(3) });
/// // What is unknown is named.
/// let message = origin.options(r#"{"k": 3, "foo": 1}"#)?.fill(&Params::new(3)).unwrap_err().to_string();
/// assert!(message.contains("was written by Partita 99.0.0, which knows `foo`"));
/// # Ok::<(), partita_data::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct StoredOptions<'a> {
    origin: Origin<'a>,
    entries: Map<String, Value>,
}

impl StoredOptions<'_> {
    /// An option that the defaults of others depend on.
    ///
    /// # Errors
    /// [`DataError::Corrupt`] if it is missing, and what [`Origin::unknown`] says if this version cannot read it.
    pub fn need<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let value = self
            .entries
            .get(key)
            .ok_or_else(|| self.origin.corrupt(format!("its option `{key}` is missing")))?;
        serde_json::from_value(value.clone()).map_err(|_| self.origin.unknown(shown(key, value)))
    }

    /// All options, with defaults for those that are missing.
    ///
    /// # Errors
    /// What [`Origin::unknown`] says of options, values and parts of them that this version does not know.
    pub fn fill<T: Serialize + DeserializeOwned>(&self, defaults: &T) -> Result<T> {
        let Ok(Value::Object(defaults)) = serde_json::to_value(defaults) else {
            return Err(self.origin.corrupt("its options have no names".to_owned()));
        };
        match filled(&defaults, &self.entries) {
            Some(options) => Ok(options),
            None => Err(self.refuse::<T>(&defaults)),
        }
    }

    /// The error that names what this version does not know.
    fn refuse<T: Serialize + DeserializeOwned>(&self, defaults: &Map<String, Value>) -> DataError {
        // Each alone on top of the defaults shows which of them it is.
        let bad = |(key, value): &(&String, &Value)| {
            let alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            filled::<T>(defaults, &alone).is_none()
        };
        let name = |(key, value): (&String, &Value)| {
            if defaults.contains_key(key) { shown(key, value) } else { format!("`{key}`") }
        };
        let unknown: Vec<String> = self.entries.iter().filter(bad).take(NAMED).map(name).collect();
        if unknown.is_empty() {
            self.origin.corrupt("its options do not go together".to_owned())
        } else {
            self.origin.unknown(unknown.join(", "))
        }
    }
}

/// Options with defaults for what is not stored, if all that is stored is known.
fn filled<T: Serialize + DeserializeOwned>(
    defaults: &Map<String, Value>,
    stored: &Map<String, Value>,
) -> Option<T> {
    let mut all = defaults.clone();
    all.extend(stored.iter().map(|(key, value)| (key.clone(), value.clone())));
    let options = serde_json::from_value(Value::Object(all)).ok()?;
    // What is read without being understood is not there when it is written again.
    holds(&serde_json::to_value(&options).ok()?, stored).then_some(options)
}

/// Whether everything with a name in `stored` has that name in `written` too.
fn holds(written: &Value, stored: &Map<String, Value>) -> bool {
    stored.iter().all(|(key, value)| match (written.get(key), value) {
        (Some(written), Value::Object(value)) => holds(written, value),
        (found, value) => found.is_some() || value.is_null(),
    })
}

/// An option with its value.
fn shown(key: &str, value: &Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(SHOWN).collect();
    let rest = if cut.len() < text.len() { "…" } else { "" };
    format!("`{key}` = {cut}{rest}")
}

/// Whether a version is later than this one; one that cannot be read is.
fn is_newer(version: &str) -> bool {
    let parts = |version: &str| -> Option<Vec<u64>> {
        let numbers = version.split(['-', '+']).next()?;
        numbers.split('.').map(|part| part.parse().ok()).collect()
    };
    parts(version).is_none_or(|found| Some(found) > parts(env!("CARGO_PKG_VERSION")))
}

/// The name of a layout without its number, and the number.
fn numbered(format: &str) -> (&str, Option<u64>) {
    match format.rsplit_once('-') {
        Some((family, number)) => (family, number.parse().ok()),
        None => (format, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::linear::{Loss, Params, Prior};

    fn origin(version: Option<&'static str>) -> Origin<'static> {
        Origin { path: Path::new("m.safetensors"), kind: "Partita model", version }
    }

    fn fill(text: &str, version: Option<&'static str>) -> Result<Params> {
        origin(version).options(text)?.fill(&Params::new(3))
    }

    #[test]
    fn all_options_come_back_and_missing_ones_get_their_defaults() {
        let params = Params {
            loss: Loss::Renyi(f64::INFINITY),
            lambda: Some(0.1),
            prior: Prior::Estimated { least: 0.1, most: 0.7 },
            seed: u64::MAX,
            ..Params::new(3)
        };
        let text = serde_json::to_string(&params).unwrap();
        assert_eq!(fill(&text, Some("0.1.0")).unwrap(), params);
        assert_eq!(fill("{}", None).unwrap(), Params::new(3));
    }

    #[test]
    fn what_a_newer_version_knows_is_named_with_that_version() {
        for (text, what) in [
            (r#"{"k": 3, "foo": 2}"#, "`foo`;"),
            (r#"{"loss": "brand-new"}"#, "`loss` = \"brand-new\";"),
            (r#"{"solver": {"kind": "em", "iterations": 5, "tolerance": 0.1}}"#, "`solver` = {"),
            (r#"{"prior": {"estimated": {"least": 0.1, "most": 0.7, "mode": 0.3}}}"#, "`prior` = {"),
            (r#"{"a": 1, "b": 2, "c": 3, "d": 4}"#, "`a`, `b`, `c`;"),
        ] {
            let message = fill(text, Some("12.3.4-beta")).unwrap_err().to_string();
            assert!(message.contains("was written by Partita 12.3.4-beta, which knows "), "{message}");
            assert!(message.contains(what) && message.ends_with(": update Partita"), "{message}");
            let message = fill(text, None).unwrap_err().to_string();
            assert!(message.contains("was written by a newer version of Partita, which knows "), "{message}");
        }
    }

    #[test]
    fn what_no_version_can_have_written_is_corrupt() {
        for text in [r#"{"foo": 2}"#, r#"{"restarts": "many"}"#, "[]", "{"] {
            let error = fill(text, Some(env!("CARGO_PKG_VERSION"))).unwrap_err();
            assert!(matches!(error, DataError::Corrupt { .. }), "{error}");
        }
        let stored = origin(None).options("{}").unwrap();
        assert!(stored.need::<usize>("k").unwrap_err().to_string().contains("`k` is missing"));
    }

    #[test]
    fn a_later_layout_is_from_a_newer_version_and_a_strange_one_is_corrupt() {
        let check = |found| origin(Some("7.0.0")).check_format(found, "partita-linear-1");
        assert!(check("partita-linear-1").is_ok());
        for found in ["partita-linear-2", "partita-linear-10"] {
            let message = check(found).unwrap_err().to_string();
            assert!(message.contains("Partita 7.0.0, which knows the format partita-linear-"), "{message}");
        }
        for found in ["partita-linear-0", "partita-linear-x", "partita-other-2", "x"] {
            assert!(matches!(check(found), Err(DataError::Corrupt { .. })), "{found}");
        }
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_newer("99.0.0") && is_newer("0.99.0") && is_newer("0.1.1000") && is_newer("next"));
        assert!(!is_newer(env!("CARGO_PKG_VERSION")) && !is_newer("0.0.9"));
    }
}
