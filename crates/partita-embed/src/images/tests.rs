use super::*;
use std::fs;

fn lab() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn refused(path: &Path) -> String {
    Images::open(&[path]).unwrap_err().to_string()
}

#[test]
fn cifar_stl_and_idx_files_are_told_apart() {
    let lab = lab();
    let ten = lab.path().join("batch.bin");
    let mut bytes = vec![7_u8];
    bytes.extend((0..3072).map(|i| (i % 256) as u8));
    fs::write(&ten, bytes.repeat(2)).unwrap();
    let hundred = lab.path().join("train.bin");
    fs::write(&hundred, [&[3, 61], &bytes[1..]].concat()).unwrap();
    assert_eq!(Images::open(&[&ten, &ten]).unwrap().labels(10).unwrap(), [7, 7, 7, 7]);
    let images = Images::open(&[&ten, &hundred]).unwrap();
    assert_eq!(images.len(), 3);
    assert_eq!(images.get(1).unwrap().pixels[..4], [0, 1, 2, 3]);
    assert_eq!(images.labels(10), None, "class 3 of one is not that of the other");
    let alone = Images::open(&[&hundred]).unwrap();
    assert_eq!((alone.labels(20).unwrap(), alone.labels(100).unwrap()), (vec![3], vec![61]));
    assert_eq!(alone.get(0).unwrap().pixels[..4], [0, 1, 2, 3]);
    assert!(images.name(2).contains("0 of") && images.name(2).contains("train.bin"));
    let stl = lab.path().join("test_X.bin");
    let plane: Vec<u8> = (0..96 * 96).map(|i| (i / 96) as u8).collect();
    fs::write(&stl, plane.repeat(3)).unwrap();
    fs::write(lab.path().join("test_y.bin"), [4]).unwrap();
    let images = Images::open(&[&stl]).unwrap();
    assert_eq!(images.get(0).unwrap().pixels[..3], [0, 1, 2], "columns become rows");
    assert_eq!(images.labels(10).unwrap(), [3]);
    let idx = lab.path().join("t-images-idx3-ubyte");
    fs::write(&idx, [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3][..], &[1, 2, 3, 4, 5, 6]].concat())
        .unwrap();
    let images = Images::open(&[&idx]).unwrap();
    assert_eq!((images.len(), images.get(1).unwrap().shape()), (2, [1, 1, 3]));
    assert_eq!(images.get(1).unwrap().coloured().pixels, [4, 5, 6].repeat(3));
    assert_eq!(images.labels(10), None);
}

#[test]
fn broken_files_are_refused() {
    let lab = lab();
    let short = lab.path().join("short-idx3-ubyte");
    fs::write(&short, [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 3, 1]).unwrap();
    assert!(refused(&short).contains("cut short"));
    let odd = lab.path().join("odd.bin");
    fs::write(&odd, [0; 100]).unwrap();
    assert!(refused(&odd).contains("CIFAR-10"));
    let packed = lab.path().join("x-idx3-ubyte.gz");
    fs::write(&packed, [0x1f, 0x8b, 8, 0, 0, 0]).unwrap();
    assert!(refused(&packed).contains("unpacked"));
    assert!(refused(lab.path()).contains("CIFAR-10") || refused(lab.path()).contains("none"));
    assert!(refused(&lab.path().join("missing")).contains("missing"));
}

fn picture(path: &Path, w: u32, h: u32, red: u8) {
    image::RgbImage::from_fn(w, h, |x, _| image::Rgb([red, x as u8, 9])).save(path).unwrap();
}

