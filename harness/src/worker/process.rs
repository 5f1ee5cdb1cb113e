//! [`Process`]: a child process behind pipes, with limits.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use maskwright_worker::protocol::Misunderstood;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;

use super::failure::WorkerFailure;
use super::spawn::spawn;
use super::usage::{ProcessUsage, peak_memory};

/// Interval between two readings of a busy process's memory and processor time.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// Longest line of a reply.
const MAX_LINE_BYTES: usize = 256 << 20;
/// Largest number of raw bytes after a line.
const MAX_RAW_BYTES: usize = 64 << 20;
/// Number of bytes kept of standard error.
const SAID_BYTES: usize = 2048;
/// Longest time that a process may take to end after it closed its pipes.
const END_GRACE: Duration = Duration::from_secs(1);

/// Environment variables for mimalloc, the allocator of frameworks in Rust, unless the environment sets them: no huge pages, as making one out of
/// scattered memory may take the system 20 ms, and no memory given back to be taken anew, both in the middle of whichever mask comes upon it.
const ALLOCATOR: [(&str, &str); 2] = [("MIMALLOC_ALLOW_THP", "0"), ("MIMALLOC_PURGE_DELAY", "-1")];

/// Limits of one request to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Elapsed time. Processor time, of all threads together, may be twice that.
    pub time: Duration,
    /// Resident memory of the process, in MiB.
    pub memory_mib: u64,
}

impl Limits {
    fn cpu_time(&self) -> Duration {
        self.time * 2
    }
}

/// A reply: its line, and the raw bytes after it.
pub struct Reply {
    /// The line of JSON.
    pub line: Vec<u8>,
    /// The raw bytes that it announced.
    pub raw: Vec<u8>,
}

/// Members of a reply that announce raw bytes after its line.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    bytes: Option<usize>,
}

/// A running worker process. It is killed, with all processes it started, when this is dropped.
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// None where the process has closed it.
    errors: Option<ChildStderr>,
    /// Bytes received and not yet part of a reply.
    received: Vec<u8>,
    /// Number of bytes at the start of `received` that are known to hold no line end.
    scanned: usize,
    said: Vec<u8>,
    usage: ProcessUsage,
}

impl Process {
    /// Starts a program.
    pub fn start(program: &std::path::Path, arguments: &[String]) -> Result<Self, WorkerFailure> {
        let failed = |error: io::Error| WorkerFailure::Start {
            program: program.display().to_string(),
            message: error.to_string(),
        };
        let mut command = Command::new(program);
        for (name, value) in ALLOCATOR {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the harness, which finishes the record in hand; and the whole group can be killed.
            .process_group(0);
        let mut child = spawn(command).map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(failed(io::Error::other("it has no pipes")));
        };
        let usage = ProcessUsage::of(child.id());
        let process = Self {
            child,
            input,
            output,
            errors: Some(errors),
            received: Vec::new(),
            scanned: 0,
            said: Vec::new(),
            usage,
        };
        process.prepare().map_err(failed)?;
        Ok(process)
    }

