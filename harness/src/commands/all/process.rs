//! [`run_part`]: a command of this program in a process of its own, which is asked to stop when its time is over.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::CommandError;
use crate::run::{interrupt, progress};
use crate::worker::spawn::spawn;

/// Interval between two checks of a process.
const INTERVAL: Duration = Duration::from_millis(100);
/// Time that a process has after a request to stop to write its current record: an answer may take this long.
const GRACE: Duration = Duration::from_secs(45);

/// Largest share of a part's time that is kept for `GRACE`.
const GRACE_SHARE: f64 = 0.25;

/// Environment variable with the name of the part that a process is. `all` says how a run goes on that it has stopped.
pub const PART: &str = "MASKWRIGHT_PART_OF_ALL";

/// Reason for which a part ended.
#[derive(Debug, PartialEq, Eq)]
pub enum PartEnd {
    /// The part ended by itself.
    Done,
    /// The part's time was over.
    OutOfTime,
    /// The part failed: its exit code or signal, in words.
    Failed(String),
    /// The user interrupted.
    Interrupted,
}

/// Runs this program as the part `name` with `words` for `time` at most, the time to finish the current record included. Records so far stay in the run's
/// directory.
///
/// # Errors
///
/// [`CommandError::Output`], where the process cannot be started.
pub fn run_part(name: &str, words: &[OsString], time: Duration) -> Result<PartEnd, CommandError> {
    let mut command = Command::new(std::env::current_exe()?);
    // The part's tables are in its directory, and in the report.
    command.args(words).env(PART, name).stdout(Stdio::null());
    if progress::is_quiet() {
        command.arg("--quiet");
    }
    Ok(run_within(command, time, GRACE, interrupt::requested)?)
}

/// Runs a command for `time` at most. Of this time, `grace` is kept for the process to end after a request to stop, up to a small share;
/// a process that is interrupted has all of `grace`.
fn run_within(
    mut command: Command,
    time: Duration,
    grace: Duration,
    is_interrupted: impl Fn() -> bool,
) -> io::Result<PartEnd> {
    command
        .stdin(Stdio::null())
        // Ctrl-C reaches this process alone, which asks the part to stop once: a second request would end the part at once.
        .process_group(0);
    let mut child = spawn(command)?;
    let started = Instant::now();
    let kept = grace.min(time.mul_f64(GRACE_SHARE));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(of_status(status));
        }
        if is_interrupted() {
            stop(&mut child, grace)?;
            return Ok(PartEnd::Interrupted);
        }
        if started.elapsed() + kept >= time {
            // A part that had done all it was asked for is not one whose time is up.
            return Ok(match stop(&mut child, kept)?.map(of_status) {
                Some(PartEnd::Done) => PartEnd::Done,
                _ => PartEnd::OutOfTime,
            });
        }
        sleep(INTERVAL);
    }
}

fn of_status(status: ExitStatus) -> PartEnd {
    match status.code() {
        Some(0) => PartEnd::Done,
        // Another program asked the part to stop.
        Some(code) if code == i32::from(interrupt::EXIT_CODE) => PartEnd::Interrupted,
        Some(code) => PartEnd::Failed(format!("exit code {code}")),
        None => PartEnd::Failed(status.to_string()),
    }
}

/// Asks a process to stop as Ctrl-C does, and kills its process group where it does not stop within `grace`. Returns the status with which it ended
/// by itself.
fn stop(child: &mut Child, grace: Duration) -> io::Result<Option<ExitStatus>> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = |signal: Signal| {
        // The process may have ended meanwhile.
        let _ = group.map(|group| kill_process_group(group, signal));
    };
    signal(Signal::INT);
    let asked = Instant::now();
    while asked.elapsed() < grace {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(INTERVAL);
    }
    signal(Signal::KILL);
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns a shell that runs a script.
    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_process_ends_by_itself_or_with_a_code() {
        let end = |script: &str| run_within(shell(script), LONG, LONG, || false).unwrap();
        assert_eq!(end("exit 0"), PartEnd::Done);
        assert_eq!(end("exit 3"), PartEnd::Failed("exit code 3".to_owned()));
        assert_eq!(end("exit 130"), PartEnd::Interrupted);
        assert!(matches!(end("kill -KILL $$"), PartEnd::Failed(_)));
    }

    #[test]
    fn a_process_that_is_done_when_its_time_is_up_is_done() {
        // It is asked to stop after six of its eight seconds and does what is left of its work. A shell that began with the signal ignored, as
        // in the background, cannot catch it, so that this one only ignores it.
        let busy = shell("trap '' INT; sleep 6.5");
        let end = run_within(busy, Duration::from_secs(8), LONG, || false).unwrap();
        assert_eq!(end, PartEnd::Done);
    }

    #[test]
    fn a_process_that_does_not_stop_is_ended_within_its_time() {
        let started = Instant::now();
        let deaf = shell("trap '' INT; sleep 60; sleep 60");
        let end = run_within(deaf, Duration::from_secs(2), LONG, || false).unwrap();
        assert_eq!(end, PartEnd::OutOfTime);
        let elapsed = started.elapsed();
        assert!(
            elapsed >= Duration::from_secs(2) && elapsed < Duration::from_secs(30),
            "{elapsed:?}"
        );
    }

    #[test]
    fn an_interrupted_process_is_in_a_group_of_its_own_and_asked_to_stop() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("process");
        let script = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 60", place.display());
        let started = Instant::now();
        // The interrupt comes once the script runs.
        let end = run_within(shell(&script), LONG, Duration::from_secs(2), || place.exists()).unwrap();
        assert_eq!(end, PartEnd::Interrupted);
        assert!(started.elapsed() < Duration::from_secs(30));
        let process: i32 = fs::read_to_string(&place).unwrap().trim().parse().unwrap();
        // The process group is gone: it was the script's own, not that of the tests.
        assert!(rustix::process::test_kill_process_group(Pid::from_raw(process).unwrap()).is_err());
    }
}
