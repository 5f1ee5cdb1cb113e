//! [`ProcessUsage`]: memory and processor time of another process.

use std::time::Duration;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Memory and processor time of a process at the last reading.
pub struct ProcessUsage {
    system: System,
    pid: Pid,
    /// Resident memory, in bytes.
    pub memory: u64,
    /// Largest resident memory seen, in bytes.
    pub peak: u64,
    /// Processor time so far, all threads.
    pub cpu_time: Duration,
}

impl ProcessUsage {
    /// The use of the process `pid`, which has only just started.
    pub fn of(pid: u32) -> Self {
        Self {
            system: System::new(),
            pid: Pid::from_u32(pid),
            memory: 0,
            peak: 0,
            cpu_time: Duration::ZERO,
        }
    }

    /// Reads the figures again. A process that is gone keeps its last figures.
    pub fn refresh(&mut self) {
        let what = ProcessRefreshKind::nothing().with_memory().with_cpu().without_tasks();
        self.system
            .refresh_processes_specifics(ProcessesToUpdate::Some(&[self.pid]), false, what);
        if let Some(process) = self.system.process(self.pid) {
            self.memory = process.memory();
            self.peak = self.peak.max(self.memory);
            self.cpu_time = Duration::from_millis(process.accumulated_cpu_time());
        }
    }
}

/// Returns the largest resident memory that a process ever had, in bytes, where the system records that; 0 elsewhere.
pub fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}