#[test]
fn folders_give_pictures_in_order_and_classes() {
    let lab = lab();
    for (class, name, red) in [("cat", "b.png", 2), ("cat", "a.png", 1), ("ant", "z.bmp", 0)] {
        fs::create_dir_all(lab.path().join(class)).unwrap();
        picture(&lab.path().join(class).join(name), 3, 2, red);
    }
    fs::write(lab.path().join("notes.txt"), "no picture").unwrap();
    let images = Images::open(&[lab.path()]).unwrap();
    assert_eq!(images.labels(10).unwrap(), [0, 1, 1]);
    let reds: Vec<u8> = (0..3).map(|i| images.get(i).unwrap().pixels[0]).collect();
    assert_eq!(reds, [0, 1, 2]);
    assert_eq!(images.get(0).unwrap().shape(), [3, 2, 3]);
    assert_eq!(images.get(0).unwrap().pixels[6..12], [0, 1, 2, 0, 1, 2], "green after red");
}

#[test]
fn bad_pictures_are_named_and_mixed_sizes_explained() {
    let lab = lab();
    picture(&lab.path().join("a.png"), 4, 4, 1);
    picture(&lab.path().join("c.png"), 5, 4, 1);
    let good = fs::read(lab.path().join("a.png")).unwrap();
    fs::write(lab.path().join("b.png"), &good[..good.len() / 2]).unwrap();
    let images = Images::open(&[lab.path()]).unwrap();
    let (good, bad) = images.survey();
    assert_eq!(good, [0, 2]);
    assert!(bad[0].to_string().contains("b.png") && bad[0].to_string().contains("--skip-bad"), "{}", bad[0]);
    let mixed = Pixels::load(&images, &good, None).unwrap_err().to_string();
    assert!(mixed.contains("c.png") && mixed.contains("a.png") && mixed.contains("--size"), "{mixed}");
    let square = Pixels::load(&images, &good, Some(3)).unwrap();
    assert_eq!((square.len(), square.shape()), (2, [3, 3, 3]));
}

