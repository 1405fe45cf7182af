//! `partita demo`.

use crate::args::DemoArgs;
use anyhow::Result;

pub fn run(_args: &DemoArgs) -> Result<()> {
    Ok(())
}
