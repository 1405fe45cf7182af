//! The folder with the weights of a network of texts: where somebody says, or at one of the usual places.

use crate::error::{EmbedError, Result};
use crate::weights::{Known, Places, known};
use std::path::{Path, PathBuf};

/// Files without which a folder holds no network.
const NEEDED: [&str; 2] = ["config.json", "model.safetensors"];

/// Where the weights of this network are, if they are anywhere.
///
/// # Errors
/// If `asked` holds no such weights.
pub(super) fn found(name: &str, asked: Option<&Path>) -> Result<Option<(PathBuf, &'static Known)>> {
    let Some(known) = known(name) else { return Ok(None) };
    let whole = |folder: &PathBuf| NEEDED.iter().all(|file| folder.join(file).is_file());
    let folder = match asked {
        Some(asked) => {
            let inside = known.files.iter().chain([&known.name]).map(|file| asked.join(file));
            let found = std::iter::once(asked.to_owned()).chain(inside).find(whole);
            Some(found.ok_or_else(|| EmbedError::File {
                path: asked.to_owned(),
                problem: format!("there are no weights of {name}: a folder with config.json, model.safetensors and vocab.txt is needed"),
            })?)
        }
        None => {
            let places = Places::of_environment().all(known);
            places.iter().filter_map(|place| Some(place.path()?.to_owned())).find(whole)
        }
    };
    Ok(folder.map(|folder| (folder, known)))
}

/// The same, where they are needed.
///
/// # Errors
/// If they are nowhere.
pub(super) fn needed(name: &str, asked: Option<&Path>) -> Result<(PathBuf, &'static Known)> {
    found(name, asked)?.ok_or_else(|| {
        let of = known(name).and_then(|known| known.files.first()).copied().unwrap_or(name);
        EmbedError::Refused(format!(
            "the weights of {name} are not found; name their folder (`encoder_weights`), put it as {of} into the folder that PARTITA_WEIGHTS names, \
             or have it in the cache of Hugging Face"
        ))
    })
}
