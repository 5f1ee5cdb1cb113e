//! [`mw_par_compute_mask`]: the masks of many matchers, on several threads.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::OnceLock;

use maskwright_serving::Executor;

use crate::border::{Error, guarded, read_items};
use crate::matcher::MwMatcher;

/// A matcher, and where its mask is to be written.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MwMatcherStep {
    /// The matcher, which stands in no other step of the call.
    pub matcher: *mut MwMatcher,
    /// Memory for the mask, which lies over that of no other step.
    pub mask_dest: *mut u32,
    /// Number of bytes there: a multiple of 4, and `mw_matcher_get_mask_byte_size` at least.
    pub mask_byte_len: usize,
}

/// The function that is called once, when all masks are computed: on any thread, and maybe before the call that named it returns. It must
/// not throw, nor wait for another batch.
pub type MwCallback = Option<unsafe extern "C" fn(user_data: *const c_void)>;

/// A matcher and its row, as Rust has them.
struct Task {
    matcher: &'static mut MwMatcher,
    row: Result<&'static mut [u32], Error>,
}

impl Task {
    /// Whether the mask was computed.
    fn run(self) -> bool {
        match self.row {
            Ok(row) => self.matcher.fill(row),
            Err(error) => {
                self.matcher.fail(&error);
                false
            }
        }
    }
}

/// The threads of the library, as many as there are processors. They are started by the first call, and stay.
fn executor() -> Option<&'static Executor> {
    static EXECUTOR: OnceLock<Option<Executor>> = OnceLock::new();
    // One thread is the caller's, and need not be started.
    let start = || Executor::new(None).or_else(|_| Executor::new(Some(1))).ok();
    EXECUTOR.get_or_init(start).as_ref()
}

/// Computes the masks of `steps_len` matchers side by side, as `mw_matcher_compute_mask_into` does for each. Where `done` is null, it
/// returns when all are computed: 0, or -1 where one failed, of which `mw_matcher_get_error` tells. Otherwise it returns 0, and `done`
/// is called with `user_data` when all are computed; until then, nothing may use the matchers and masks. The steps themselves are
/// copied. What fails does not keep the others from their masks, and `done` is called in any case.
///
/// # Safety
///
/// `steps` is null or has `steps_len` steps. Of each, `matcher` is null or one that was made and not freed, and `mask_dest` is null or has
/// `mask_byte_len` bytes; no other thread uses them until the masks are computed. `done` may be called on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_par_compute_mask(
    steps: *const MwMatcherStep,
    steps_len: usize,
    user_data: *const c_void,
    done: MwCallback,
) -> i32 {
    // SAFETY: as the caller says.
    let tasks = guarded(|| unsafe { Ok(tasks(read_items(steps, steps_len, "steps")?)) });
    let (tasks, are_whole) = tasks.unwrap_or_default();
    let Some(done) = done else {
        return match guarded(|| Ok(run(tasks))) {
            Ok(true) if are_whole || steps_len == 0 => 0,
            _ => -1,
        };
    };
    let finish = Finish { done, user_data };
    let work = move || {
        let _ = guarded(|| Ok(run(tasks)));
        finish.call();
    };
    let _ = guarded(|| {
        match executor() {
            Some(executor) => executor.spawn(work),
            None => work(),
        }
        Ok(())
    });
    0
}

/// Whether all masks were computed.
fn run(tasks: Vec<Task>) -> bool {
    let results = match executor() {
        Some(executor) => executor.map(tasks, Task::run),
        None => tasks.into_iter().map(Task::run).collect(),
    };
    results.into_iter().all(|computed| computed)
}

/// The caller's function, to be called on another thread.
struct Finish {
    done: unsafe extern "C" fn(*const c_void),
    user_data: *const c_void,
}

// SAFETY: the documentation asks for a function that may be called on any thread with this data.
unsafe impl Send for Finish {}

impl Finish {
    fn call(self) {
        // SAFETY: the caller gave both for each other.
        unsafe { (self.done)(self.user_data) };
    }
}

/// The tasks of steps; false where a step has no matcher.
///
/// # Safety
///
/// The steps are as [`mw_par_compute_mask`] says.
unsafe fn tasks(steps: &[MwMatcherStep]) -> (Vec<Task>, bool) {
    let mut uses: HashMap<*mut MwMatcher, usize> = HashMap::new();
    for step in steps {
        *uses.entry(step.matcher).or_default() += 1;
    }
    let overlapping = overlapping(steps);
    let mut tasks = Vec::with_capacity(steps.len());
    let mut are_whole = true;
    for (step, overlaps) in steps.iter().zip(overlapping) {
        // One that stands twice is made once, with the error.
        let Some(uses) = uses.remove(&step.matcher) else {
            continue;
        };
        // SAFETY: the caller says that it is null or a matcher that nothing else uses until the work is done; it is taken once here.
        let Some(matcher) = (unsafe { step.matcher.as_mut() }) else {
            are_whole = false;
            continue;
        };
        let row = match (uses, overlaps) {
            (2.., _) => Err(Error::RepeatedMatcher),
            (_, true) => Err(Error::Overlap),
            // SAFETY: the caller says that the memory is there and that nothing else uses it; no other step does.
            _ => unsafe { matcher.row(step.mask_dest, step.mask_byte_len) },
        };
        tasks.push(Task { matcher, row });
    }
    (tasks, are_whole)
}

/// Returns for each step whether its mask lies over that of another.
fn overlapping(steps: &[MwMatcherStep]) -> Vec<bool> {
    let mut overlapping = vec![false; steps.len()];
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_unstable_by_key(|number| steps[*number].mask_dest.addr());
    // Of the steps so far, that whose memory ends last.
    let mut last: Option<(usize, usize)> = None;
    for number in order {
        let (start, len) = (steps[number].mask_dest.addr(), steps[number].mask_byte_len);
        if let Some((end, owner)) = last
            && start < end
            && len > 0
        {
            (overlapping[number], overlapping[owner]) = (true, true);
        }
        let end = start.saturating_add(len);
        if last.is_none_or(|(before, _)| end > before) {
            last = Some((end, number));
        }
    }
    overlapping
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_two_steps_share_is_found() {
        let step = |start: usize, mask_byte_len| MwMatcherStep {
            matcher: std::ptr::null_mut(),
            mask_dest: std::ptr::without_provenance_mut(start),
            mask_byte_len,
        };
        let steps = [
            step(80, 8),
            step(0, 40),
            step(8, 4),
            step(40, 40),
            step(20, 20),
            step(84, 0),
        ];
        assert_eq!(overlapping(&steps), [false, true, true, false, true, false]);
    }
}
