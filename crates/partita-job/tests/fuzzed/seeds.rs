//! Making the seeds: files of the readers' tests, and models, checkpoints and images that are made here.

use super::place;
use super::targets::{fit_with_checkpoint, small_models, train_with_checkpoint};
use image::{DynamicImage, ImageFormat, RgbImage};
use partita::report::Silent;
use partita_data::Columns;
use partita_job::{AnyModel, FitSpec, NetworkSpec, PriorSpec};
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// Write all seeds again. Files that once broke a target stay.
pub fn write() {
    arrays();
    tables();
    texts();
    beside();
    models();
    images();
}

fn put(target: &str, name: &str, bytes: &[u8]) {
    fs::create_dir_all(place(target)).unwrap();
    fs::write(place(target).join(name), bytes).unwrap();
}

/// The same after a byte that chooses options.
fn put_chosen(target: &str, name: &str, choice: u8, bytes: &[u8]) {
    put(target, &format!("{choice:02x}-{name}"), &[&[choice], bytes].concat());
}

/// A file of the tests of a crate.
fn golden(in_crate: &str, name: &str) -> Vec<u8> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(in_crate).join("tests/golden").join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn of_data(name: &str) -> Vec<u8> {
    golden("partita-data", name)
}

fn arrays() {
    for name in ["x.npy", "x_f2.npy", "x_fortran_f8.npy", "x_v2.npy", "int_be_i4.npy", "x_3d.npy"] {
        put("npy", name, &of_data(name));
    }
    for (choice, name) in [(0, "x.npz"), (1, "x.npz"), (0, "x_packed.npz"), (0, "x_packed_fortran.npz")] {
        put_chosen("npz", name, choice, &of_data(name));
    }
    for (choice, name) in [(0, "x_f32"), (0, "x_bf16"), (0, "int"), (1, "two")] {
        put_chosen("safetensors", name, choice, &of_data(&format!("{name}.safetensors")));
    }
    for choice in [0, 1] {
        put_chosen("idx", "floats", choice, &of_data("x.idx"));
        put_chosen("idx", "bytes", choice, &of_data("int-idx3-ubyte"));
    }
}

fn tables() {
    let text = "id,a,b,kind\nr1,1.5,2,x\nr2,NA,-3e2,y\nr3,\"4\",true,\"z, w\"\n";
    let utf16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let prices = "price;zip;1;2\n\"$22,162\";01067;1,5;2\n\"$3,000\";01069;-2,5;3\n";
    put_chosen("text", "gaps", 0, text.as_bytes());
    put_chosen("text", "packed", 4, text.as_bytes());
    put_chosen("text", "columns", 8 | 16 | 32, text.as_bytes());
    put_chosen("text", "model", 128 | 2, text.as_bytes());
    put_chosen("text", "utf16", 0, &utf16);
    put_chosen("text", "prices", 64, prices.as_bytes());
    put_chosen("text", "years", 2, b"2019,2020\n1,2\n3,4\n");
    put_chosen("text", "numbers", 3, b"1,2\r3,4\r");
    for name in ["quoted.csv", "pandas.csv", "windows.csv", "header.tsv"] {
        put_chosen("text", name, 0, &of_data(name));
    }
    put_chosen("text", "savetxt", 0, &of_data("savetxt.txt")[..600]);
    for name in [
        "wide.parquet",
        "lists.parquet",
        "fixed.parquet",
        "wide_snappy.parquet",
        "half.parquet",
        "null.parquet",
    ] {
        put_chosen("parquet", name, 0, &of_data(name));
    }
    put_chosen("parquet", "wide", 8, &of_data("wide.parquet"));
    for name in ["wide.arrow", "lists.arrow", "fixed.arrow", "fixed.arrows"] {
        put_chosen("arrow", name, 0, &of_data(name));
    }
}

fn texts() {
    let lines = "Crude oil rose.\n\nThe oil price, and wheat\r\nwheat crop\n石油 oil\n";
    let json = "{\"id\": 1, \"text\": \"crude \\u00e9 oil\", \"n\": [1, {}]}\n\n{\"title\": \"oil\", \"text\": null, \"id\": \"b\"}\n{\"text\": [\"oil\", 2]}\n";
    let table = "id,title,text\na,oil,\"crude, \"\"and\"\" more\"\nb,,wheat oil\n";
    put_chosen("texts", "lines", 0, lines.as_bytes());
    put_chosen("texts", "json", 1, json.as_bytes());
    put_chosen("texts", "json-joined", 1 | 16 | 32, json.as_bytes());
    put_chosen("texts", "table", 2 | 8, table.as_bytes());
    put_chosen("texts", "number", 2 | 24 | 64, table.as_bytes());
    put_chosen("texts", "parquet", 3, &of_data("labels.parquet"));
    put_chosen("texts", "arrow", 4, &of_data("wide.arrow"));
}

