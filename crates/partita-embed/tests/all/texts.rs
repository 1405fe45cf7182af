//! Texts: weights of words against scikit-learn, tokens and rows of networks against tokenizers and plain numpy (`tests/golden/make.py`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::report::Silent;
use partita::rows::Rows;
use partita_embed::Encoder;
use partita_embed::texts::{Bert, Tfidf, Vocabulary};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn read(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(golden(name)).unwrap()).unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn weights_of_words_are_those_of_scikit_learn() {
    let found = read("tfidf.json");
    let (texts, new) = (strings(&found["texts"]), strings(&found["new"]));
    let tfidf = Tfidf::new(Vocabulary::of(texts.len(), |i| &texts[i], &Silent).unwrap());
    assert_eq!(tfidf.vocabulary().words(), strings(&found["words"]));
    let again = Tfidf::read(&tfidf.stored()).unwrap();
    for (texts, expected) in [(texts, rows(&found["rows"])), (new, rows(&found["new_rows"]))] {
        let sparse = tfidf.matrix(texts.len(), |i| &texts[i]).unwrap();
        let mut all = vec![0.0; texts.len() * tfidf.features()];
        sparse.read(0, &mut all).unwrap();
        for (found, expected) in all.iter().zip(expected.iter().flatten()) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} {expected}");
        }
        let mut dense = vec![9.0; all.len()];
        again.encode(&texts.iter().map(String::as_str).collect::<Vec<_>>(), &mut dense).unwrap();
        assert_eq!(dense, all);
    }
}

/// The rows of a network for all texts of a golden file; every so many numbers are compared.
fn compared(network: &Bert, name: &str, every: usize) {
    let found = read(name);
    let texts = strings(&found["texts"]);
    let tokens: Vec<Vec<u32>> = serde_json::from_value(found["tokens"].clone()).unwrap();
    for (text, tokens) in texts.iter().zip(&tokens) {
        assert_eq!(network.tokens(text), *tokens, "{text}");
    }
    let m = network.features();
    let mut all = vec![0.0; texts.len() * m];
    network.encode(&texts.iter().map(String::as_str).collect::<Vec<_>>(), &mut all).unwrap();
    for ((row, expected), text) in all.chunks_exact(m).zip(rows(&found["rows"])).zip(&texts) {
        for (found, expected) in row.iter().step_by(every).zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 2e-6, "{text}: {found} {expected}");
        }
        // A text's row does not depend on what is encoded with it.
        let mut alone = vec![0.0; m];
        network.encode(&[text], &mut alone).unwrap();
        assert_eq!(alone, row, "{text}");
    }
}

#[test]
fn a_network_gives_the_tokens_and_rows_of_others() {
    compared(&Bert::open("small", &golden("bert")).unwrap(), "bert.json", 1);
}

/// Needs the folder `weights/all-MiniLM-L6-v2` in the one that PARTITA_DATA names.
#[test]
fn minilm_gives_the_tokens_and_rows_of_sentence_transformers() {
    let data = std::env::var_os("PARTITA_DATA").map(PathBuf::from);
    let Some(folder) =
        data.map(|data| data.join("weights/all-MiniLM-L6-v2")).filter(|folder| folder.is_dir())
    else {
        eprintln!("not run: PARTITA_DATA names no folder with weights/all-MiniLM-L6-v2");
        return;
    };
    compared(&Bert::open("minilm", &folder).unwrap(), "minilm.json", 8);
}

#[test]
fn threads_change_no_bit() {
    let network = Bert::open("small", &golden("bert")).unwrap();
    let texts: Vec<String> = (0..200).map(|i| "oil price rose ".repeat(1 + i % 7) + &i.to_string()).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let rows = pool.install(|| network.rows(texts.len(), |i| &texts[i], 1 << 20, None, &Silent)).unwrap();
        rows.as_f32_slice().unwrap().to_vec()
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn broken_folders_are_refused_by_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let copy = |name: &str| std::fs::copy(golden("bert").join(name), directory.path().join(name)).unwrap();
    let message = || Bert::open("small", directory.path()).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(message().contains("config.json: it is missing"), "{}", message());
    copy("config.json");
    assert!(message().contains("vocab.txt"), "{}", message());
    copy("vocab.txt");
    assert!(message().contains("model.safetensors"), "{}", message());
    copy("model.safetensors");
    assert_eq!(message(), "");
    let config = std::fs::read_to_string(golden("bert").join("config.json")).unwrap();
    for (old, new, what) in [
        ("\"hidden_size\": 24", "\"hidden_size\": 36", "has shape"),
        ("\"gelu\"", "\"relu\"", "only 'gelu' is known"),
        ("\"num_attention_heads\": 3", "\"num_attention_heads\": 0", "sizes"),
        ("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", "no tensor `encoder.layer.2"),
        ("\"vocab_size\"", "\"vocab_size\": 7, \"x\"", "beyond the 7"),
    ] {
        assert!(config.contains(old), "{old}");
        std::fs::write(directory.path().join("config.json"), config.replace(old, new)).unwrap();
        assert!(message().contains(what), "{new}: {}", message());
    }
}
