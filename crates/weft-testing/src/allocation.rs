//! What memory a piece of work takes. A program or test that asks installs the
//! counter as its allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: weft_testing::allocation::Counting = weft_testing::allocation::Counting;
//! ```
//!
//! Each thread counts for itself, and by itself work costs the same each time:
//! unlike time, it can be held to a bound.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counted.
#[derive(Debug)]
pub struct Counting;

/// What this thread took and gave back so far.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How often memory was taken or changed its size.
    pub calls: u64,
    /// Bytes taken.
    pub taken: u64,
    /// Bytes given back, those that other threads took included.
    pub given: u64,
    /// Most bytes that were held at once since [`measure`] began last.
    peak: i64,
}

impl Tally {
    const ZERO: Tally = Tally {
        calls: 0,
        taken: 0,
        given: 0,
        peak: 0,
    };

    /// Bytes taken and not given back.
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

/// What this thread took so far; nothing where [`Counting`] is not installed.
#[must_use]
pub fn tally() -> Tally {
    TALLY.get()
}

/// What a piece of work cost.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How often it took memory.
    pub calls: u64,
    /// Bytes that it took, whatever became of them.
    pub taken: u64,
    /// Most bytes that it held at once.
    pub peak: u64,
    /// Bytes that it holds still; negative if it gave back more than it took.
    pub kept: i64,
}

/// Does the work and says what it cost.
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

// SAFETY: every call is passed on to the system's allocator unchanged.
#[expect(unsafe_code, reason = "an allocator cannot be had without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(|tally| tally.take(layout.size()));
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(|tally| tally.take(layout.size()));
        // SAFETY: the caller keeps to the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(|tally| tally.give(layout.size()));
        // SAFETY: `pointer` came from one of the others with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(|tally| {
            tally.give(layout.size());
            tally.take(size);
        });
        // SAFETY: `pointer` came from one of the others with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    #[test]
    fn what_is_taken_given_back_and_kept_is_told_apart() {
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
