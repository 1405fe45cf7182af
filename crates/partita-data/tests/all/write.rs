//! Results are written whole or not at all.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::rows::Rows;
use partita_data::{
    AtomicFile, DataError, NpyWriter, OpenOptions, appear_together, labels_csv, open, read_labels,
    write_npy_f32_2d, write_npy_i32,
};
use std::io::Write;
use std::path::Path;

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn matrices_come_back_bit_for_bit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npy");
    let values: Vec<f32> = (0..70_000).map(|i| (i as f32).sin()).collect();
    write_npy_f32_2d(&path, &values, 7).unwrap();
    let features = open(&path, &OpenOptions::default()).unwrap();
    assert_eq!((features.n(), features.m()), (10_000, 7));
    assert_eq!(features.as_f32_slice(), Some(&values[..]));
    let mut row = [0f32; 14];
    features.gather(&[9_999, 3], &mut row).unwrap();
    assert_eq!(row[..7], values[9_999 * 7..]);
    assert_eq!(row[7..], values[21..28]);
}

#[test]
fn labels_come_back_from_arrays_and_tables() {
    let directory = tempfile::tempdir().unwrap();
    let (array, table) = (directory.path().join("y.npy"), directory.path().join("y.csv"));
    write_npy_i32(&array, &[3, 0, -1]).unwrap();
    assert_eq!(read_labels(&array).unwrap().values, [3, 0, -1]);
    let ids = ["plain", "with, comma", "with \"quotes\""].map(String::from);
    labels_csv(&table, (Some(&ids), None), &[3, 0, -1], &[], Some(&[0.5, 1.0, 0.25]), None)
        .unwrap()
        .appear()
        .unwrap();
    assert_eq!(read_labels(&table).unwrap().values, [3, 0, -1]);
    let text = std::fs::read_to_string(&table).unwrap();
    assert_eq!(text.lines().next(), Some("id,cluster,confidence"));
    labels_csv(&table, (None, None), &[3, 0], &[], None, None).unwrap().appear().unwrap();
    assert_eq!(std::fs::read_to_string(&table).unwrap(), "row,cluster\n0,3\n1,0\n");
    labels_csv(&table, (None, None), &[-1, 0], &[], Some(&[0.5, 1.0]), Some(&[0.75, 0.0]))
        .unwrap()
        .appear()
        .unwrap();
    let scored = "row,cluster,confidence,outlier_score\n0,-1,0.5,0.75\n1,0,1,0\n";
    assert_eq!(std::fs::read_to_string(&table).unwrap(), scored);
    assert_eq!(read_labels(&table).unwrap().values, [-1, 0]);
    let names = ["cat".to_owned(), "a, b".to_owned()];
    labels_csv(&table, (None, Some(&[4, 7, 9])), &[1, 2, -1], &names, None, None).unwrap().appear().unwrap();
    let named = "row,cluster,name\n4,1,\"a, b\"\n7,2,2\n9,-1,\n";
    assert_eq!(std::fs::read_to_string(&table).unwrap(), named);
    for short in [
        labels_csv(&table, (Some(&ids), None), &[1], &[], None, None),
        labels_csv(&table, (None, None), &[1], &[], None, Some(&[])),
    ] {
        assert!(matches!(short, Err(DataError::Length { .. })));
    }
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npy");
    let mut writer = NpyWriter::create(&path, 3).unwrap();
    writer.push(&[1.0; 300_000]).unwrap();
    drop(writer);
    assert!(names(directory.path()).is_empty());
    let mut writer = NpyWriter::create(&path, 3).unwrap();
    writer.push(&[1.0; 4]).unwrap();
    assert!(matches!(writer.finish(), Err(DataError::Length { .. })));
    assert!(names(directory.path()).is_empty());
}

#[test]
fn a_file_is_replaced_in_one_step() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.txt");
    std::fs::write(&path, "old").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    file.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["x.txt"]);
}

