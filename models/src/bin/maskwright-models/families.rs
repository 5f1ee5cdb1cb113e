//! `families`: prints the families that run.

use std::error::Error;
use std::io::Write;

use clap::Args;
use maskwright_models::{Family, families_table};

/// Prints the families that run, as docs/models.md has them.
#[derive(Debug, Args)]
pub(crate) struct Families {
    /// Prints their names only, one a line
    #[arg(long)]
    names: bool,
}

impl Families {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        let mut out = std::io::stdout().lock();
        if !self.names {
            return Ok(out.write_all(families_table().as_bytes())?);
        }
        for family in Family::ALL {
            writeln!(out, "{}", family.name())?;
        }
        Ok(())
    }
}
