//! An allocator that remembers the largest request: of each thread, for tests that run beside others, and of all threads.

#![allow(dead_code, reason = "each program that includes this file asks for one of the two")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest single allocation for a file of a few kilobytes: readers keep buffers of this order.
pub const MOST: usize = 64 << 20;

thread_local! {
    static LARGEST_HERE: Cell<usize> = const { Cell::new(0) };
}

static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Watched;

fn note(size: usize) {
    LARGEST.fetch_max(size, Ordering::Relaxed);
    // A thread that is ending has no thread-local values any more; its requests do not matter.
    let _ = LARGEST_HERE.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// The largest request of any thread since [`forget_largest`].
pub fn largest_of_all_threads() -> usize {
    LARGEST.load(Ordering::Relaxed)
}

/// The largest request of this thread since it called [`forget_largest`].
pub fn largest_of_this_thread() -> usize {
    LARGEST_HERE.get()
}

/// Reset the record of all threads, and of this one.
pub fn forget_largest() {
    LARGEST.store(0, Ordering::Relaxed);
    LARGEST_HERE.set(0);
}
