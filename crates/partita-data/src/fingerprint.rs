//! A number that tells apart what went into a run.

/// Grows with all that is added to it (FNV-1a of 64 bits): the same bytes give the same number on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// The same with these bytes after all others.
    pub fn with_bytes(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)))
    }

    /// The same with these numbers after all others.
    pub fn with_numbers(self, numbers: &[f32]) -> Self {
        numbers.iter().fold(self, |print, number| print.with_bytes(&number.to_bits().to_le_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values of FNV-1a.
    #[test]
    fn it_is_fnv() {
        assert_eq!(Fingerprint::default().with_bytes(b"a").0, 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fingerprint::default().with_bytes(b"foo").with_bytes(b"bar").0, 0x8594_4171_f739_67e8);
    }
}
