//! Where data sets are that do not come with the project.

use crate::error::{Result, StudyError};
use partita_data::{Features, OpenOptions, open, read_labels};
use std::path::{Path, PathBuf};

/// A directory of data sets.
#[derive(Debug, Clone)]
pub struct Library {
    directory: Option<PathBuf>,
}

/// Rows and their classes.
pub struct DataSet {
    pub rows: Features,
    pub truth: Vec<i64>,
}

/// A data set by name: the file of its rows, that of its labels, and where they come from.
const SETS: [(&str, &str, &str, &str); 3] = [
    ("stl10", "stl10-part-mobilenetv2-f16.npy", "stl10-part-labels-u8.npy", FEATURES),
    ("cifar10", "cifar10-test-mobilenetv2-f16.npy", "cifar10-test-labels-u8.npy", FEATURES),
    (
        "mnist",
        "mnist/train-images-idx3-ubyte.gz",
        "mnist/train-labels-idx1-ubyte.gz",
        "put the two idx files of MNIST's training images into mnist/ there",
    ),
];
const FEATURES: &str = "put MobileNetV2 features of the images, 1280 numbers a row, and their labels there; \
                        docs/results/paper/README.md says how to make them";

impl Library {
    /// Data sets in this directory, if there is one.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self { directory }
    }

    /// A data set by name.
    pub fn get(&self, name: &str) -> Result<DataSet> {
        let (_, rows, labels, hint) =
            SETS.into_iter().find(|set| set.0 == name).ok_or_else(|| StudyError::Spec {
                name: name.to_owned(),
                why: format!("no such data set; there are {}", SETS.map(|set| set.0).join(", ")),
            })?;
        let rows = open(self.find(rows, hint)?, &OpenOptions::default())?;
        let truth = read_labels(self.find(labels, hint)?)?.values;
        Ok(DataSet { rows, truth })
    }

    fn find(&self, file: &str, hint: &'static str) -> Result<PathBuf> {
        let path = self.directory.as_deref().unwrap_or(Path::new("")).join(file);
        match self.directory.is_some() && path.is_file() {
            true => Ok(path),
            false => Err(StudyError::Missing { file: file.into(), hint }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named_with_a_way_to_get_it() {
        for library in [Library::new(None), Library::new(Some("no/such/place".into()))] {
            let error = library.get("mnist").err().map(|e| e.to_string()).unwrap_or_default();
            assert!(
                error.contains("mnist/train-images-idx3-ubyte.gz") && error.contains("idx files"),
                "{error}"
            );
        }
        assert!(Library::new(None).get("imagenet").err().is_some_and(|e| e.to_string().contains("cifar10")));
    }
}