#[test]
fn a_jpeg_that_is_cut_short_is_no_picture() {
    let lab = lab();
    // Noise, so that half of the file holds half of the picture.
    let noise =
        |x: u32, y: u32| image::Rgb([x, y, x ^ y].map(|v| (v.wrapping_mul(2_654_435_761) >> 24) as u8));
    let path = lab.path().join("a.jpg");
    image::RgbImage::from_fn(64, 48, noise).save(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let images = Images::open(&[&path]).unwrap();
    assert_eq!(images.get(0).unwrap().shape(), [3, 48, 64]);
    for kept in [whole.len() / 2, whole.len() - 2] {
        fs::write(&path, &whole[..kept]).unwrap();
        let told = images.get(0).unwrap_err().to_string();
        assert!(
            told.contains("a.jpg") && told.contains("cut short") && told.contains("--skip-bad"),
            "{told}"
        );
    }
    fs::write(&path, [&whole[..], b"what some cameras add"].concat()).unwrap();
    assert!(images.get(0).is_ok(), "bytes after the end do no harm");
}

#[cfg(unix)]
#[test]
fn a_pipe_among_pictures_is_named_and_keeps_nobody_waiting() {
    let lab = lab();
    let made = std::process::Command::new("mkfifo").arg(lab.path().join("a.png")).status().unwrap();
    assert!(made.success());
    let images = Images::open(&[lab.path()]).unwrap();
    let told = images.get(0).unwrap_err().to_string();
    assert!(told.contains("a.png") && told.contains("a pipe"), "{told}");
}

#[test]
fn folders_share_their_classes() {
    let lab = lab();
    for (place, red) in [("a/ant", 1), ("a/cat", 2), ("b/cat", 3), ("b/dog", 4)] {
        fs::create_dir_all(lab.path().join(place)).unwrap();
        picture(&lab.path().join(place).join("x.png"), 2, 2, red);
    }
    let images = Images::open(&[lab.path().join("a"), lab.path().join("b")]).unwrap();
    assert_eq!(images.labels(10).unwrap(), [0, 1, 1, 2]);
    assert_eq!(images.class_names().unwrap(), ["ant", "cat", "cat", "dog"]);
}

#[test]
fn a_picture_that_claims_to_be_enormous_is_refused() {
    let lab = lab();
    let mut bmp = b"BM".to_vec();
    bmp.extend([54u32, 0, 54, 40, 60_000, 60_000].iter().flat_map(|v| v.to_le_bytes()));
    bmp.extend([1, 0, 24, 0]);
    bmp.resize(54, 0);
    fs::write(lab.path().join("a.bmp"), bmp).unwrap();
    fs::write(lab.path().join("b.ppm"), b"P6 100000000 100000 255\n").unwrap();
    let images = Images::open(&[lab.path()]).unwrap();
    for i in 0..2 {
        let told = images.get(i).unwrap_err().to_string();
        assert!(told.contains("GB of memory"), "{told}");
    }
}

#[test]
fn a_frame_that_claims_to_be_larger_than_its_picture_is_refused() {
    let lab = lab();
    let mut gif = b"GIF89a\x07\0\x05\0\x80\0\0\0\0\0\xff\xff\xff".to_vec();
    gif.extend(b",\0\0\0\0\0\x40\0\x10\0\x02\x02\x4c\x01\0;");
    fs::write(lab.path().join("a.gif"), gif).unwrap();
    let told = Images::open(&[lab.path()]).unwrap().get(0).unwrap_err().to_string();
    assert!(told.contains("imit"), "{told}");
}

#[test]
fn images_are_made_what_a_model_takes() {
    let lab = lab();
    picture(&lab.path().join("a.png"), 8, 8, 1);
    picture(&lab.path().join("b.png"), 20, 10, 1);
    image::GrayImage::new(5, 5).save(lab.path().join("c.png")).unwrap();
    let images = Images::open(&[lab.path()]).unwrap();
    let pixels = Pixels::load_for([3, 8, 8], &images, &[0, 1, 2]).unwrap();
    assert_eq!((pixels.len(), pixels.shape()), (3, [3, 8, 8]));
    assert_eq!(pixels.get(0), images.get(0).unwrap());
    let told = Pixels::load_for([3, 10, 20], &images, &[1, 0]).unwrap_err().to_string();
    assert!(told.contains("a.png") && told.contains("10×20") && !told.contains("--s"), "{told}");
}

#[test]
fn linked_folders_are_followed_but_not_in_circles() {
    let lab = lab();
    let [one, two] = ["one", "two"].map(|name| lab.path().join(name));
    fs::create_dir_all(one.join("ant")).unwrap();
    fs::create_dir_all(&two).unwrap();
    picture(&one.join("ant/a.png"), 2, 2, 1);
    picture(&two.join("b.png"), 2, 2, 2);
    std::os::unix::fs::symlink(&two, one.join("bee")).unwrap();
    std::os::unix::fs::symlink(&one, two.join("back")).unwrap();
    let images = Images::open(&[&one]).unwrap();
    assert_eq!(images.labels(10).unwrap(), [0, 1]);
    assert!(images.name(1).ends_with("bee/b.png"), "{}", images.name(1));
}

#[test]
fn single_pictures_and_mixed_channels_are_taken() {
    let lab = lab();
    let [one, idx] = ["a.png", "t-images-idx3-ubyte"].map(|name| lab.path().join(name));
    picture(&one, 2, 2, 100);
    fs::write(&idx, [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 5, 6, 7, 8]).unwrap();
    let images = Images::open(&[&one, &idx]).unwrap();
    assert!(images.name(0).ends_with("a.png"));
    let pixels = Pixels::load(&images, &[0, 1], None).unwrap();
    assert_eq!(pixels.shape(), [3, 2, 2]);
    assert_eq!(pixels.get(1).pixels, [5, 6, 7, 8].repeat(3));
    // Pillow's `convert("L")` of (100, 0, 9) and (100, 1, 9).
    let grey = Pixels::load_for([1, 2, 2], &images, &[0, 1]).unwrap();
    assert_eq!((grey.get(0).pixels, grey.get(1).pixels), (vec![31, 32, 31, 32], vec![5, 6, 7, 8]));
}
