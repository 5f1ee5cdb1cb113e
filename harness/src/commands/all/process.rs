//! [`run_part`]: a command of this program in a process of its own, which is asked to stop when its time is over.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::CommandError;
use crate::run::interrupt;

/// How often a process is looked after.
const INTERVAL: Duration = Duration::from_millis(100);
/// Time that a process has to put the record in hand on disk once it was asked to stop: an answer may take this long.
const GRACE: Duration = Duration::from_secs(45);

/// How a part came to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum PartEnd {
    /// By itself.
    Done,
    /// Its time was over.
    OutOfTime,
    /// With an exit code of failure.
    Failed(i32),
    /// The user interrupted.
    Interrupted,
}

/// Runs this program with `words` for `time` at most. Records so far stay in the run's directory.
///
/// # Errors
///
/// [`CommandError::Output`], where the process cannot be started.
pub fn run_part(words: &[OsString], time: Duration) -> Result<PartEnd, CommandError> {
    let program = std::env::current_exe()?;
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        // Its tables are in its directory, and in the report.
        .stdout(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(of_status(status));
        }
        let is_over = started.elapsed() >= time;
        if is_over || interrupt::requested() {
            stop(&mut child)?;
            return Ok(if is_over {
                PartEnd::OutOfTime
            } else {
                PartEnd::Interrupted
            });
        }
        sleep(INTERVAL);
    }
}

fn of_status(status: ExitStatus) -> PartEnd {
    match status.code() {
        Some(0) => PartEnd::Done,
        // Ctrl-C goes to all processes of a terminal.
        Some(code) if code == i32::from(interrupt::EXIT_CODE) => PartEnd::Interrupted,
        Some(code) => PartEnd::Failed(code),
        None => PartEnd::Failed(-1),
    }
}

/// Asks a process to stop as Ctrl-C does, and ends it where it does not.
fn stop(child: &mut Child) -> io::Result<()> {
    if let Some(process) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = kill_process(process, Signal::INT);
    }
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        sleep(INTERVAL);
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}
