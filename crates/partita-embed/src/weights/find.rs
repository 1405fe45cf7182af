//! Where weights are looked for: the place that was given, the program itself, a folder of weights, the Hugging Face cache. Nothing is
//! fetched from anywhere.

use super::known::Known;
use crate::error::{EmbedError, Result};
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable that names a folder of weights.
pub const FOLDER: &str = "PARTITA_WEIGHTS";

/// Where some weights are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the file or folder that was given.
    Given(PathBuf),
    /// In the program itself.
    BuiltIn,
    /// In the folder of weights.
    Folder(PathBuf),
    /// In the Hugging Face cache.
    Cache(PathBuf),
}

impl Place {
    /// The file or folder, unless they are in the program.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Given(path) | Self::Folder(path) | Self::Cache(path) => Some(path),
            Self::BuiltIn => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(path) => write!(f, "{}", path.display()),
            None => f.write_str("built in"),
        }
    }
}

/// What the environment says about places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder of weights.
    pub folder: Option<PathBuf>,
    /// The Hugging Face cache.
    pub cache: Option<PathBuf>,
}

impl Places {
    /// From the environment: `PARTITA_WEIGHTS`, and `HF_HUB_CACHE`, `HF_HOME` or the usual place of the cache.
    pub fn of_environment() -> Self {
        Self::of(|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn of(var: impl Fn(&str) -> Option<OsString>) -> Self {
        let at = |name: &str| var(name).map(PathBuf::from);
        let cached = || {
            at("XDG_CACHE_HOME").or_else(|| Some(at("HOME").or_else(|| at("USERPROFILE"))?.join(".cache")))
        };
        let home = || at("HF_HOME").or_else(|| Some(cached()?.join("huggingface")));
        let hub = at("HF_HUB_CACHE").or_else(|| at("HUGGINGFACE_HUB_CACHE"));
        Self { folder: at(FOLDER), cache: hub.or_else(|| Some(home()?.join("hub"))) }
    }

    /// All places that have weights of an encoder, in the order in which they are preferred.
    pub fn all(&self, known: &Known) -> Vec<Place> {
        let built_in = known.built_in.map(|_| Place::BuiltIn);
        let folder = self.folder.iter().flat_map(|folder| in_folder(known, folder)).map(Place::Folder);
        let cache = self.cache.as_deref().and_then(|cache| in_cache(known, cache)).map(Place::Cache);
        built_in.into_iter().chain(folder).chain(cache).collect()
    }

    /// The preferred place of the weights of an encoder.
    ///
    /// # Errors
    /// If there are none; the message says where they were looked for.
    pub fn first(&self, known: &Known) -> Result<Place> {
        self.all(known).into_iter().next().ok_or_else(|| EmbedError::Refused(self.nowhere(known)))
    }

    fn nowhere(&self, known: &Known) -> String {
        let name = known.name;
        let looked = match &self.folder {
            Some(folder) => format!("{} has no {name}.safetensors, .pt or .pth", folder.display()),
            None => format!("the variable {FOLDER} names no folder"),
        };
        let cached = match (&self.cache, known.hub) {
            (Some(cache), Some((hub, _))) => format!(", and {hub} is not in the cache {}", cache.display()),
            _ => String::new(),
        };
        let get = match known.hub {
            Some(_) => format!(", fetch them with `partita weights get {name}`"),
            None => String::new(),
        };
        format!(
            "the weights of {name} are not here: {looked}{cached}; give them with --encoder-weights{get}, or use mobilenetv2, which is built in \
             (weights as of {})",
            known.origin
        )
    }
}

/// Files of a folder that may hold the weights.
fn in_folder(known: &Known, folder: &Path) -> Vec<PathBuf> {
    let usual = ["safetensors", "pt", "pth"].map(|ending| folder.join(format!("{}.{ending}", known.name)));
    let others = known.files.iter().map(|name| folder.join(name));
    // A folder of several files is called as the encoder is.
    let whole = std::iter::once(folder.join(known.name));
    usual.into_iter().chain(others).chain(whole).filter(|path| path.exists()).collect()
}

/// The weights of an encoder in the Hugging Face cache: the file, or the folder if there are several.
fn in_cache(known: &Known, cache: &Path) -> Option<PathBuf> {
    let (repository, files) = known.hub?;
    let folder = cache.join(format!("models--{}", repository.replace('/', "--")));
    let main = fs::read_to_string(folder.join("refs/main")).ok().map(|commit| commit.trim().to_owned());
    let snapshots = folder.join("snapshots");
    // The name of a commit is a name, and no way out of the cache.
    let named = main.filter(|commit| !commit.is_empty() && commit.chars().all(|c| c.is_ascii_alphanumeric()));
    let mut candidates: Vec<PathBuf> = named.into_iter().map(|commit| snapshots.join(commit)).collect();
    let mut others: Vec<PathBuf> =
        fs::read_dir(&snapshots).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    others.sort();
    candidates.extend(others);
    let whole = candidates.into_iter().find(|folder| files.iter().all(|file| folder.join(file).is_file()))?;
    Some(if files.len() == 1 { whole.join(files[0]) } else { whole })
}

#[cfg(test)]
mod tests {
    use super::super::known::known;
    use super::*;

    fn environment(set: &[(&str, &str)]) -> Places {
        Places::of(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_cache_is_where_the_hub_says_it_is() {
        let cache = |set: &[(&str, &str)]| environment(set).cache.map(|path| path.display().to_string());
        assert_eq!(cache(&[("HOME", "/h")]).unwrap(), "/h/.cache/huggingface/hub");
        assert_eq!(cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]).unwrap(), "/x/huggingface/hub");
        assert_eq!(cache(&[("HOME", "/h"), ("HF_HOME", "/f")]).unwrap(), "/f/hub");
        assert_eq!(cache(&[("HF_HOME", "/f"), ("HF_HUB_CACHE", "/c")]).unwrap(), "/c");
        assert_eq!(cache(&[]), None);
    }

    #[test]
    fn places_are_preferred_in_order() {
        let lab = tempfile::tempdir().unwrap();
        let (resnet, mobile) = (known("resnet50").unwrap(), known("mobilenetv2").unwrap());
        let [folder, cache] = ["weights", "hub"].map(|name| lab.path().join(name));
        let places = Places { folder: Some(folder.clone()), cache: Some(cache.clone()) };
        assert_eq!(places.first(mobile).unwrap(), Place::BuiltIn);
        let told = places.first(resnet).unwrap_err().to_string();
        for word in
            ["resnet50", "weights", "hub", "--encoder-weights", "partita weights get resnet50", "built in"]
        {
            assert!(told.contains(word), "{word}: {told}");
        }
        let snapshot = cache.join("models--timm--resnet50.a1_in1k/snapshots/abc");
        fs::create_dir_all(&snapshot).unwrap();
        fs::write(snapshot.join("model.safetensors"), "").unwrap();
        assert_eq!(places.first(resnet).unwrap(), Place::Cache(snapshot.join("model.safetensors")));
        let newer = cache.join("models--timm--resnet50.a1_in1k/snapshots/def");
        fs::create_dir_all(&newer).unwrap();
        fs::write(newer.join("model.safetensors"), "").unwrap();
        let refs = cache.join("models--timm--resnet50.a1_in1k/refs");
        fs::create_dir_all(&refs).unwrap();
        fs::write(refs.join("main"), "def\n").unwrap();
        assert_eq!(places.first(resnet).unwrap(), Place::Cache(newer.join("model.safetensors")));
        fs::write(refs.join("main"), "../../../elsewhere").unwrap();
        assert_eq!(places.first(resnet).unwrap(), Place::Cache(snapshot.join("model.safetensors")));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("resnet50.pth"), "").unwrap();
        assert_eq!(places.first(resnet).unwrap(), Place::Folder(folder.join("resnet50.pth")));
        assert_eq!(places.all(resnet).len(), 2);
    }
}
