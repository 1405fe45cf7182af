//! A directory for each test, in which the program runs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita_data::{DIGITS_FEATURES, digits, write_npy_f32_2d, write_npy_i32};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A temporary directory with data, where commands run.
pub struct Lab {
    directory: TempDir,
}

impl Lab {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// With the digits as `x.npy` and their true labels as `truth.npy`.
    pub fn with_digits() -> Self {
        let lab = Self::new();
        let (rows, labels) = digits();
        lab.npy("x.npy", &rows, DIGITS_FEATURES);
        lab.labels("truth.npy", labels.iter().map(|&l| i32::from(l)));
        lab
    }

    /// With rows of `m` features as `x.npy` and their labels as `truth.npy`.
    pub fn with_rows((rows, labels): &(Vec<f32>, Vec<usize>), m: usize) -> Self {
        let lab = Self::new();
        lab.npy("x.npy", rows, m);
        lab.labels("truth.npy", labels.iter().map(|&l| l as i32));
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub fn npy(&self, name: &str, rows: &[f32], m: usize) {
        write_npy_f32_2d(self.path(name), rows, m).unwrap();
    }

    pub fn labels(&self, name: &str, labels: impl IntoIterator<Item = i32>) {
        write_npy_i32(self.path(name), &labels.into_iter().collect::<Vec<_>>()).unwrap();
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The program with these words as arguments.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("partita"));
        command.args(arguments.split_whitespace()).current_dir(self.directory.path());
        // What weights this machine has must not change a test.
        command.env_remove("PARTITA_WEIGHTS").env("HF_HUB_CACHE", self.directory.path());
        command
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a run that must succeed.
    pub fn succeed(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The one JSON object that a run prints.
    pub fn json(&self, arguments: &str) -> Value {
        let text = self.succeed(&format!("{arguments} --json"));
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value.is_object(), "{text}");
        value
    }

    /// A run that must fail with this code and these words on standard error, and must leave nothing behind.
    pub fn refused(&self, code: i32, arguments: &str, words: &[&str]) {
        self.refused_command(code, &mut self.command(arguments), words);
    }

    pub fn refused_command(&self, code: i32, command: &mut Command, words: &[&str]) {
        let before = self.files();
        let output = command.output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{command:?}: {message}");
        for word in words {
            assert!(message.contains(word), "{command:?}: '{word}' is not in: {message}");
        }
        assert!(!message.contains("panicked"), "{message}");
        assert_eq!(self.files(), before, "{command:?} left something behind");
    }

    /// Names and contents of all files.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let paths = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path());
        let content = |path: PathBuf| (path.clone(), fs::read(&path).unwrap_or_default());
        let mut files: Vec<_> = paths.map(content).collect();
        files.sort();
        files
    }

    /// The columns of a CSV file after its header.
    pub fn table(&self, name: &str) -> Vec<Vec<String>> {
        cells(&String::from_utf8(self.read(name)).unwrap())
    }

    /// The numbers of a `.npy` file that Partita wrote.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        const HEADER: usize = 128;
        let bytes = self.read(name);
        let header = String::from_utf8_lossy(&bytes[..HEADER]).into_owned();
        let four = |chunk: &[u8]| <[u8; 4]>::try_from(chunk).unwrap();
        let number = |chunk: &[u8]| match header.contains("<i4") {
            true => f64::from(i32::from_le_bytes(four(chunk))),
            false => f64::from(f32::from_le_bytes(four(chunk))),
        };
        bytes[HEADER..].chunks_exact(4).map(number).collect()
    }
}

/// The cells of CSV text after its header.
pub fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Rows as CSV text with a header.
pub fn csv_text(rows: &[f32], m: usize) -> String {
    let header: Vec<String> = (0..m).map(|j| format!("f{j}")).collect();
    let line = |row: &[f32]| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",");
    let lines: Vec<String> = rows.chunks_exact(m).map(line).collect();
    format!("{}\n{}\n", header.join(","), lines.join("\n"))
}

/// A number in a JSON object.
pub fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {path} in {value}"))
}
