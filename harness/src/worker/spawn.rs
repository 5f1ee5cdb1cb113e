//! [`spawn`]: child processes that end with this one.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

/// A program to be started, and the channel to which its process is sent.
type Order = (Command, Sender<io::Result<Child>>);

/// The thread that starts all processes. The system ends a process with the *thread* that started it, so that this one has to
/// live as long as the program; none where it could not be made.
static STARTER: LazyLock<Option<Mutex<Sender<Order>>>> = LazyLock::new(|| {
    let (sender, receiver) = channel::<Order>();
    let work = move || {
        for (mut command, reply) in receiver {
            // Nobody waits for it any more where the run is over.
            let _ = reply.send(command.spawn());
        }
    };
    let started = thread::Builder::new().name("starter".to_owned()).spawn(work);
    started.ok().map(|_| Mutex::new(sender))
});

/// Starts a process that ends when this one does, however that ends. Only Linux can do that; elsewhere a process is to see by
/// itself that its input has ended.
///
/// # Errors
///
/// The system's error, where the process cannot be started.
pub fn spawn(mut command: Command) -> io::Result<Child> {
    end_with_parent(&mut command);
    let Some(starter) = &*STARTER else {
        return command.spawn();
    };
    let (sender, receiver) = channel();
    let order = (command, sender);
    let sent = starter.lock().unwrap_or_else(PoisonError::into_inner).send(order);
    let gone = |_| io::Error::other("the thread that starts processes has ended");
    sent.map_err(|_| gone(()))?;
    receiver.recv().map_err(|_| gone(()))?
}

#[cfg(target_os = "linux")]
fn end_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    let ask_for_signal = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have ended before there was anything to tell it by.
        match getppid() == Some(parent) {
            true => Ok(()),
            false => Err(io::ErrorKind::BrokenPipe.into()),
        }
    };
    // SAFETY: the closure makes two system calls and allocates nothing, which is allowed between fork and exec.
    #[expect(
        unsafe_code,
        reason = "the standard library offers no other way to prepare a child process"
    )]
    unsafe {
        command.pre_exec(ask_for_signal);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent(_: &mut Command) {}
