//! What the files beside the weights of a network say about it.

use crate::error::{EmbedError, Result};
use serde::Deserialize;
use std::io::Read;
use std::path::Path;

/// Larger files of settings are none.
const LARGEST: u64 = 64 << 20;
/// Tokens of a text where no file says how many.
const TOKENS: usize = 256;
/// No dimension of a network that fits on a machine is larger; products of two of them do not overflow.
const MOST: usize = 1 << 24;

/// The sizes of a network of the BERT type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub hidden: usize,
    pub layers: usize,
    pub heads: usize,
    pub wide: usize,
    pub vocabulary: usize,
    pub places: usize,
    pub kinds: usize,
    pub epsilon: f32,
    /// Tokens of a text, at most; the others are not read.
    pub tokens: usize,
    /// Whether capital letters are small ones to it.
    pub lower: bool,
}

#[derive(Deserialize)]
struct Main {
    model_type: Option<String>,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

fn two() -> usize {
    2
}

fn epsilon() -> f32 {
    1e-12
}

#[derive(Deserialize, Default)]
struct Sentences {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize, Default)]
struct Tokens {
    do_lower_case: Option<bool>,
}

#[derive(Deserialize)]
struct Pooling {
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

impl Config {
    /// Read from the folder of the weights.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("config.json");
        let main: Main = json(&path)?.ok_or_else(|| missing(&path))?;
        let refused = |problem: String| Err(EmbedError::File { path: path.clone(), problem });
        let plain = [
            (&main.model_type, "bert"),
            (&main.hidden_act, "gelu"),
            (&main.position_embedding_type, "absolute"),
        ];
        if let Some((Some(found), needed)) =
            plain.iter().find(|(found, needed)| found.as_deref().is_some_and(|found| found != *needed))
        {
            return refused(format!(
                "it describes a network with '{found}' where only '{needed}' is known; use all-MiniLM-L6-v2 or another of the BERT type"
            ));
        }
        let sizes = [
            main.hidden_size,
            main.num_hidden_layers,
            main.num_attention_heads,
            main.intermediate_size,
            main.vocab_size,
        ];
        let sizes = sizes.into_iter().chain([main.max_position_embeddings, main.type_vocab_size]);
        if sizes.clone().any(|size| size == 0 || size > MOST)
            || !main.hidden_size.is_multiple_of(main.num_attention_heads)
        {
            return refused("its sizes are none of a network".to_owned());
        }
        let pooling: Option<Pooling> = json(&folder.join("1_Pooling").join("config.json"))?;
        if pooling.is_some_and(|pooling| !pooling.pooling_mode_mean_tokens) {
            return refused("the network beside it takes something else than the mean of its tokens, which is not known here".to_owned());
        }
        let sentences: Sentences = json(&folder.join("sentence_bert_config.json"))?.unwrap_or_default();
        let tokens: Tokens = json(&folder.join("tokenizer_config.json"))?.unwrap_or_default();
        Ok(Self {
            hidden: main.hidden_size,
            layers: main.num_hidden_layers,
            heads: main.num_attention_heads,
            wide: main.intermediate_size,
            vocabulary: main.vocab_size,
            places: main.max_position_embeddings,
            kinds: main.type_vocab_size,
            epsilon: main.layer_norm_eps,
            tokens: sentences.max_seq_length.unwrap_or(TOKENS).clamp(2, main.max_position_embeddings.max(2)),
            lower: tokens.do_lower_case.unwrap_or(true),
        })
    }
}

fn missing(path: &Path) -> EmbedError {
    EmbedError::File {
        path: path.to_owned(),
        problem: "it is missing; give the whole folder of the network".to_owned(),
    }
}

/// The text of a file of settings; none if there is no such file.
pub(super) fn text(path: &Path) -> Result<Option<String>> {
    let failed = |e: std::io::Error| EmbedError::File {
        path: path.to_owned(),
        problem: format!("it cannot be read: {e}"),
    };
    if !path.is_file() {
        return Ok(None);
    }
    let mut text = String::new();
    let file = partita_data::open_regular(path)?;
    file.take(LARGEST).read_to_string(&mut text).map_err(failed)?;
    Ok(Some(text))
}

/// A file of settings as JSON; none if there is no such file.
fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(text) = text(path)? else { return Ok(None) };
    let broken = |e: serde_json::Error| EmbedError::File {
        path: path.to_owned(),
        problem: format!("it is no such JSON file: {e}"),
    };
    serde_json::from_str(&text).map(Some).map_err(broken)
}
