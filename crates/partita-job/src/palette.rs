//! The colours of clusters, the same in every picture.
//!
//! ```
//! use partita_job::palette;
//! assert_eq!(palette::colour(0), [0x3f, 0x90, 0xda]);
//! assert_eq!(palette::hex(10), "#3f90da");
//! assert_eq!(palette::line(3), "#832db6");
//! ```

/// Red, green, blue.
pub type Colour = [u8; 3];

/// Petroff's ten colours, made to be told apart also by the colour-blind (arXiv:2107.02270), in his order.
pub const CLUSTERS: [&str; 10] = [
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581",
    "#92dadd",
];

/// Those of the ten that also serve for thin lines and small dots. The other two are too pale and too close to grey
/// for that.
const LINES: [usize; 8] = [0, 1, 2, 4, 5, 6, 8, 9];

/// The colour of a cluster as a web page writes it. After ten clusters the colours begin again.
pub const fn hex(cluster: usize) -> &'static str {
    CLUSTERS[cluster % CLUSTERS.len()]
}

/// The colour of a cluster as red, green and blue.
pub const fn colour(cluster: usize) -> Colour {
    let text = hex(cluster).as_bytes();
    [byte(text, 1), byte(text, 3), byte(text, 5)]
}

/// The colour of a curve of a chart, as a web page writes it. After eight curves the colours begin again.
pub const fn line(number: usize) -> &'static str {
    CLUSTERS[LINES[number % LINES.len()]]
}

/// The number that two hexadecimal digits write.
const fn byte(text: &[u8], at: usize) -> u8 {
    16 * digit(text[at]) + digit(text[at + 1])
}

const fn digit(character: u8) -> u8 {
    match character {
        b'0'..=b'9' => character - b'0',
        _ => character - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn red_green_and_blue_are_those_of_the_text() {
        for cluster in 0..CLUSTERS.len() {
            let [r, g, b] = colour(cluster);
            assert_eq!(format!("#{r:02x}{g:02x}{b:02x}"), hex(cluster));
        }
    }

    #[test]
    fn every_colour_differs_and_lines_use_some_of_them() {
        let mut all = CLUSTERS.to_vec();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), CLUSTERS.len());
        let lines: Vec<&str> = (0..8).map(line).collect();
        assert_eq!(
            lines,
            ["#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#a96b59", "#e76300", "#717581", "#92dadd"]
        );
        assert_eq!((line(8), hex(10)), (line(0), hex(0)));
    }
}
