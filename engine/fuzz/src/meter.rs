//! [`Meter`]: an allocator that counts the bytes that a thread allocates, as a measure of work that is the same on every machine, and
//! the bytes that it has not freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
    static GIVEN_BACK: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which counts. A program that measures work declares it its `#[global_allocator]`.
pub struct Meter;

impl Meter {
    /// The bytes that this thread has asked for so far, whether given back or not.
    pub fn allocated() -> u64 {
        ALLOCATED.with(Cell::get)
    }

    /// The bytes that this thread has asked for and not given back.
    pub fn kept() -> u64 {
        ALLOCATED.with(Cell::get).saturating_sub(GIVEN_BACK.with(Cell::get))
    }
}

#[expect(unsafe_code, reason = "an allocator, which only counts")]
// SAFETY: everything is done by the system's allocator; counting allocates nothing, because the cell is constant.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // While a thread ends its cells are gone, and nothing is measured any more.
        let _ = ALLOCATED.try_with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = GIVEN_BACK.try_with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
        unsafe { System.dealloc(pointer, layout) }
    }
}
