//! Making a valid file hostile, from a seed.

use partita::rng::{Stream, stream};
use rand::{Rng, RngExt};

/// Draws mutations.
pub struct Mutator<R> {
    rng: R,
}

/// Numbers that break size computations.
const EXTREMES: [u64; 10] = [
    0,
    1,
    0x7f,
    0xff,
    0xffff,
    i32::MAX as u64,
    u32::MAX as u64,
    i64::MAX as u64,
    u64::MAX,
    0x4000_0000_0000_0001,
];
/// Words with a meaning for one of the parsers.
const WORDS: [&[u8]; 19] = [
    b"\n",
    b"\"",
    b",",
    b";",
    b"\t",
    b"\r\n",
    b"nan",
    b"-inf",
    b"1e999",
    b"#",
    b"(",
    b"9999999999999",
    b"'shape'",
    b"{",
    b"\0\0",
    b"\xc3\xa9",
    b"\xfe\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x0f",
    b"\xfe\xff\xff\x7f",
];

impl Mutator<()> {
    /// The mutations of one case.
    pub fn new(case: u64) -> Mutator<impl Rng> {
        Mutator { rng: stream(0xf022, Stream::Synthetic, case) }
    }
}

impl<R: Rng> Mutator<R> {
    /// A hostile file: mostly a valid one with a few changes, sometimes noise after a valid beginning.
    pub fn file(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        if self.below(20) == 0 {
            bytes.truncate(self.below(17));
            let noise = self.below(600);
            bytes.extend((0..noise).map(|_| self.rng.random::<u8>()).collect::<Vec<u8>>());
            return bytes;
        }
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, seeds);
        }
        bytes
    }

    fn below(&mut self, end: usize) -> usize {
        self.rng.random_range(0..end.max(1))
    }

    /// A place in the file; headers and footers are hit more often than values.
    fn place(&mut self, len: usize) -> usize {
        match self.below(3) {
            0 => self.below(len.min(256)),
            1 => len.saturating_sub(1 + self.below(len.min(512))),
            _ => self.below(len),
        }
    }

    fn change(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        if bytes.is_empty() {
            bytes.push(0);
        }
        let at = self.place(bytes.len());
        match self.below(9) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.rng.random(),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
            3 => self.overwrite(bytes, at),
            4 => bytes.truncate(at),
            5 => drop(bytes.drain(at..(at + 1 + self.below(16)).min(bytes.len()))),
            6 => self.insert(bytes, at),
            7 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                let end = (at + 1 + self.below(64)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = self.place(bytes.len());
                bytes.splice(to..to, piece);
            }
        }
    }

    /// Overwrite 1, 2, 4 or 8 bytes with an extreme number, in either byte order.
    fn overwrite(&mut self, bytes: &mut [u8], at: usize) {
        let value = EXTREMES[self.below(EXTREMES.len())];
        let width = 1 << self.below(4);
        let big = self.below(2) == 0;
        let digits = if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let digits = if big { &digits[8 - width..] } else { &digits[..width] };
        for (byte, digit) in bytes[at..].iter_mut().zip(digits) {
            *byte = *digit;
        }
    }

    /// Insert a word at a place, or overwrite the bytes there with it.
    fn insert(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let word = WORDS[self.below(WORDS.len())];
        let end = if self.below(2) == 0 { at } else { (at + 1 + self.below(word.len())).min(bytes.len()) };
        bytes.splice(at..end, word.iter().copied());
    }
}
