//! `memory-bandwidth`: how fast a device reads its memory.

use std::error::Error;
use std::io::Write;

use clap::Args;
use maskwright_models::ModelDevice;

/// Measures how fast a device reads its memory, which limits a model that reads every weight for each token. Prints bytes per
/// second.
#[derive(Debug, Args)]
pub(crate) struct MemoryBandwidth {
    /// The device: cpu, cuda or cuda:N
    #[arg(long, default_value = "cuda")]
    device: ModelDevice,
}

impl MemoryBandwidth {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        writeln!(std::io::stdout(), "{:.0}", self.device.read_bandwidth()?)?;
        Ok(())
    }
}
