use super::*;
use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn files_of_every_format_are_read_within_the_budget() {
    Target::IMPORTS.try_parser(300, fuzz_imports);
}

/// Packets that are a day apart would need a row for each fifth of a second between them.
#[test]
fn a_jump_of_the_clock_takes_no_memory() {
    let mut periods = crate::recording::periods::Periods::default();
    periods.add(0.1, 1.0);
    periods.add(86_000.1, 1.0);
    let spans = periods.rates(86_399.9, 1.0);
    assert_eq!(spans.len(), 4, "{spans:?}");
    let total: f64 = spans
        .iter()
        .map(|span| span.value * (span.until - span.from))
        .sum();
    assert!((total - 2.0).abs() < 1e-9, "{total}");
    let gaps = spans.windows(2).map(|pair| pair[1].from - pair[0].until);
    assert!(gaps.into_iter().all(|gap| gap.abs() < 1e-6), "{spans:?}");
    assert_eq!(spans[3].until, 86_399.9);
}
