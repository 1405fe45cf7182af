//! From photos to rows by a network, on all threads.

use super::names;
use super::net::Net;
use super::network::{Network, needed};
use super::normalise::Normalise;
use super::plan::Plan;
use crate::error::{EmbedError, Result};
use crate::images::Image;
use crate::kernels::{Maps, Shelf};
use crate::weights::StateDict;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Photos that go through the network together, on one thread: few, because their maps should stay in the processor's caches.
const TOGETHER: usize = 4;

/// A trained network that makes rows of photos.
#[derive(Debug)]
pub struct PhotoNet {
    network: Network,
    net: Net,
    normalise: Normalise,
    size: usize,
    /// Memory that threads take while they work.
    shelves: Mutex<Vec<Shelf>>,
}

impl PhotoNet {
    /// Features of photos resized to squares of `size` pixels, by a network of kind `net` with the weights of a file.
    ///
    /// # Errors
    /// If the file does not hold the weights of that network, or photos of that size are too small for it.
    pub fn new(net: Net, file: &StateDict, normalise: Normalise, size: usize) -> Result<Self> {
        net.check([3, size, size])?;
        let plan = Plan::of(net).ok_or_else(|| {
            EmbedError::Refused(format!(
                "there are no known weights with which {net} makes good features of photos; use mobilenetv2, efficientnet-lite0, resnet18, \
                 resnet50 or resnet50-keras"
            ))
        })?;
        let found = names(net, &needed(&plan), file)?;
        let network = Network::new(&plan, &mut |name| {
            let name = found.name(name).unwrap_or_else(|| name.to_owned());
            file.read_finite(&name)
        })?;
        Ok(Self { network, net, normalise, size, shelves: Mutex::default() })
    }

    /// Number of features of a photo.
    pub fn features(&self) -> usize {
        self.network.features()
    }

    /// Side of the squares that photos become.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The rows of some photos, which are made on all threads as they are needed. `photo` gives each by its number and `name` says what it is called.
    ///
    /// # Errors
    /// If a photo cannot be had, or its features are not finite.
    pub fn encode<'a>(
        &self,
        photo: impl Fn(usize) -> Result<Cow<'a, Image>> + Sync,
        name: impl Fn(usize) -> String + Sync,
        out: &mut [f32],
    ) -> Result<()> {
        let m = self.features();
        out.par_chunks_mut(TOGETHER * m).enumerate().try_for_each(|(chunk, out)| {
            let (first, count) = (chunk * TOGETHER, out.len() / m);
            let mut numbers = Vec::with_capacity(count * 3 * self.size * self.size);
            for i in first..first + count {
                let image = photo(i)?.square(self.size).coloured();
                self.normalise.interleave(&image, &mut numbers);
            }
            let images = Maps::tight(count, [self.size; 2], 3, numbers);
            let taken = self.shelves.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut shelf = taken.unwrap_or_default();
            self.network.run(&images, &mut shelf, out);
            self.shelves.lock().unwrap_or_else(PoisonError::into_inner).push(shelf);
            let broken = out.chunks_exact(m).position(|row| row.iter().any(|v| !v.is_finite()));
            broken.map_or(Ok(()), |at| Err(self.broken(&name(first + at))))
        })
    }

    fn broken(&self, name: &str) -> EmbedError {
        let problem = format!("{} gives no finite numbers for {name}; its weights are broken", self.net);
        EmbedError::Refused(problem)
    }
}