#[test]
fn missing_directories_and_other_things_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("none").join("x.npy");
    let text = write_npy_i32(&missing, &[1]).unwrap_err().to_string();
    assert!(text.contains("none") && text.contains("create it first"), "{text}");
    assert!(matches!(write_npy_i32(directory.path(), &[1]), Err(DataError::Write { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_directory_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let path = directory.path().join("y.npy");
    // Permissions do not restrict the superuser, but nobody can create files under /proc.
    let path = if std::fs::write(&path, "").is_ok() { Path::new("/proc/partita-y.npy") } else { &path };
    let error = write_npy_i32(path, &[1]).unwrap_err();
    assert!(matches!(error, DataError::Write { .. }), "{error}");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
}

/// Run one ignored test of this file in a child process, after some shell commands.
#[cfg(unix)]
fn child(shell: &str, test: &str, directory: &Path) -> std::process::Child {
    let program = std::env::current_exe().unwrap();
    std::process::Command::new("sh")
        .args(["-c", &format!("{shell} exec \"$0\" --exact write::{test} --ignored --nocapture")])
        .arg(program)
        .env("PARTITA_TEST_DIRECTORY", directory)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn a_full_disk_keeps_the_old_file() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("x.npy"), "old").unwrap();
    let status = child("trap '' XFSZ; ulimit -f 256;", "write_too_much", directory.path()).wait().unwrap();
    assert!(status.success());
    assert_eq!(names(directory.path()), ["started", "x.npy"]);
    assert_eq!(std::fs::read(directory.path().join("x.npy")).unwrap(), b"old");
}

#[test]
#[ignore = "runs only as the child of a_full_disk_keeps_the_old_file"]
fn write_too_much() {
    let Ok(directory) = std::env::var("PARTITA_TEST_DIRECTORY") else { return };
    std::fs::write(Path::new(&directory).join("started"), "").unwrap();
    let error = write_npy_f32_2d(Path::new(&directory).join("x.npy"), &[1.0; 1_000_000], 10).unwrap_err();
    assert!(matches!(error, DataError::Write { .. }), "{error}");
    assert!(error.to_string().contains("x.npy"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn killing_a_writer_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = child("", "write_forever", directory.path());
    let started = directory.path().join("started");
    while !started.exists() {
        assert!(writer.try_wait().unwrap().is_none(), "the writer ended before it began");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!(names(directory.path()), ["started"]);
}

#[test]
#[ignore = "runs only as the child of killing_a_writer_leaves_nothing"]
fn write_forever() {
    let Ok(directory) = std::env::var("PARTITA_TEST_DIRECTORY") else { return };
    let mut writer = NpyWriter::create(Path::new(&directory).join("x.npy"), 10).unwrap();
    writer.push(&[1.0; 1_000_000]).unwrap();
    std::fs::write(Path::new(&directory).join("started"), "").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn files_of_one_run_appear_together_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b] = ["a.csv", "b.npy"].map(|name| directory.path().join(name));
    std::fs::write(&a, "old").unwrap();
    let begun = || {
        let mut writer = NpyWriter::create(&b, 2).unwrap();
        writer.push(&[1.0, 2.0]).unwrap();
        vec![labels_csv(&a, (None, None), &[1], &[], None, None).unwrap(), writer.complete().unwrap()]
    };
    drop(begun());
    assert_eq!(
        (std::fs::read(&a).unwrap(), names(directory.path())),
        (b"old".to_vec(), vec!["a.csv".to_owned()])
    );
    appear_together(begun()).unwrap();
    assert_eq!(std::fs::read(&a).unwrap(), b"row,cluster\n0,1\n");
    assert_eq!(names(directory.path()), ["a.csv", "b.npy"]);
}

#[cfg(unix)]
#[test]
fn a_file_keeps_the_permissions_of_the_one_it_replaces() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("y.npy");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    for kept in [0o600, 0o664, 0o444] {
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(kept)).unwrap();
        write_npy_i32(&path, &[1]).unwrap();
        assert_eq!(mode(), kept);
        std::fs::remove_file(&path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_its_end_is_written() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("far")).unwrap();
    let [link, second, end] =
        ["link.npy", "second.npy", "far/end.npy"].map(|name| directory.path().join(name));
    std::os::unix::fs::symlink("far/end.npy", &second).unwrap();
    std::os::unix::fs::symlink("second.npy", &link).unwrap();
    // First where nothing is yet, then over what is there.
    for label in [1, 2] {
        write_npy_i32(&link, &[label]).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read_labels(&end).unwrap().values, [i64::from(label)]);
    }
}
