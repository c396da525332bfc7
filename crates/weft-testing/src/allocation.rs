//! Memory use of a piece of work. Programs and tests that measure it install the counter
//! as their allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: weft_testing::allocation::Counting = weft_testing::allocation::Counting;
//! ```
//!
//! Each thread counts separately, and the same work costs the same each time.
//! Unlike time, it can be compared with a bound.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// System allocator with counters.
#[derive(Debug)]
pub struct Counting;

/// Memory that this thread has taken and given back so far.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Number of allocations and reallocations.
    pub calls: u64,
    /// Bytes allocated.
    pub taken: u64,
    /// Bytes freed, including those that other threads allocated.
    pub given: u64,
    /// Peak of the held bytes since the latest start of [`measure`].
    peak: i64,
}

impl Tally {
    const ZERO: Tally = Tally {
        calls: 0,
        taken: 0,
        given: 0,
        peak: 0,
    };

    /// Bytes allocated and not freed.
    #[must_use]
    pub fn held(&self) -> i64 {
        self.taken as i64 - self.given as i64
    }

    fn take(&mut self, size: usize) {
        self.calls += 1;
        self.taken += size as u64;
        self.peak = self.peak.max(self.held());
    }

    fn give(&mut self, size: usize) {
        self.given += size as u64;
    }
}

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally::ZERO) };
}

/// Returns this thread's counters; all zero unless [`Counting`] is installed.
#[must_use]
pub fn tally() -> Tally {
    TALLY.get()
}

/// Memory cost of a piece of work.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of allocations and reallocations.
    pub calls: u64,
    /// Bytes allocated, whether freed later or not.
    pub taken: u64,
    /// Peak of the held bytes.
    pub peak: u64,
    /// Bytes still held; negative if more were freed than allocated.
    pub kept: i64,
}

/// Runs the work and returns its cost.
pub fn measure<R>(work: impl FnOnce() -> R) -> (R, Cost) {
    let before = Tally {
        peak: tally().held(),
        ..tally()
    };
    TALLY.set(before);
    let done = work();
    let after = tally();
    let cost = Cost {
        calls: after.calls - before.calls,
        taken: after.taken - before.taken,
        peak: (after.peak - before.peak) as u64,
        kept: after.held() - before.held(),
    };
    (done, cost)
}

fn count(change: impl FnOnce(&mut Tally)) {
    let mut tally = TALLY.get();
    change(&mut tally);
    TALLY.set(tally);
}

// SAFETY: every call is passed to the system's allocator unchanged.
#[expect(unsafe_code, reason = "an allocator cannot be had without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(|tally| tally.take(layout.size()));
        // SAFETY: the caller fulfils the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(|tally| tally.take(layout.size()));
        // SAFETY: the caller fulfils the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(|tally| tally.give(layout.size()));
        // SAFETY: `pointer` came from this allocator with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(|tally| {
            tally.give(layout.size());
            tally.take(size);
        });
        // SAFETY: `pointer` came from this allocator with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    #[test]
    fn acquired_released_and_kept_values_differ() {
        let (kept, cost) = measure(|| {
            drop(vec![0_u8; 5_000]);
            vec![0_u8; 1_000]
        });
        assert_eq!((cost.calls, cost.taken), (2, 6_000));
        assert_eq!((cost.peak, cost.kept), (5_000, 1_000));
        let ((), cost) = measure(|| drop(kept));
        assert_eq!((cost.calls, cost.peak, cost.kept), (0, 0, -1_000));
        let mut grown = Vec::<u8>::with_capacity(100);
        let ((), cost) = measure(|| grown.reserve_exact(300));
        assert_eq!((cost.calls, cost.taken, cost.kept), (1, 300, 200));
    }
}
