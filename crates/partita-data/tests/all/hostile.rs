//! Headers that lie about sizes are refused before anything is allocated.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use flate2::{Compression, write::GzEncoder};
use partita_data::safetensors_io::TensorFile;
use partita_data::{DataError, OpenOptions, open, write_npy_f32_2d};
use std::io::Write;
use std::path::Path;

fn fault(name: &str, bytes: &[u8]) -> DataError {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    open(&path, &OpenOptions::default()).unwrap_err()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_packed_file_cannot_claim_more_than_it_can_hold() {
    let mut header = vec![0, 0, 8, 3];
    header.extend([0xff; 12]);
    assert!(matches!(fault("bomb.idx.gz", &gz(&header)), DataError::Truncated { .. }));
}

#[test]
fn unpacking_stops_at_the_declared_size() {
    // Ten megabytes of zeros after a header that declares two rows of three: only those rows are read.
    let mut bytes = vec![0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3];
    bytes.resize(10 << 20, 0);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.idx.gz");
    std::fs::write(&path, gz(&bytes)).unwrap();
    let features = open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(features.as_f32_slice().unwrap().len(), 6);
    let short = gz(&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1, 1]);
    assert!(matches!(fault("short.idx.gz", &short), DataError::Corrupt { .. }));
}

/// A `.npy` file of nothing but this header.
fn npy_header(text: &str) -> Vec<u8> {
    let len = u16::try_from(text.len()).unwrap();
    [b"\x93NUMPY\x01\x00", &len.to_le_bytes()[..], text.as_bytes()].concat()
}

#[test]
fn an_array_without_rows_or_features_is_empty_in_any_order() {
    for shape in ["(0, 6)", "(6, 0)", "(0, 0)"] {
        for fortran in ["False", "True"] {
            let bytes =
                npy_header(&format!("{{'descr': '<f4', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"));
            let error = fault("x.npy", &bytes);
            assert!(matches!(error, DataError::Empty { .. }), "{shape} {fortran}: {error}");
        }
    }
}

#[test]
fn claims_beyond_the_file_are_cut_short() {
    let bytes = npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 64), }\n");
    let error = fault("x.npy", &bytes);
    assert!(matches!(error, DataError::Truncated { needed, .. } if needed > 1 << 47), "{error}");
    let error = fault("x.idx", &[0, 0, 0x0e, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    assert!(matches!(error, DataError::Truncated { .. }), "{error}");
}

#[test]
fn tensor_headers_are_checked() {
    let path = Path::new("m.safetensors");
    for header in [
        r#"{"x":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4000000000000]}}"#,
        r#"{"x":{"dtype":"F32","shape":[18446744073709551615,4],"data_offsets":[0,16]}}"#,
        r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#,
        r#"{"x":"#,
    ] {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        assert!(matches!(TensorFile::from_bytes(path, &bytes), Err(DataError::Corrupt { .. })), "{header}");
    }
    assert!(TensorFile::from_bytes(path, &u64::MAX.to_le_bytes()).is_err());
}

/// A Parquet file without rows whose only column is nested to this depth, in Thrift's compact encoding.
fn nested_parquet(depth: usize) -> Vec<u8> {
    // Group: field 3 (required), field 4 (the name "a"), field 5 (one child). Leaf: field 1 (float), 3 and 4.
    let (group, leaf) = (b"\x35\x00\x18\x01a\x15\x02\x00", b"\x15\x08\x25\x00\x18\x01a\x00");
    let mut footer = b"\x15\x02\x19\xfc".to_vec();
    let mut count = depth + 1;
    while count > 0x7f {
        footer.push((count & 0x7f) as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    (0..depth).for_each(|_| footer.extend(group));
    footer.extend(leaf);
    footer.extend(b"\x16\x00\x19\x0c\x00");
    let mut file = b"PAR1".to_vec();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    file
}

#[test]
fn nesting_cannot_overflow_the_stack() {
    assert!(matches!(fault("x.parquet", &nested_parquet(1)), DataError::Empty { .. }));
    assert!(matches!(fault("x.parquet", &nested_parquet(10)), DataError::Choose { .. }));
    assert!(matches!(fault("x.parquet", &nested_parquet(500_000)), DataError::Corrupt { .. }));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut bytes = (deep.len() as u64 + 5).to_le_bytes().to_vec();
    bytes.extend(format!("{{\"x\":{deep}").as_bytes());
    assert!(matches!(fault("x.safetensors", &bytes), DataError::Corrupt { .. }));
}

#[test]
fn a_broken_array_beside_a_good_one_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let (good, path) = (directory.path().join("x.npy"), directory.path().join("x.npz"));
    write_npy_f32_2d(&good, &[1.0, 2.0, 3.0, 4.0], 2).unwrap();
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in [("a.npy", b"no array at all".to_vec()), ("x.npy", std::fs::read(&good).unwrap())] {
        archive.start_file(name, stored).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap();
    let rows = open(&path, &OpenOptions::default()).unwrap();
    let mut values = [0.0; 4];
    partita::rows::Rows::read(&rows, 0, &mut values).unwrap();
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    let notes = rows.notes().join("; ");
    assert!(
        notes.contains("array 'a' cannot be read (") && notes.contains("read array 'x' instead"),
        "{notes}"
    );
}
