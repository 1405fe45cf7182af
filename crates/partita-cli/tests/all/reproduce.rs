//! `partita reproduce`: reports, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use assert_cmd::Command;
use std::fs;

fn partita() -> Command {
    let mut command = Command::cargo_bin("partita").unwrap();
    command.env_remove("PARTITA_DATA");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_report_has_its_checks_its_page_and_its_pictures() {
    let dir = tempfile::tempdir().unwrap();
    let run = partita().args(["reproduce", "minima", "paths", "--out"]).arg(dir.path()).assert().success();
    let printed = text(&run.get_output().stdout);
    assert!(printed.contains("0 miss, 0 not run") && !printed.contains("MISS"), "{printed}");
    for file in ["minima.svg", "paths.svg", "index.html", "README.md"] {
        assert!(fs::metadata(dir.path().join(file)).unwrap().len() > 1000, "{file}");
    }
    // The page is complete in itself: it loads nothing from other machines.
    let page = fs::read_to_string(dir.path().join("index.html")).unwrap();
    assert!(page.contains("Global and local minima") && !page.contains("<script src=\"http"));
    let again = tempfile::tempdir().unwrap();
    partita().args(["reproduce", "minima", "-t", "1", "--out"]).arg(again.path()).assert().success();
    let picture = |dir: &tempfile::TempDir| fs::read(dir.path().join("minima.svg")).unwrap();
    assert_eq!(picture(&dir), picture(&again), "the same whatever the threads");
}

#[test]
fn what_needs_data_that_are_missing_is_told_and_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = partita().args(["reproduce", "updates", "renyi", "--out"]).arg(dir.path()).assert().success();
    let printed = text(&run.get_output().stdout);
    assert!(
        printed.contains("Not run: mnist/train-images-idx3-ubyte.gz is not in the data directory"),
        "{printed}"
    );
    assert!(printed.contains("1 not run") && printed.contains("4 checks pass"), "{printed}");
}

#[test]
fn what_is_only_on_record_shows_the_papers_numbers_and_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let run = partita().args(["reproduce", "table4", "--out"]).arg(dir.path()).assert().success();
    let printed = text(&run.get_output().stdout);
    for word in ["Not run now", "93.58 (4.8)", "--net vgg4", "--iic 5", "1 on record only"] {
        assert!(printed.contains(word), "{word}: {printed}");
    }
}

#[test]
fn a_claim_that_does_not_hold_has_an_exit_code_of_its_own_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("wrong.toml");
    let spec = "experiment = 'renyi'\ntitle = 't'\npaper = 'p'\nclaim = 'c'\nsettings = { orders = [1.0, 2.0] }\n\
                [[checks]]\nsays = 'wrong'\nnumber = 'top'\nat_least = 1.0\n";
    fs::write(&file, spec).unwrap();
    let run = partita().arg("reproduce").arg(&file).arg("--out").arg(dir.path()).assert().code(6);
    assert!(text(&run.get_output().stdout).contains("MISS"));
    assert!(text(&run.get_output().stderr).contains("1 checks do not hold"));
    assert!(dir.path().join("index.html").exists(), "the report is written all the same");
}

#[test]
fn wrong_names_and_descriptions_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |name: &str, words: &[&str]| {
        let run = partita().arg("reproduce").arg(name).arg("--out").arg(dir.path()).assert().code(3);
        let told = text(&run.get_output().stderr);
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
    };
    refused("minimum", &["no figure or table minimum", "minima"]);
    refused("nowhere.toml", &["cannot read nowhere.toml"]);
    let file = dir.path().join("odd.toml");
    let write = |text: &str| fs::write(&file, text).unwrap();
    write("experiment = 'renyi'\nheading = 'x'");
    refused(file.to_str().unwrap(), &["heading"]);
    let rest = "title = 't'\npaper = 'p'\nclaim = 'c'\nchecks = []";
    write(&format!("experiment = 'alchemy'\n{rest}"));
    refused(file.to_str().unwrap(), &["no experiment alchemy", "renyi"]);
    write(&format!("experiment = 'renyi'\n{rest}\nsettings = {{ order = [1.0] }}"));
    refused(file.to_str().unwrap(), &["order"]);
    let run = partita().args(["reproduce", "renyi", "--out"]).arg(&file).assert().code(5);
    assert!(text(&run.get_output().stderr).contains("cannot write"));
}
