//! When a file much larger than the bound is read, little of it stays resident.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::rows::Rows;
use partita_data::{OpenOptions, open};
use std::io::Write;

/// Megabytes of mapped files that are resident in this process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("RssFile:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

#[test]
fn a_large_file_is_read_within_bounds() {
    let (n, m) = (700 * 1024, 512);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npy");
    let mut file = std::fs::File::create(&path).unwrap();
    let text = format!("{{'descr': '<f2', 'fortran_order': False, 'shape': ({n}, {m}), }}\n");
    file.write_all(b"\x93NUMPY\x01\x00").unwrap();
    file.write_all(&(text.len() as u16).to_le_bytes()).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    // A sparse file: 700 MB that take no disk space.
    file.set_len((10 + text.len() + n * m * 2) as u64).unwrap();
    drop(file);

    let features = open(&path, &OpenOptions::default()).unwrap();
    let mut most = 0;
    let mut block = vec![0f32; 4096 * m];
    for start in (0..n).step_by(4096) {
        features.read(start, &mut block[..4096.min(n - start) * m]).unwrap();
        most = most.max(resident());
    }
    assert!(most < 400, "{most} MB resident while reading in order");
    for step in 0..20 {
        let rows: Vec<usize> = (0..1000).map(|i| (i * 7919 + step * 31) * 65 % n).collect();
        features.gather(&rows, &mut block[..1000 * m]).unwrap();
        most = most.max(resident());
    }
    assert!(most < 400, "{most} MB resident while gathering");
    features.release();
    assert!(resident() < 100, "{} MB resident after release", resident());
}
