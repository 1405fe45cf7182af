//! `partita weights`: which encoders there are, where their weights are, and fetching them, which happens only here and only when it is asked for.

use crate::args::WeightsCommand;
use crate::outputs;
use anyhow::{Result, bail};
use partita_embed::weights::{KNOWN, Kind, Known, Place, Places, known};
use serde_json::{Value, json};

pub fn run(command: &WeightsCommand) -> Result<()> {
    let places = Places::of_environment();
    match command {
        WeightsCommand::List { json: true } => {
            let all: Vec<Value> = KNOWN.iter().map(|known| described(known, &places)).collect();
            outputs::print_json(&json!(all))
        }
        WeightsCommand::List { json: false } => {
            let text = KNOWN.iter().map(|known| line(known, &places)).collect::<Vec<_>>().concat();
            Ok(outputs::print(&text)?)
        }
        WeightsCommand::Path { name } => Ok(outputs::print(&format!("{}\n", places.first(named(name)?)?))?),
        WeightsCommand::Get { name } => get(named(name)?, &places),
    }
}

fn named(name: &str) -> Result<&'static Known> {
    let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    known(name).ok_or_else(|| anyhow::anyhow!("no encoder is called `{name}`; they are {}", names.join(", ")))
}

fn kind(known: &Known) -> &'static str {
    match known.kind {
        Kind::Photos => "photos",
        Kind::Texts => "texts",
    }
}

fn line(known: &Known, places: &Places) -> String {
    let place = places.all(known).first().map_or_else(|| "not here".to_owned(), Place::to_string);
    let Known { name, features, licence, origin, .. } = known;
    format!(
        "{name:<19} {features:>5} features of {}; {place}\n{:>26}{origin}; licence {licence}\n",
        kind(known),
        ""
    )
}

fn described(known: &Known, places: &Places) -> Value {
    let found: Vec<String> = places.all(known).iter().map(Place::to_string).collect();
    json!({
        "name": known.name, "kind": kind(known), "features": known.features, "size": known.size, "licence": known.licence,
        "origin": known.origin, "hub": known.hub.map(|(repository, _)| repository), "places": found,
    })
}

/// Fetch the weights of an encoder into the Hugging Face cache.
fn get(known: &Known, places: &Places) -> Result<()> {
    if let Some(place) = places.all(known).first() {
        return Ok(outputs::say(&format!("{} is here already: {place}\n", known.name))?);
    }
    let Some((repository, files)) = known.hub else {
        bail!(
            "{} cannot be fetched; its weights are those of {}, give them with --encoder-weights",
            known.name,
            known.origin
        );
    };
    if std::env::var_os("HF_HUB_OFFLINE").is_some_and(|value| !matches!(value.to_str(), Some("" | "0"))) {
        bail!(
            "HF_HUB_OFFLINE forbids to fetch {repository}; unset it, or give the weights with --encoder-weights"
        );
    }
    let path = fetched(repository, files, places)?;
    let hash = partita_embed::weights::sha256(&std::fs::read(&path)?);
    let Known { name, licence, .. } = known;
    Ok(outputs::say(&format!("{name}: licence {licence}; SHA-256 {hash}; {}\n", path.display()))?)
}

/// Fetch files of a repository, the first of which is returned.
#[cfg(feature = "download")]
fn fetched(repository: &str, files: &[&str], places: &Places) -> Result<std::path::PathBuf> {
    use anyhow::Context;
    let mut builder = hf_hub::api::sync::ApiBuilder::from_env().with_progress(!crate::console::is_quiet());
    if let Some(cache) = &places.cache {
        builder = builder.with_cache_dir(cache.clone());
    }
    let from = builder.build()?.model(repository.to_owned());
    let fetch =
        |file: &&str| from.get(file).with_context(|| format!("{repository}: {file} cannot be fetched"));
    let paths: Vec<std::path::PathBuf> = files.iter().map(fetch).collect::<Result<_>>()?;
    paths.into_iter().next().context("there is nothing to fetch")
}

#[cfg(not(feature = "download"))]
fn fetched(repository: &str, files: &[&str], places: &Places) -> Result<std::path::PathBuf> {
    let cache =
        places.cache.as_ref().map(|cache| format!(" or, as their programs do, into {}", cache.display()));
    bail!(
        "this program was built without the means to fetch; build it with the feature `download`, or get {} of {repository} yourself and \
         give it with --encoder-weights, or put it into a folder that PARTITA_WEIGHTS names{}",
        files.join(" and "),
        cache.unwrap_or_default()
    );
}
