//! Where data sets are that do not come with the project.

use crate::error::{Result, StudyError};
use partita::rows::Rows;
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

/// Where the labels of a data set are.
#[derive(Clone, Copy)]
enum Truth {
    /// A file that holds nothing else.
    File(&'static str),
    /// The first byte of every record of official CIFAR files: the class or, for CIFAR-100, the superclass.
    Records { files: &'static [&'static str], length: usize },
}

/// A data set by name: the file of its rows, its labels, and where they come from.
const SETS: [(&str, &str, Truth, &str); 6] = [
    ("stl10", "stl10-part-mobilenetv2-f16.npy", Truth::File("stl10-part-labels-u8.npy"), FEATURES),
    ("cifar10", "cifar10-test-mobilenetv2-f16.npy", Truth::File("cifar10-test-labels-u8.npy"), FEATURES),
    (
        "mnist",
        "mnist/train-images-idx3-ubyte.gz",
        Truth::File("mnist/train-labels-idx1-ubyte.gz"),
        "put the two idx files of MNIST's training images into mnist/ there",
    ),
    (
        "cifar10-resnet50",
        "cifar10-test-resnet50.npy",
        Truth::Records { files: &["cifar10/test_batch.bin"], length: 3073 },
        "put test_batch.bin of CIFAR-10 into cifar10/ and ResNet-50's weights into weights/ there, and run there \
         `partita embed cifar10/test_batch.bin --backbone resnet50-keras --weights weights/resnet50-imagenet.safetensors \
         --size 224 -o cifar10-test-resnet50.npy`",
    ),
    (
        "cifar100-resnet50",
        "cifar100-resnet50.npy",
        Truth::Records { files: &["cifar100/train.bin", "cifar100/test.bin"], length: 3074 },
        "put train.bin and test.bin of CIFAR-100 into cifar100/ and ResNet-50's weights into weights/ there, and run there \
         `partita embed cifar100/train.bin cifar100/test.bin --backbone resnet50-keras \
         --weights weights/resnet50-imagenet.safetensors --size 224 -o cifar100-resnet50.npy`",
    ),
    (
        "mnist-resnet50",
        "mnist-test-resnet50.npy",
        Truth::File("mnist/t10k-labels-idx1-ubyte.gz"),
        "put the two idx files of MNIST's test images into mnist/ and ResNet-50's weights into weights/ there, and run there \
         `partita embed mnist/t10k-images-idx3-ubyte.gz --backbone resnet50-keras \
         --weights weights/resnet50-imagenet.safetensors --size 224 -o mnist-test-resnet50.npy`",
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
        let (_, rows, truth, hint) =
            SETS.into_iter().find(|set| set.0 == name).ok_or_else(|| StudyError::Spec {
                name: name.to_owned(),
                why: format!("no such data set; there are {}", SETS.map(|set| set.0).join(", ")),
            })?;
        let rows = open(self.find(rows, hint)?, &OpenOptions::default())?;
        let truth = match truth {
            Truth::File(file) => read_labels(self.find(file, hint)?)?.values,
            Truth::Records { files, length } => self.first_bytes(files, length, hint)?,
        };
        if truth.len() != rows.n() {
            return Err(StudyError::Spec {
                name: name.to_owned(),
                why: format!("there are {} rows and {} labels; {hint}", rows.n(), truth.len()),
            });
        }
        Ok(DataSet { rows, truth })
    }

    /// The first byte of every record of these files, one after the other.
    fn first_bytes(&self, files: &[&str], length: usize, hint: &'static str) -> Result<Vec<i64>> {
        let mut truth = Vec::new();
        for file in files {
            let path = self.find(file, hint)?;
            let bytes = std::fs::read(&path).map_err(|source| partita_data::DataError::Io {
                path: path.clone(),
                action: "read",
                source,
            })?;
            if bytes.is_empty() || bytes.len() % length != 0 {
                let why = format!("its size is not that of whole records of {length} bytes; fetch it again");
                return Err(StudyError::Spec { name: path.display().to_string(), why });
            }
            truth.extend(bytes.chunks_exact(length).map(|record| i64::from(record[0])));
        }
        Ok(truth)
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
        let error =
            Library::new(None).get("cifar100-resnet50").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("partita embed cifar100/train.bin cifar100/test.bin"), "{error}");
        assert!(Library::new(None).get("imagenet").err().is_some_and(|e| e.to_string().contains("cifar10")));
    }

    #[test]
    fn superclasses_are_read_from_the_official_files() {
        let folder = std::env::temp_dir().join(format!("partita-cifar100-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("cifar100")).unwrap();
        let record = |coarse: u8, fine: u8| [&[coarse, fine][..], &[9; 3072]].concat();
        std::fs::write(folder.join("cifar100/train.bin"), [record(19, 0), record(4, 99)].concat()).unwrap();
        std::fs::write(folder.join("cifar100/test.bin"), record(7, 50)).unwrap();
        std::fs::write(folder.join("cifar100-resnet50.npy"), npy([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
            .unwrap();
        let set = Library::new(Some(folder.clone())).get("cifar100-resnet50").unwrap();
        assert_eq!(set.truth, [19, 4, 7]);
        std::fs::write(folder.join("cifar100/test.bin"), [7; 100]).unwrap();
        let error = Library::new(Some(folder.clone())).get("cifar100-resnet50").err().unwrap();
        assert!(error.to_string().contains("3074"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// A `.npy` file of these rows.
    fn npy(rows: [[f32; 2]; 3]) -> Vec<u8> {
        let header = format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(rows.iter().flatten().flat_map(|v| v.to_le_bytes()));
        bytes
    }
}
