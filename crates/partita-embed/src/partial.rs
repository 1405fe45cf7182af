//! Rows that are saved during a long run, so that it can be resumed.

use crate::error::{EmbedError, Result};
use partita_data::{DataError, locked};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of finished features beside the final output: a header that tells what made them, then row after row, each
/// after the identity of its image.
#[derive(Debug)]
pub struct PartialRows<'a> {
    path: PathBuf,
    file: File,
    m: usize,
    rows: usize,
    identities: &'a [u64],
}

const MAGIC: &[u8; 8] = b"partita2";
/// Magic, fingerprint, number of features.
const HEADER: usize = 24;
const IDENTITY: usize = 8;

/// Bytes that a row of `m` features takes.
fn record(m: usize) -> usize {
    IDENTITY + 4 * m
}

/// How many complete rows after the header belong to these images. A killed run may have left part of a row.
fn common(file: &File, m: usize, identities: &[u64]) -> usize {
    let (mut reader, mut bytes) = (BufReader::new(file), vec![0; record(m)]);
    let same = |identity: &&u64| {
        reader.read_exact(&mut bytes).is_ok() && bytes[..IDENTITY] == identity.to_le_bytes()
    };
    identities.iter().take_while(same).count()
}

impl<'a> PartialRows<'a> {
    /// Reuse the rows beside `output` that were made with the same `fingerprint`, up to the first one whose image is
    /// not the one in `identities`.
    pub fn open(output: &Path, fingerprint: u64, m: usize, identities: &'a [u64]) -> Result<Self> {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let path = output.with_file_name(name);
        let io = |source| DataError::Write { path: path.clone(), source };
        // Two runs on one output would mix their rows.
        let mut file = locked(&path)?;
        let mut header = MAGIC.to_vec();
        header.extend(fingerprint.to_le_bytes());
        header.extend((m as u64).to_le_bytes());
        let mut found = [0; HEADER];
        let same = file.read_exact(&mut found).is_ok() && found[..] == header[..];
        let rows = if same { common(&file, m, identities) } else { 0 };
        if !same {
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(io)?;
            file.write_all(&header).map_err(io)?;
        }
        let end = (HEADER + rows * record(m)) as u64;
        file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end))).map_err(io)?;
        Ok(Self { path, file, m, rows, identities })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The file that holds them.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Add complete rows.
    pub fn push(&mut self, rows: &[f32]) -> Result<()> {
        let mut bytes = Vec::new();
        for (row, identity) in rows.chunks_exact(self.m).zip(&self.identities[self.rows..]) {
            bytes.extend(identity.to_le_bytes());
            bytes.extend(row.iter().flat_map(|v| v.to_le_bytes()));
        }
        let io = |source| DataError::Write { path: self.path.clone(), source };
        self.file.write_all(&bytes).map_err(io)?;
        self.rows += rows.len() / self.m;
        Ok(())
    }

    /// Pass all rows to `sink`, one after another.
    pub fn each<E: From<EmbedError>>(
        &mut self,
        mut sink: impl FnMut(&[f32]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let io = |source| EmbedError::from(DataError::Io { path: self.path.clone(), action: "read", source });
        self.file.seek(SeekFrom::Start(HEADER as u64)).map_err(io)?;
        let mut reader = BufReader::new(&self.file);
        let mut bytes = vec![0; record(self.m)];
        for _ in 0..self.rows {
            reader.read_exact(&mut bytes).map_err(io)?;
            let row: Vec<f32> =
                bytes[IDENTITY..].as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
            sink(&row)?;
        }
        Ok(())
    }

    /// Remove the file: its rows are elsewhere, or there are none.
    pub fn remove(self) {
        // It is still locked here. A leftover file would only take up space.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_up_where_they_ended() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("x.npy");
        let mut kept = PartialRows::open(&out, 7, 2, &[11, 12, 13]).unwrap();
        kept.push(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        // Part of a row, as a killed run may leave it.
        kept.file.write_all(&[1, 2, 3]).unwrap();
        drop(kept);
        let mut kept = PartialRows::open(&out, 7, 2, &[11, 12, 13]).unwrap();
        assert_eq!(kept.rows(), 2);
        kept.push(&[5.0, 6.0]).unwrap();
        let mut values = Vec::new();
        kept.each(|row| -> Result<()> {
            values.extend_from_slice(row);
            Ok(())
        })
        .unwrap();
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        kept.remove();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn rows_of_another_run_are_not_taken_up() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("x.npy");
        let rows = |print, identities: &[u64]| PartialRows::open(&out, print, 2, identities).unwrap().rows();
        let mut kept = PartialRows::open(&out, 7, 2, &[11, 12, 13]).unwrap();
        kept.push(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        drop(kept);
        assert_eq!(rows(7, &[11, 12, 13]), 3);
        assert_eq!(rows(7, &[11, 12, 14, 13]), 2, "of the images that are still the same");
        assert_eq!(rows(7, &[12, 11]), 0);
        PartialRows::open(&out, 7, 2, &[11]).unwrap().push(&[1.0, 2.0]).unwrap();
        assert_eq!(rows(8, &[11]), 0);
    }

    #[test]
    fn two_runs_do_not_share_their_rows() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("x.npy");
        let first = PartialRows::open(&out, 7, 2, &[11]).unwrap();
        let told = PartialRows::open(&out, 7, 2, &[11]).unwrap_err().to_string();
        assert!(told.contains("x.npy.partial is in use by another run"), "{told}");
        drop(first);
        PartialRows::open(&out, 7, 2, &[11]).unwrap();
    }
}
