//! Counts the allocations of these tests' threads. The emulation's device memory is the host's, so that new memory of either
//! shows.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Number of allocations that this thread has made.
pub(super) fn allocations() -> usize {
    ALLOCATIONS.with(Cell::get)
}

/// The system's allocator, which counts.
struct CountingAllocator;

#[expect(unsafe_code, reason = "an allocator, which only counts")]
// SAFETY: everything is done by the system's allocator; counting allocates nothing, because the cell is constant.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // While a thread ends its cell is gone, and nothing is counted any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
