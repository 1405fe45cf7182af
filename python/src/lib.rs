//! The one seam between Python and the engine. Estimators, checks of options and documentation are Python's (`python/partita`); here
//! arrays become [`partita::rows::Rows`], calls leave the interpreter's lock and can be interrupted, errors become exceptions.

mod call;
mod failure;
mod fit;
mod functions;
mod input;
mod labels;
mod linear;
mod margins;
mod network;
mod plain;
mod rivals;
mod texts;

use pyo3::prelude::*;

#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<linear::LinearModel>()?;
    module.add_class::<rivals::RivalModel>()?;
    module.add_class::<network::NetworkModel>()?;
    fit::register(module)?;
    texts::register(module)?;
    rivals::register(module)?;
    plain::register(module)?;
    network::register(module)?;
    labels::register(module)?;
    functions::register(module)?;
    margins::register(module)?;
    // Names are the stub's business; a list of them here would be a second one.
    module.delattr("__all__")
}
