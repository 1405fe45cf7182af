//! Walking over Thrift's compact encoding without allocating, to see sizes before the Parquet crate trusts them.

/// Deeper nesting than any Parquet structure has.
const DEEPEST: usize = 16;

/// What is left to walk over; `None` from any step means that the encoding is broken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walker<'a> {
    pub(super) rest: &'a [u8],
}

/// A field of a structure, at its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) id: i64,
    kind: u8,
}

impl<'a> Walker<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip_bytes(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A signed number, at its value.
    pub(super) fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The next field after the one numbered `last`, or `Some(None)` at the end of the structure.
    pub(super) fn field(&mut self, last: i64) -> Option<Option<Field>> {
        let head = self.byte()?;
        let kind = head & 0x0f;
        if kind == 0 {
            return Some(None);
        }
        let id = match head >> 4 {
            0 => self.number()?,
            step => last.checked_add(i64::from(step))?,
        };
        Some(Some(Field { id, kind }))
    }

    /// Type and number of a list's elements. There cannot be more than bytes are left.
    fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        (count <= self.rest.len() as u64).then_some((head & 0x0f, count))
    }

    /// Number of structures in a list.
    pub(super) fn structures(&mut self, field: Field) -> Option<u64> {
        let (kind, count) = if field.kind == 9 { self.list()? } else { return None };
        (kind == 12 || count == 0).then_some(count)
    }

    /// Step over the value of a field.
    pub(super) fn skip(&mut self, field: Field) -> Option<()> {
        match field.kind {
            // In a field, the type is the value of a boolean.
            1 | 2 => Some(()),
            kind => self.skip_value(kind, DEEPEST),
        }
    }

    fn skip_value(&mut self, kind: u8, deepest: usize) -> Option<()> {
        let deepest = deepest.checked_sub(1)?;
        match kind {
            1..=3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.skip_bytes(8),
            8 => {
                let len = self.varint()?;
                self.skip_bytes(len)
            }
            9 | 10 => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_value(kind, deepest))
            }
            11 => self.skip_map(deepest),
            12 => self.skip_structure(deepest),
            _ => None,
        }
    }

    fn skip_map(&mut self, deepest: usize) -> Option<()> {
        let count = self.varint()?;
        if count == 0 {
            return Some(());
        }
        let kinds = self.byte()?;
        if count > self.rest.len() as u64 {
            return None;
        }
        (0..count).try_for_each(|_| {
            self.skip_value(kinds >> 4, deepest)?;
            self.skip_value(kinds & 0x0f, deepest)
        })
    }

    fn skip_structure(&mut self, deepest: usize) -> Option<()> {
        let mut last = 0;
        while let Some(field) = self.field(last)? {
            last = field.id;
            if !matches!(field.kind, 1 | 2) {
                self.skip_value(field.kind, deepest)?;
            }
        }
        Some(())
    }
}
