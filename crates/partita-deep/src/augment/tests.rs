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
    let text = "flip,rotate:10,crop:0.8,affine:0.1,colour:0.4,grey:0.2,blur:0.5";
    assert_eq!(text.parse::<Augment>().unwrap().to_string(), text);
    for wrong in ["spin", "rotate:", "crop:2", "blur:-1", "colour:nan"] {
        assert!(wrong.parse::<Augment>().unwrap_err().to_string().contains(wrong), "{wrong}");
    }
}
