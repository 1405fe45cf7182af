use super::*;

fn picture() -> Image {
    let pixels = (0..3 * 6 * 5).map(|i| (i * 97 % 251) as u8).collect();
    Image { channels: 3, height: 6, width: 5, pixels }
}

fn draw(row: u64, view: u64) -> Draw {
    Draw { seed: 3, view, row }
}

#[test]
fn without_changes_an_image_stays_as_it_is() {
    let image = picture();
    let plain: Vec<f32> = image.pixels.iter().map(|&p| f32::from(p)).collect();
    assert_eq!(Augment::default().apply(&image, draw(1, 2)), plain);
}

#[test]
fn what_is_drawn_depends_on_seed_view_and_row_alone() {
    let augment: Augment = "flip,rotate:20,crop:0.7,affine:0.1,colour:0.4,grey:0.2,blur:1".parse().unwrap();
    let first = augment.apply(&picture(), draw(1, 2));
    assert_eq!(first, augment.apply(&picture(), draw(1, 2)));
    assert_ne!(first, augment.apply(&picture(), draw(2, 2)));
    assert_ne!(first, augment.apply(&picture(), draw(1, 3)));
    assert!(first.iter().all(|p| (0.0..=255.0).contains(p)));
}

#[test]
fn a_mirror_turns_rows_round() {
    let augment = Augment { flip: true, ..Augment::default() };
    let image = picture();
    let plain = Augment::default().apply(&image, draw(0, 0));
    let turned: Vec<f32> = plain.chunks_exact(5).flat_map(|row| row.iter().rev()).copied().collect();
    let seen: Vec<Vec<f32>> = (0..20).map(|row| augment.apply(&image, draw(row, 0))).collect();
    assert!(seen.iter().all(|s| s == &plain || s == &turned));
    assert!(seen.contains(&plain) && seen.contains(&turned));
}

#[test]
fn one_colour_is_not_changed_by_place_or_blur() {
    let augment: Augment = "rotate:30,crop:0.5,affine:0.2,blur:2".parse().unwrap();
    let flat = Image { pixels: vec![77; 90], ..picture() };
    let out = augment.apply(&flat, draw(5, 1));
    assert!(out.iter().all(|p| (p - 77.0).abs() < 1e-3), "{out:?}");
}

#[test]
fn grey_pictures_have_equal_channels() {
    let augment = Augment { grey: 1.0, ..Augment::default() };
    let out = augment.apply(&picture(), draw(0, 0));
    assert!((0..30).all(|i| (out[i] - out[30 + i]).abs() < 1e-3 && (out[i] - out[60 + i]).abs() < 1e-3));
}

#[test]
fn options_are_read_as_they_are_written() {
    let text = "flip,rotate:10,crop:0.8,affine:0.1,colour:0.4,hue:0.1,jitter:0.8,grey:0.2,blur:0.5";
    assert_eq!(text.parse::<Augment>().unwrap().to_string(), text);
    for wrong in ["spin", "rotate:", "crop:2", "blur:-1", "colour:nan", "hue:0.6", "jitter:0.5"] {
        let name = wrong.split(':').next().unwrap();
        assert!(wrong.parse::<Augment>().unwrap_err().to_string().contains(name), "{wrong}");
    }
}

const HUES: [([f32; 3], [f32; 3]); 4] = [
    ([200.0, 30.0, 90.0], [200.0000, 72.0000, 30.0000]),
    ([10.0, 240.0, 60.0], [10.0000, 240.0000, 198.0000]),
    ([15.0, 25.0, 130.0], [74.0000, 15.0000, 130.0000]),
    ([120.0, 119.0, 3.0], [50.8000, 120.0000, 3.0000]),
];

/// Values from Python's `colorsys`: the hue plus 0.1, saturation and value as they were.
#[test]
fn hue_turns_the_colour_wheel() {
    let turned = |colour: [f32; 3], share: f32| {
        let mut pixels = colour.to_vec();
        colour::turn(&mut pixels, [3, 1, 1], share);
        pixels
    };
    for (colour, expected) in HUES {
        let found = turned(colour, 0.1);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3), "{colour:?}: {found:?}");
        let back = turned([found[0], found[1], found[2]], -0.1);
        assert!(back.iter().zip(colour).all(|(a, b)| (a - b).abs() < 1e-3), "{colour:?}: {back:?}");
    }
    let mut grey = vec![7.0];
    colour::turn(&mut grey, [1, 1, 1], 0.3);
    assert_eq!(grey, [7.0], "grey has no hue");
}

#[test]
fn colours_change_in_the_share_of_the_images_that_was_asked_for() {
    let (image, plain) = (picture(), Augment::default().apply(&picture(), draw(0, 0)));
    let changed = |text: &str| {
        let augment: Augment = text.parse().unwrap();
        (0..200).filter(|&row| augment.apply(&image, draw(row, 0)) != plain).count()
    };
    assert_eq!((changed("colour:0.4,hue:0.1"), changed("colour:0.4,hue:0.1,jitter:0")), (200, 0));
    let most = changed("colour:0.4,hue:0.1,jitter:0.8");
    assert!((140..180).contains(&most), "{most}");
}

#[test]
fn a_new_change_leaves_the_others_as_they_were_drawn() {
    let [without, with]: [Augment; 2] =
        ["flip,rotate:20,colour:0.4", "flip,rotate:20,colour:0.4,jitter:1"].map(|text| text.parse().unwrap());
    assert_eq!(without.apply(&picture(), draw(4, 4)), with.apply(&picture(), draw(4, 4)));
}
