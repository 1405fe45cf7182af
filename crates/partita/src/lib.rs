//! Discriminative entropy clustering: rows of features are clustered without labels by a linear softmax model that is trained
//! to be sure of every row (decisive) and to give every cluster its expected size (fair), with wide margins between them.
//!
//! The loss and the words are those of *Discriminative Entropy Clustering and its Relation to K-means and SVM* by Zhongwen
//! (Rex) Zhang and Yuri Boykov, called the paper here; `docs/symbols.md` maps its symbols to the code.
//!
//! ```
//! use ndarray::Array2;
//! use partita::EntropyClustering;
//!
//! fn main() -> partita::Result<()> {
//!     // 300 rows of two features, around three places.
//!     let x = Array2::from_shape_fn((300, 2), |(i, j)| {
//!         let place = if i % 3 == j { 10.0 } else { 0.0 };
//!         place + (i / 3) as f32 * 0.01
//!     });
//!     let found = EntropyClustering::new(3).restarts(4).fit(&x)?;
//!     assert_eq!(found.report.cluster_sizes, [100, 100, 100]);
//!     assert_eq!(found.model.predict(&x)?, found.labels);
//!     Ok(())
//! }
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`EntropyClustering`] | the entry point: options, then [`fit`](EntropyClustering::fit) |
//! | [`linear`] | the linear engine: fits, their options and their models; training step by step |
//! | [`rows`] | what every fit reads: rows in memory or in a file, and rows of mostly zeros |
//! | [`prepare`] | what is done to rows before a fit, once for all fits that share them |
//! | [`report`], [`error`] | progress, and why a fit stopped; what can be wrong with the input |
//! | [`objective`], [`entropy`] | losses of a batch, and the entropies and divergences they are made of |
//! | [`pseudo`] | pseudo-labels of given predictions |
//! | [`balance`] | hard labels with bounds on the sizes of clusters |
//! | [`choose`] | choosing the number of clusters |
//! | [`rivals`], [`compare`] | other clustering methods, and comparisons of all |
//! | [`mixture`] | mixtures of Gaussians |
//! | [`plain`] | K-means and mixtures of rows in their own units, in double precision |
//! | [`outliers`] | rows that belong to no cluster |
//! | [`margin`] | margins of labellings and classifiers, and the way to the widest |
//! | [`metrics`] | how good a clustering is |
//! | [`simplex`] | distributions over clusters |

pub mod balance;
mod batch;
#[doc(hidden)]
pub mod centres;
pub mod choose;
mod clustering;
pub mod compare;
pub mod entropy;
pub mod error;
pub mod linear;
pub mod margin;
pub mod metrics;
pub mod mixture;
pub mod neighbours;
#[doc(hidden)]
pub mod numeric;
pub mod objective;
pub mod outliers;
pub mod plain;
pub mod prepare;
pub mod pseudo;
pub mod report;
pub mod rivals;
#[doc(hidden)]
pub mod rng;
pub mod rows;
pub mod simplex;

pub use clustering::EntropyClustering;
pub use error::{Error, Result};
pub use linear::{Dims, Fit, Init, LiftKind, Loss, Model, Optimiser, Params, Prepare, Prior, Report};
pub use report::{Observer, StopReason};
pub use rows::Rows;
