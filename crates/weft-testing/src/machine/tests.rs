use super::{ALONE, where_the_machine_keeps_up};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_test_that_fails_beside_others_is_tried_alone() {
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    where_the_machine_keeps_up(|| {
        let tried = TRIED.fetch_add(1, Ordering::Relaxed);
        assert!(tried > 0, "this one is meant to fail");
    });
    assert_eq!(TRIED.load(Ordering::Relaxed), 2);
}

#[test]
fn a_test_that_fails_alone_fails_unless_the_machine_did() {
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    let result = catch_unwind(|| {
        where_the_machine_keeps_up(|| {
            TRIED.fetch_add(1, Ordering::Relaxed);
            panic!("this one is meant to fail");
        });
    });
    let tried = TRIED.load(Ordering::Relaxed);
    // Skipped only after all attempts.
    assert!(result.is_err() && tried >= 2 || tried == 1 + ALONE);
}
