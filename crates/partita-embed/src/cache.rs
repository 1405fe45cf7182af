//! Rows that were made once are kept by what they were made of: work that was interrupted goes on from there, and the same items are not encoded twice.

use crate::error::Result;
use partita_data::{DataError, FileLock, Fingerprint, open_regular};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What identifies an item: the beginning of a hash of its content.
pub type Content = [u8; 16];

const MAGIC: &[u8; 8] = b"partitac";
/// Magic, fingerprint of the encoder, numbers of a row.
const HEADER: usize = 24;
/// A hash of the row, so that a damaged one is made again.
const CHECK: usize = 8;

/// Rows of one encoder in a file, by the content of their items.
#[derive(Debug)]
pub struct RowCache {
    path: PathBuf,
    file: File,
    m: usize,
    /// Where in the file the row of an item is.
    places: HashMap<Content, u64>,
    end: u64,
    _alone: FileLock,
}

/// Bytes of a row of `m` numbers, with what it was made of.
fn record(m: usize) -> usize {
    size_of::<Content>() + CHECK + 4 * m
}

fn check(content: &Content, numbers: &[u8]) -> [u8; CHECK] {
    Fingerprint::default().with_bytes(content).with_bytes(numbers).0.to_le_bytes()
}

impl RowCache {
    /// The rows in `folder` that an encoder of this name and fingerprint made, each of `m` numbers. A file of another encoder is begun anew; what a
    /// killed run left incomplete is cut off.
    ///
    /// # Errors
    /// If the file cannot be written, or another run is writing to it.
    pub fn open(folder: &Path, name: &str, fingerprint: u64, m: usize) -> Result<Self> {
        let path = folder.join(format!("{name}-{fingerprint:016x}.rows"));
        let io = |source| DataError::Write { path: path.clone(), source };
        fs::create_dir_all(folder).map_err(io)?;
        let alone = FileLock::beside(&path)?;
        if path.exists() {
            // A pipe or a device is refused.
            drop(open_regular(&path)?);
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        let mut header = MAGIC.to_vec();
        header.extend(fingerprint.to_le_bytes());
        header.extend((m as u64).to_le_bytes());
        let mut found = [0; HEADER];
        let same = file.read_exact(&mut found).is_ok() && found[..] == header[..];
        let places = if same { complete(&file, m) } else { HashMap::new() };
        let end =
            HEADER as u64 + places.values().max().map_or(0, |last| last - HEADER as u64 + record(m) as u64);
        file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(io)?;
        file.write_all(&header).map_err(io)?;
        Ok(Self { path, file, m, places, end, _alone: alone })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the row of an item is there.
    pub fn has(&self, content: &Content) -> bool {
        self.places.contains_key(content)
    }

    /// The row of an item into `out`, if it is there and whole.
    pub fn read(&mut self, content: &Content, out: &mut [f32]) -> bool {
        let Some(place) = self.places.get(content) else { return false };
        let mut bytes = vec![0; record(self.m)];
        let read = self.file.seek(SeekFrom::Start(*place)).and_then(|_| self.file.read_exact(&mut bytes));
        let (told, numbers) = bytes.split_at(size_of::<Content>() + CHECK);
        if read.is_err() || out.len() != self.m || told[size_of::<Content>()..] != check(content, numbers) {
            self.places.remove(content);
            return false;
        }
        let numbers = numbers.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b));
        out.iter_mut().zip(numbers).for_each(|(out, v)| *out = v);
        true
    }

    /// Keep rows of items, one after another in `rows`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn push(&mut self, contents: &[Content], rows: &[f32]) -> Result<()> {
        let mut bytes = Vec::with_capacity(contents.len() * record(self.m));
        let mut places: HashMap<Content, u64> = HashMap::new();
        for (content, row) in contents.iter().zip(rows.chunks_exact(self.m)) {
            if self.has(content) || places.contains_key(content) {
                continue;
            }
            places.insert(*content, self.end + bytes.len() as u64);
            let numbers: Vec<u8> = row.iter().flat_map(|v| v.to_le_bytes()).collect();
            bytes.extend(content);
            bytes.extend(check(content, &numbers));
            bytes.extend(numbers);
        }
        let written = self.file.seek(SeekFrom::Start(self.end)).and_then(|_| self.file.write_all(&bytes));
        written.map_err(|source| DataError::Write { path: self.path.clone(), source })?;
        self.end += bytes.len() as u64;
        self.places.extend(places);
        Ok(())
    }
}

/// Where the complete rows after the header are.
fn complete(file: &File, m: usize) -> HashMap<Content, u64> {
    let (mut reader, mut bytes) = (BufReader::new(file), vec![0; record(m)]);
    let (mut places, mut at) = (HashMap::new(), HEADER as u64);
    while reader.read_exact(&mut bytes).is_ok() {
        let mut content = Content::default();
        content.copy_from_slice(&bytes[..size_of::<Content>()]);
        places.insert(content, at);
        at += bytes.len() as u64;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_by_their_content_and_broken_ones_do_not() {
        let lab = tempfile::tempdir().unwrap();
        let open = || RowCache::open(lab.path(), "net", 7, 2).unwrap();
        let (a, b, mut out) = ([1; 16], [2; 16], [0.0; 2]);
        let mut cache = open();
        cache.push(&[a, b, a], &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0]).unwrap();
        let path = cache.path().to_owned();
        drop(cache);
        let whole = fs::read(&path).unwrap();
        assert_eq!(whole.len(), HEADER + 2 * record(2), "an item is kept once");
        let mut cache = open();
        assert!(cache.read(&b, &mut out) && out == [3.0, 4.0]);
        assert!(cache.read(&a, &mut out) && out == [1.0, 2.0] && !cache.read(&[3; 16], &mut out));
        drop(cache);
        // A killed run leaves part of a row.
        fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let mut cache = open();
        assert!(!cache.has(&b) && cache.has(&a));
        cache.push(&[b], &[5.0, 6.0]).unwrap();
        assert!(cache.read(&b, &mut out) && out == [5.0, 6.0]);
        drop(cache);
        let mut changed = whole.clone();
        changed[HEADER + 26] ^= 1;
        fs::write(&path, &changed).unwrap();
        let mut cache = open();
        assert!(!cache.read(&a, &mut out) && !cache.has(&a), "it is made again");
        assert!(cache.read(&b, &mut out));
    }

    #[test]
    fn rows_of_another_encoder_are_not_taken() {
        let lab = tempfile::tempdir().unwrap();
        let mut cache = RowCache::open(lab.path(), "net", 7, 2).unwrap();
        cache.push(&[[1; 16]], &[1.0, 2.0]).unwrap();
        let path = cache.path().to_owned();
        drop(cache);
        assert!(!RowCache::open(lab.path(), "net", 8, 2).unwrap().has(&[1; 16]));
        let other = RowCache::open(lab.path(), "net", 7, 3).unwrap();
        assert!(!other.has(&[1; 16]) && fs::metadata(path).unwrap().len() == HEADER as u64);
    }

    #[test]
    fn two_runs_do_not_write_to_one_file() {
        let lab = tempfile::tempdir().unwrap();
        let _first = RowCache::open(lab.path(), "net", 7, 2).unwrap();
        assert!(RowCache::open(lab.path(), "net", 7, 2).is_err());
    }
}
