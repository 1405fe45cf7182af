//! Where the weights of a network are: where somebody says, in the folder that `PARTITA_WEIGHTS` names, or in a cache of Hugging Face. Nothing is fetched.

use crate::error::{EmbedError, Result};
use std::env;
use std::path::{Path, PathBuf};

/// A network by its name, and where it is published.
struct Known {
    name: &'static str,
    folder: &'static str,
    owner: &'static str,
    licence: &'static str,
}

const KNOWN: [Known; 1] =
    [Known { name: "minilm", folder: "all-MiniLM-L6-v2", owner: "sentence-transformers", licence: "Apache-2.0" }];

/// A folder of weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub folder: PathBuf,
    /// The folder's name where it is published, with its licence.
    pub called: String,
}

impl Place {
    /// Where the weights of this network are, if they are anywhere.
    ///
    /// # Errors
    /// If `asked` is no folder of weights.
    pub fn of(name: &str, asked: Option<&Path>) -> Result<Option<Self>> {
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else { return Ok(None) };
        let called = format!("{} ({})", known.folder, known.licence);
        let whole = |folder: &PathBuf| folder.join("config.json").is_file() && folder.join("model.safetensors").is_file();
        let found = match asked {
            Some(asked) => {
                let places = [asked.to_owned(), asked.join(known.folder), asked.join(name)];
                let found = places.into_iter().find(whole);
                Some(found.ok_or_else(|| EmbedError::File {
                    path: asked.to_owned(),
                    problem: format!("there are no weights of {name}: a folder with config.json, model.safetensors and vocab.txt is needed"),
                })?)
            }
            None => usual(known).into_iter().find(whole),
        };
        Ok(found.map(|folder| Self { folder, called }))
    }

    /// The same, where they are needed.
    ///
    /// # Errors
    /// If they are nowhere.
    pub fn needed(name: &str, asked: Option<&Path>) -> Result<Self> {
        Self::of(name, asked)?.ok_or_else(|| {
            let of = KNOWN.iter().find(|known| known.name == name).map_or(name, |known| known.folder);
            EmbedError::Refused(format!(
                "the weights of {name} are not found; name their folder (`encoder_weights`), put it as {of} into the folder that PARTITA_WEIGHTS names, \
                 or have it in the cache of Hugging Face"
            ))
        })
    }
}

/// The usual places, in the order in which they are searched.
fn usual(known: &Known) -> Vec<PathBuf> {
    let var = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut places = Vec::new();
    if let Some(weights) = var("PARTITA_WEIGHTS") {
        places.extend([weights.join(known.folder), weights.join(known.name)]);
    }
    let home = || var("HOME").or_else(|| var("USERPROFILE"));
    let cache = || var("HF_HOME").or_else(|| var("XDG_CACHE_HOME").map(|cache| cache.join("huggingface")));
    let cache = || cache().or_else(|| home().map(|home| home.join(".cache").join("huggingface")));
    if let Some(hub) = var("HF_HUB_CACHE").or_else(|| cache().map(|cache| cache.join("hub"))) {
        places.extend(snapshots(&hub.join(format!("models--{}--{}", known.owner, known.folder))));
    }
    places
}

/// The versions of a repository in a cache: the one that `main` names first, then the others by name.
fn snapshots(repository: &Path) -> Vec<PathBuf> {
    let snapshots = repository.join("snapshots");
    let main = std::fs::read_to_string(repository.join("refs").join("main")).ok();
    let main = main.map(|name| snapshots.join(name.trim()));
    let mut others: Vec<PathBuf> =
        std::fs::read_dir(&snapshots).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    others.sort();
    main.into_iter().chain(others).collect()
}
