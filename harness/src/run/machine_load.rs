//! [`LoadWatch`]: detects that other programs kept the machine busy while a run measured times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between two readings of the number of tasks that want a processor.
const INTERVAL: Duration = Duration::from_millis(100);
/// Smallest number of readings for a warning.
const FEWEST_LOOKS: usize = 10;
/// Share by which measurements of the same thing may differ, at the median, without a warning.
const SPREAD: f64 = 0.2;

/// Counts the tasks that want a processor until it is finished. Only Linux tells their number; on other systems there is no warning.
#[derive(Debug)]
pub struct LoadWatch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<usize>>>,
}

impl LoadWatch {
    /// Starts to count.
    pub fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let work = move || {
            let mut looks = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                // This thread is one of them.
                looks.extend(running_tasks().map(|tasks| tasks.saturating_sub(1)));
                thread::park_timeout(INTERVAL);
            }
            looks
        };
        Self {
            stop,
            thread: thread::Builder::new().name("load".to_owned()).spawn(work).ok(),
        }
    }

    /// Stops counting, and returns a warning where the machine was busy: more tasks wanted a processor than it has, so that some waited.
    pub fn finish(mut self) -> Option<String> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        let looks = thread.join().ok()?;
        let processors = sysinfo::System::new_with_specifics(
            sysinfo::RefreshKind::nothing().with_cpu(sysinfo::CpuRefreshKind::nothing()),
        );
        warning(&looks, processors.cpus().len())
    }
}

fn warning(looks: &[usize], processors: usize) -> Option<String> {
    let mean = looks.iter().sum::<usize>() as f64 / looks.len().max(1) as f64;
    let is_busy = looks.len() >= FEWEST_LOOKS && processors > 0 && mean > 1.25 * processors as f64 + 0.25;
    is_busy.then(|| {
        format!(
            "WARNING: the machine was busy: {mean:.1} tasks on average wanted its {processors} processors, so that times are longer than \
             they would be, and unevenly so."
        )
    })
}

/// Number of tasks of the machine that run or wait for a processor.
fn running_tasks() -> Option<usize> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    load.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

/// Returns a warning where repeated measurements differ much; `totals` has the measurements of each question.
pub fn spread_warning<'a>(totals: impl IntoIterator<Item = &'a [f64]>) -> Option<String> {
    let mut spreads: Vec<f64> = totals
        .into_iter()
        .filter(|times| times.len() > 1)
        .map(|times| {
            let (low, high) = times.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), time| {
                (low.min(*time), high.max(*time))
            });
            (high - low) / low.max(f64::MIN_POSITIVE)
        })
        .collect();
    spreads.sort_unstable_by(f64::total_cmp);
    let median = *spreads.get(spreads.len() / 2)?;
    (median > SPREAD).then(|| {
        format!(
            "WARNING: repeated measurements of the same question differ by {:.0} % at the median: times of this run are not to be relied on.",
            100.0 * median
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_told_and_an_idle_one_is_not() {
        assert_eq!(warning(&[2; 20], 2), None);
        assert_eq!(warning(&[9; 5], 2), None, "too few looks");
        assert!(warning(&[5; 20], 2).is_some_and(|text| text.contains("5.0 tasks")));
        assert_eq!(LoadWatch::start().finish(), None, "no time to look");
    }

    #[test]
    fn measurements_that_differ_are_told() {
        let spread = |totals: &[&[f64]]| spread_warning(totals.iter().copied());
        assert_eq!(
            spread(&[&[1.0, 1.1], &[1.0, 5.0], &[2.0, 2.1]]),
            None,
            "one is an accident"
        );
        assert!(spread(&[&[1.0, 1.5], &[1.0, 1.4], &[2.0]]).is_some_and(|text| text.contains("50 %")));
        assert_eq!(spread(&[&[1.0]]), None);
    }
}