    /// Makes the pipes non-blocking, as only `poll` may wait for them, and disables core dumps, which could take gigabytes.
    fn prepare(&self) -> io::Result<()> {
        rustix::io::ioctl_fionbio(&self.input, true)?;
        rustix::io::ioctl_fionbio(&self.output, true)?;
        if let Some(errors) = &self.errors {
            rustix::io::ioctl_fionbio(errors, true)?;
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Pid, Resource, Rlimit, prlimit};
            let none = Rlimit {
                current: Some(0),
                maximum: Some(0),
            };
            // A process that is gone already tells so when it is spoken to.
            let _ = prlimit(Pid::from_raw(self.child.id().cast_signed()), Resource::Core, none);
        }
        Ok(())
    }

    /// Largest resident memory so far, in bytes.
    pub fn peak_memory(&self) -> u64 {
        peak_memory(self.child.id()).max(self.usage.peak)
    }

    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    ///
    /// [`WorkerFailure`]; the process must not be used after a fatal one.
    pub fn exchange(&mut self, request: &[u8], limits: &Limits) -> Result<Reply, WorkerFailure> {
        let start = Instant::now();
        let mut cpu_time_before = None;
        let mut unsent = request;
        loop {
            if let Some(reply) = self.take_reply()? {
                return refused(&reply.line).map_or(Ok(reply), Err);
            }
            let elapsed = start.elapsed();
            if elapsed >= limits.time {
                return Err(WorkerFailure::TimedOut { limit: limits.time });
            }
            if elapsed >= WATCH_INTERVAL {
                // Before that, nothing is looked at: short requests are not slowed down.
                self.watch(&mut cpu_time_before, limits)?;
            }
            self.wait(!unsent.is_empty(), WATCH_INTERVAL.min(limits.time - elapsed))?;
            self.send(&mut unsent)?;
            self.listen();
            if !self.receive()? {
                // The process has ended, but may have answered before.
                return match self.take_reply()? {
                    Some(reply) => refused(&reply.line).map_or(Ok(reply), Err),
                    None => Err(self.ended()),
                };
            }
        }
    }

    /// Compares the process's use of memory and processor time with the limits.
    fn watch(&mut self, cpu_time_before: &mut Option<Duration>, limits: &Limits) -> Result<(), WorkerFailure> {
        self.usage.refresh();
        let before = *cpu_time_before.get_or_insert(self.usage.cpu_time);
        let used_mib = self.usage.memory >> 20;
        if used_mib > limits.memory_mib {
            return Err(WorkerFailure::OutOfMemory {
                used_mib,
                limit_mib: limits.memory_mib,
            });
        }
        if self.usage.cpu_time.saturating_sub(before) > limits.cpu_time() {
            return Err(WorkerFailure::OutOfCpuTime {
                limit: limits.cpu_time(),
            });
        }
        Ok(())
    }

    /// Waits until a pipe is ready, or `timeout` has passed.
    fn wait(&self, sending: bool, timeout: Duration) -> Result<(), WorkerFailure> {
        let mut pipes = vec![PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)];
        if let Some(errors) = &self.errors {
            pipes.push(PollFd::from_borrowed_fd(errors.as_fd(), PollFlags::IN));
        }
        if sending {
            pipes.push(PollFd::from_borrowed_fd(self.input.as_fd(), PollFlags::OUT));
        }
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut pipes, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(WorkerFailure::Protocol {
                message: format!("waiting for it failed: {error}"),
            }),
        }
    }

    fn send(&mut self, unsent: &mut &[u8]) -> Result<(), WorkerFailure> {
        while !unsent.is_empty() {
            match self.input.write(unsent) {
                Ok(written) => *unsent = &unsent[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.ended()),
            }
        }
        Ok(())
    }

    /// Reads the bytes of output that have arrived. Returns false at the end of the output.
    fn receive(&mut self) -> Result<bool, WorkerFailure> {
        let mut chunk = [0; 1 << 14];
        loop {
            match self.output.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(read) => self.received.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(WorkerFailure::Protocol {
                        message: format!("reading its output failed: {error}"),
                    });
                }
            }
            if self.received.len() > MAX_LINE_BYTES + MAX_RAW_BYTES {
                return Err(WorkerFailure::Protocol {
                    message: format!("a reply of more than {MAX_LINE_BYTES} bytes"),
                });
            }
        }
    }

    /// Reads what a pipe holds of standard error, and keeps its last bytes. A worker that writes faster than it is read is no reason not to look
    /// at its limits.
    fn listen(&mut self) {
        let mut chunk = [0; 4096];
        for _ in 0..16 {
            let Some(errors) = &mut self.errors else { break };
            match errors.read(&mut chunk) {
                // Closed: it would be ready at every look.
                Ok(0) => self.errors = None,
                Ok(read) => {
                    self.said.extend_from_slice(&chunk[..read]);
                    let surplus = self.said.len().saturating_sub(SAID_BYTES);
                    self.said.drain(..surplus);
                }
                Err(_) => break,
            }
        }
    }

    /// Returns the reply once it has arrived whole.
    fn take_reply(&mut self) -> Result<Option<Reply>, WorkerFailure> {
        let Some(end) = self.received[self.scanned..].iter().position(|&byte| byte == b'\n') else {
            self.scanned = self.received.len();
            return Ok(None);
        };
        let end = self.scanned + end + 1;
        let head: Head = serde_json::from_slice(&self.received[..end]).map_err(|error| WorkerFailure::Protocol {
            message: format!("a reply is not JSON: {error}"),
        })?;
        let raw = head.bytes.unwrap_or(0);
        if raw > MAX_RAW_BYTES {
            return Err(WorkerFailure::Protocol {
                message: format!("a reply announces {raw} raw bytes"),
            });
        }
        if self.received.len() < end + raw {
            return Ok(None);
        }
        let rest = self.received.split_off(end + raw);
        let mut line = std::mem::replace(&mut self.received, rest);
        let raw = line.split_off(end);
        self.scanned = 0;
        Ok(Some(Reply { line, raw }))
    }

    /// The failure of a process whose pipes are closed.
    fn ended(&mut self) -> WorkerFailure {
        let deadline = Instant::now() + END_GRACE;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) => break "it closed its pipes".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        self.listen();
        WorkerFailure::Crashed {
            status,
            said: String::from_utf8_lossy(&self.said).into_owned(),
        }
    }
}

/// Returns the failure that a reply reports.
fn refused(line: &[u8]) -> Option<WorkerFailure> {
    let misunderstood: Misunderstood = serde_json::from_slice(line).ok()?;
    Some(WorkerFailure::Refused {
        message: misunderstood.error,
    })
}

impl Drop for Process {
    fn drop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Whether there is still something to kill does not matter.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
