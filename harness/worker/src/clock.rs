//! [`Stopwatch`]: elapsed time and processor time of a piece of work.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::protocol::Time;

/// Number of readings; the quickest tells how long it takes to read the clocks.
const READINGS: usize = 100;

/// Measures elapsed and processor time from its start.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Self {
        // The elapsed time is read inside of the processor time, whose clock takes longer to read.
        let cpu = process_cpu_time();
        Self {
            wall: Instant::now(),
            cpu,
        }
    }

    /// Measures the least time that reading the clocks takes: half a microsecond of processor time, a good part of the time of a mask. The time
    /// depends on the processor and on the number of threads that the process has by now.
    pub fn reading() -> Time {
        let readings = (0..READINGS).map(|_| Self::start().elapsed());
        let least = readings.reduce(|one, other| Time {
            wall_ns: one.wall_ns.min(other.wall_ns),
            cpu_ns: one.cpu_ns.min(other.cpu_ns),
        });
        least.unwrap_or_default()
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Time {
        let wall = self.wall.elapsed();
        let cpu = process_cpu_time().saturating_sub(self.cpu);
        Time {
            wall_ns: nanoseconds(wall),
            cpu_ns: nanoseconds(cpu),
        }
    }
}

/// Processor time of this process so far, all threads.
fn process_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
