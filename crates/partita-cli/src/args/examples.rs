//! The end of each command's help: how it is typed, and what its words mean.

pub const FIT: &str = "\
Examples:
  partita fit x.npy -k 10 -o model.safetensors --labels-out labels.csv
  partita fit customers.csv -k auto --outliers auto -o model.safetensors
  zcat rows.csv.gz | partita fit - -k 3

Few features are fewer than 32: then clusters of any shape and size are looked for (--lift), and columns of different units are standardised \
(--prepare). - as DATA is standard input. In a table with several columns, labels (--truth, --known) are those of the column called label, \
class, cluster, target or y, otherwise of the last one.";

pub const UPDATE: &str = "\
Example:
  partita update model.safetensors more.csv -o next.safetensors --labels-out labels.csv";

pub const PREDICT: &str = "\
Examples:
  partita predict model.safetensors new.csv
  partita predict model.safetensors new.parquet --proba -o proba.npy
  partita predict model.safetensors new.csv --json | jq .cluster_sizes";

pub const EVALUATE: &str = "\
Example:
  partita evaluate --truth truth.csv --pred labels.csv

In a table with several columns, labels are those of the column called label, class, cluster, target or y, otherwise of the last one.";

pub const EXPLAIN: &str = "\
Example:
  partita explain model.safetensors x.csv --row 42 --top 5";

pub const EXPORT: &str = "\
Example:
  partita export model.safetensors -o model.onnx";

pub const COMPARE: &str = "\
Example:
  partita compare x.npy -k 10 --truth truth.npy --methods ours,kmeans --seeds 6 -o comparison.html";

pub const CHOOSE: &str = "\
Examples:
  partita choose-k x.npy --range 2..30 --picture curves.png
  partita choose-k x.npy -o choice.json";

pub const REPRODUCE: &str = "\
Example:
  partita reproduce teaser margins --out reproduced";

pub const DEMO: &str = "\
Example:
  partita demo -o digits.png";

pub const EMBED: &str = "\
Examples:
  partita embed photos/ --weights mobilenetv2.pt -o features.parquet
  partita embed photos/ --weights mobilenetv2.pt -o features.npy --skip-bad && partita fit features.npy -k 10";

pub const WEIGHTS: &str = "\
Examples:
  partita weights list
  partita weights get minilm";

pub const COMPLETIONS: &str = "\
Example:
  partita completions bash > ~/.local/share/bash-completion/completions/partita";
