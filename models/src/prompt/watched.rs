//! [`watched`]: runs work whose use of memory and time nothing else bounds.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two checks of the memory.
const INTERVAL: Duration = Duration::from_millis(2);
/// Stack of the thread that works, in bytes of addresses: a kilobyte for each level of the deepest value that a template can make, which is
/// dropped level by level. Memory is taken only as far as the stack grows.
const STACK_BYTES: usize = 1 << 30;

/// Limits of memory and time for work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Memory that the process may grow by meanwhile, in MiB. Only Linux tells how much it has.
    pub(crate) memory_mib: u64,
    /// Elapsed time.
    pub(crate) time: Duration,
}

/// Reason why work was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GivenUp {
    /// The process grew by more memory than this, in MiB.
    #[error("takes more than {0} MiB of memory")]
    Memory(u64),
    /// The work took longer than this time.
    #[error("takes longer than {} s", .0.as_secs_f64())]
    Time(Duration),
    /// The thread could not be started, or panicked.
    #[error("could not be run")]
    NotRun,
}

/// Returns the result of `work`, which is done in a thread of its own. If the work is given up, that thread is left behind, since
/// nothing can end it; a program should then end soon.
pub(crate) fn watched<T: Send + 'static>(
    bounds: Bounds,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GivenUp> {
    let (sender, receiver) = channel();
    let (start, before) = (Instant::now(), resident_mib());
    let thread = thread::Builder::new()
        .name("watched".to_owned())
        .stack_size(STACK_BYTES);
    // Nobody receives any more where the work was given up.
    let started = thread.spawn(move || drop(sender.send(work())));
    started.map_err(|_| GivenUp::NotRun)?;
    loop {
        match receiver.recv_timeout(INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(GivenUp::NotRun),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let grown = resident_mib().unwrap_or(0).saturating_sub(before.unwrap_or(0));
        if before.is_some() && grown > bounds.memory_mib {
            return Err(GivenUp::Memory(bounds.memory_mib));
        }
        if start.elapsed() > bounds.time {
            return Err(GivenUp::Time(bounds.time));
        }
    }
}

/// Resident memory of this process, in MiB; none where the system does not tell.
fn resident_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = resident.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes >> 10)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// More than anything here takes, on a busy machine too.
    const WIDE: Bounds = Bounds {
        memory_mib: 1 << 20,
        time: Duration::from_secs(120),
    };

    #[test]
    fn work_within_its_bounds_is_done() {
        assert_eq!(watched(WIDE, || vec![1_u8; 1 << 20].len()), Ok(1 << 20));
        assert_eq!(watched(WIDE, || -> u8 { panic!("on purpose") }), Err(GivenUp::NotRun));
    }

    #[test]
    fn work_beyond_its_bounds_is_given_up() {
        let time = Duration::from_millis(300);
        let long = || thread::sleep(Duration::from_secs(120));
        assert_eq!(watched(Bounds { time, ..WIDE }, long), Err(GivenUp::Time(time)));
        if cfg!(target_os = "linux") {
            let large = || {
                // Optimisation would leave it out.
                let memory = black_box(vec![1_u8; 600 << 20]);
                thread::sleep(Duration::from_secs(5));
                memory.len()
            };
            let bounds = Bounds {
                memory_mib: 300,
                ..WIDE
            };
            assert_eq!(watched(bounds, large), Err(GivenUp::Memory(300)));
        }
    }
}
