//! Maps of images as numbers: image after image, row after row, the channels of a pixel side by side.

/// Channels are computed in groups of so many; the last group of a map is filled with zeros.
pub(crate) const GROUP: usize = 16;

/// Channels of some images.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Maps {
    /// Number of images.
    pub n: usize,
    /// Height and width.
    pub size: [usize; 2],
    /// Channels of a pixel.
    pub channels: usize,
    /// How far pixels are apart.
    pub stride: usize,
    /// The numbers.
    pub numbers: Vec<f32>,
}

/// How far pixels of so many channels are apart. Distances that are multiples of 2 kB would make neighbours compete for the same lines of the
/// processor's cache.
fn stride(channels: usize) -> usize {
    let whole = channels.next_multiple_of(GROUP);
    if whole.is_multiple_of(512) { whole + GROUP } else { whole }
}

impl Maps {
    /// Number of pixels of all images.
    pub fn pixels(&self) -> usize {
        self.n * self.size[0] * self.size[1]
    }

    /// Images whose pixels follow each other without gaps, as a first layer takes them.
    pub fn tight(n: usize, size: [usize; 2], channels: usize, numbers: Vec<f32>) -> Self {
        debug_assert_eq!(numbers.len(), n * size[0] * size[1] * channels);
        Self { n, size, channels, stride: channels, numbers }
    }

    /// Maps of this shape. Their numbers are whatever was in the memory that they take over, all of which are written next.
    pub fn shaped(n: usize, size: [usize; 2], channels: usize, mut memory: Vec<f32>) -> Self {
        let stride = stride(channels);
        memory.resize(n * size[0] * size[1] * stride, 0.0);
        Self { n, size, channels, stride, numbers: memory }
    }

    /// The channels of a pixel.
    #[cfg(test)]
    pub fn pixel(&self, at: usize) -> &[f32] {
        &self.numbers[at * self.stride..][..self.channels]
    }
}

/// Memory of maps that are no longer needed.
#[derive(Debug, Default)]
pub(crate) struct Shelf(Vec<Vec<f32>>);

impl Shelf {
    /// Maps of this shape in memory that is used again.
    pub fn maps(&mut self, n: usize, size: [usize; 2], channels: usize) -> Maps {
        let needed = n * size[0] * size[1] * stride(channels);
        // The smallest that is large enough, or else the largest, which then grows.
        let fits = |(_, memory): &(usize, &Vec<f32>)| memory.capacity() >= needed;
        let best = self.0.iter().enumerate().filter(fits).min_by_key(|(_, memory)| memory.capacity());
        let best = best.or_else(|| self.0.iter().enumerate().max_by_key(|(_, memory)| memory.capacity()));
        let memory = best.map(|(at, _)| at).map_or_else(Vec::new, |at| self.0.swap_remove(at));
        Maps::shaped(n, size, channels, memory)
    }

    /// Keep the memory for later.
    pub fn put(&mut self, maps: Maps) {
        self.0.push(maps.numbers);
    }
}
