use super::*;
use std::fs;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

#[test]
fn state_dicts_of_every_age_are_read() {
    for name in ["zip.pt", "legacy.pt"] {
        let file = StateDict::open(golden(name)).unwrap();
        assert_eq!(file.shapes()["transposed"], [4, 3], "{name}");
        assert_eq!(file.read("whole").unwrap(), (0..12).map(|v| v as f32).collect::<Vec<_>>());
        assert_eq!(file.read("transposed").unwrap()[..4], [0.0, 4.0, 8.0, 1.0]);
        assert_eq!(file.read("part").unwrap(), [6.0, 7.0, 10.0, 11.0]);
        assert_eq!(file.read("half").unwrap(), [0.5, -2.0]);
        assert_eq!(file.read("brain").unwrap(), [1.5, 3.0]);
        assert_eq!(file.read("double").unwrap(), [0.25]);
        assert_eq!(file.read("parameter").unwrap(), [8.0]);
        assert!(file.read("count").unwrap_err().to_string().contains("LongStorage"));
        assert!(file.read("nothing").is_err());
    }
}

#[test]
fn broken_files_are_errors_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("broken.pt");
    for name in ["zip.pt", "legacy.pt"] {
        let bytes = fs::read(golden(name)).unwrap();
        // Every byte flipped in turn, and every length: reading may succeed or fail, but not panic.
        for i in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[i] ^= 0x55;
            fs::write(&path, &changed).unwrap();
            read_all(&path);
            if i % 7 == 0 {
                fs::write(&path, &bytes[..i]).unwrap();
                read_all(&path);
            }
        }
    }
    fs::write(&path, b"").unwrap();
    assert!(StateDict::open(&path).is_err());
    assert!(StateDict::open(directory.path()).is_err());
}

fn read_all(path: &Path) {
    if let Ok(file) = StateDict::open(path) {
        file.shapes().keys().for_each(|name| drop(file.read(name)));
    }
}

#[test]
fn a_pickle_that_runs_something_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("evil.pt");
    let program = b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.";
    fs::write(&path, program).unwrap();
    let told = StateDict::open(&path).unwrap_err().to_string();
    assert!(told.contains("os.system") && told.contains("evil.pt"), "{told}");
}

#[test]
fn a_safetensors_header_may_begin_like_a_pickle() {
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("a.safetensors");
    let mut header = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#.to_vec();
    header.resize(0x280, b' ');
    let bytes = [&0x280u64.to_le_bytes()[..], &header, &1f32.to_le_bytes()].concat();
    assert!(bytes.starts_with(&[0x80, 2]));
    fs::write(&path, bytes).unwrap();
    assert_eq!(StateDict::open(&path).unwrap().read("a").unwrap(), [1.0]);
}