fn beside() {
    let labels = "id,label,weight\na,x,1\nb,y,2.5\nc,,3\nd,x,4\n";
    for choice in [0, 1, 16, 32, 48, 64 | 8, 12] {
        put_chosen("labels", "table", choice, labels.as_bytes());
        put_chosen("vectors", "table", choice, labels.as_bytes());
    }
    put_chosen("labels", "words", 0, b"kind\nash\nbirch\n\nash\n?\nbirch\n");
    put_chosen("labels", "numbers", 0, b"3\n-1\n1e3\n");
    put_chosen("labels", "idx", 2, &labels_idx());
    put_chosen("labels", "vector", 3, &of_data("vector.npy"));
    put_chosen("labels", "parquet", 3, &of_data("labels.parquet"));
    put_chosen("vectors", "vector", 3, &of_data("vector.npy"));
    put_chosen("vectors", "parquet", 3 | 48, &of_data("labels.parquet"));
    put_chosen("vectors", "line", 0, b"[0.25, 0.25; 0.5]\n");
    put_chosen("vectors", "lines", 0, b"# prior\nshare\n0.1\n.9\n");
    let other = "id,cluster,confidence\nd,0,.9\na,0,.8\nb,1,.7\nc,1,.6\n";
    put_chosen("join", "ids", 0, format!("{labels}\u{1e}{other}").as_bytes());
    put_chosen("join", "rows", 2, b"cluster\n1\n0\n\x1erow,name\n0,x\n1,y\n");
    put_chosen("join", "plain", 3, b"1\n0\n\x1e2\n3\n");
    put("spec", "empty.json", b"{}");
    let full = FitSpec {
        prior: PriorSpec::Shares(vec![0.25, 0.75]),
        known: Some("known.csv:kind".into()),
        network: Some(NetworkSpec { augment: "flip,crop:0.7".into(), ..NetworkSpec::default() }),
        ..FitSpec::new(2)
    };
    put("spec", "network.json", full.to_json().as_bytes());
    let chosen = r#"{"k":"2..9","data":{"paths":["a.csv"],"missing":"median"},"outliers":0.1,"method":{"loss":"renyi:2","dims":"auto"}}"#;
    put("spec", "chosen.json", chosen.as_bytes());
}

fn labels_idx() -> Vec<u8> {
    vec![0, 0, 8, 1, 0, 0, 0, 3, 4, 5, 6]
}

fn models() {
    put("model", "first-version", &of_data("model-1.safetensors"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    for (i, mut model) in small_models().into_iter().enumerate() {
        if let AnyModel::Linear(file) = &mut model
            && i % 2 == 0
        {
            file.names.clusters = vec!["ash".into(), "birch".into()];
            file.names.columns = vec![Some(Columns::named(["a", "b", "c"]))];
            file.medians = Some(vec![0.5; 3]);
        }
        model.write(&path).unwrap();
        put("model", &format!("model-{i}"), &fs::read(&path).unwrap());
    }
    put("network_model", "first-version", &golden("partita-deep", "model-1.safetensors"));
    let state = folder.path().join("state.safetensors");
    assert!(fit_with_checkpoint(&state).is_err());
    put("checkpoint", "first-step", &fs::read(&state).unwrap());
    let state = folder.path().join("network.safetensors");
    let mut found = train_with_checkpoint(&state, &Silent).unwrap();
    put("network_checkpoint", "done", &fs::read(&state).unwrap());
    found.model.cluster_names = vec!["dark".into(), "light".into()];
    found.model.write(&path).unwrap();
    put("network_model", "named", &fs::read(&path).unwrap());
    for name in ["zip.pt", "legacy.pt"] {
        put("torch", name, &golden("partita-embed", name));
    }
    put("torch", "safetensors", &of_data("x_f32.safetensors"));
}

fn images() {
    let colour = |x: u32, y: u32| image::Rgb([(x * 30) as u8, (y * 40) as u8, ((x + y) * 15) as u8]);
    let picture = DynamicImage::ImageRgb8(RgbImage::from_fn(7, 5, colour));
    let formats = [
        ("png", ImageFormat::Png),
        ("jpeg", ImageFormat::Jpeg),
        ("gif", ImageFormat::Gif),
        ("bmp", ImageFormat::Bmp),
        ("webp", ImageFormat::WebP),
        ("ppm", ImageFormat::Pnm),
    ];
    for (name, format) in formats {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        put("picture", name, bytes.get_ref());
    }
    let mut grey = Cursor::new(Vec::new());
    picture.to_luma8().write_to(&mut grey, ImageFormat::Png).unwrap();
    put("picture", "grey", grey.get_ref());
    let pixels: Vec<u8> = (0..3 * 32 * 32).map(|i| (i / 7 % 251) as u8).collect();
    put_chosen("packed", "cifar10", 0, &[&[3], &pixels[..], &[4], &pixels[..]].concat());
    put_chosen("packed", "cifar100", 1, &[&[3, 70], &pixels[..]].concat());
    put_chosen("packed", "stl10", 1, &pixels.repeat(9));
    put_chosen("packed", "mnist", 0, &of_data("int-idx3-ubyte"));
}
