//! K-means and Gaussian mixtures of rows as they are: in their own units and in double precision, without any preparation.
//!
//! [`crate::rivals`] prepares rows and keeps them in single precision, which suits comparisons. Here every number of a result (centres, means,
//! covariances, inertia, likelihood) is one of the rows' own space, as users of scikit-learn's `KMeans` and `GaussianMixture` expect.
//!
//! | file | what it holds |
//! |---|---|
//! | `rows` | rows in double precision, dense or sparse, block by block |
//! | `centres` | the nearest of several centres, distances to them |
//! | `lloyd` | Lloyd's iterations with row weights |
//! | `seeds` | k-means++ seeds with row weights; rows drawn at random |
//! | `kmeans` | K-means: several starts, the best of them |
//! | `gaussians` | the mixture: where it starts, and the likeliest of several starts |

mod centres;
mod gaussians;
mod kmeans;
mod lloyd;
mod rows;
mod seeds;

pub use centres::{distances, nearest};
pub use gaussians::{Fitted, Gaussians, Start, judge};
pub use kmeans::{Clusters, KMeans, Seeds};
pub use rows::{Dense, Plain, Sparse};
