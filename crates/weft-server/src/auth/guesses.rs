//! Guesses of the operator's token, slowed by the address that they come from.
//! Signed tokens cannot be guessed, and are not slowed.

use crate::crowd::Holder;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_units::{Duration as Span, Instant};

/// Tokens that an address may try at once. Chosen by us: people who paste the
/// wrong thing, and a page that asks several times.
const AT_ONCE: u64 = 20;
/// Time between two tries then. Chosen by us: 86,400 guesses a day.
const EVERY: Span = Span::from_secs(1);
/// Most tries that wait for their turn, each up to this many times [`EVERY`].
/// Chosen by us: the right token opens within seconds, whatever others at
/// the same address try.
const WAITING: u64 = 8;
/// Most addresses that are remembered, of guesses and of right tokens. Chosen by
/// us: a megabyte. Beyond it one is forgotten for each new one.
const MOST: usize = 10_000;
/// Time for which an address that has shown the right token is not slowed.
/// Chosen by us: a working day, so that an office is not kept out by one of its
/// own.
const TRUSTED: Span = Span::from_secs(12 * 3600);

/// Tries of each address.
#[derive(Default)]
pub(crate) struct Guesses(Mutex<Tries>);

#[derive(Default)]
struct Tries {
    /// Time of the next turn of each address that tried.
    due: BTreeMap<Holder, Instant>,
    /// End of the time in which an address is not slowed, because it has shown the
    /// right token.
    trusted: BTreeMap<Holder, Instant>,
}

/// Turn of a try: the token is checked after a wait, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    After(Duration),
    /// Not at all: too many wait.
    Never,
}

impl Guesses {
    /// The turn of a try from this address that may be wrong. None is slowed
    /// from this machine, where a proxy may speak for everybody.
    pub(crate) fn turn(&self, now: Instant, from: Option<IpAddr>) -> Turn {
        let mut tries = self.lock();
        let trusted = |holder| tries.trusted.get(&holder).is_some_and(|until| *until > now);
        if subscriber(from).is_some_and(trusted) {
            return Turn::After(Duration::ZERO);
        }
        let holders = || from.into_iter().flat_map(Holder::of);
        let dues = holders().filter_map(|(holder, _)| tries.due.get(&holder));
        let ahead = dues
            .max()
            .map_or(Span::ZERO, |due| due.saturating_since(now));
        let free = EVERY * (AT_ONCE - 1);
        if ahead > free + EVERY * WAITING {
            return Turn::Never;
        }
        for (holder, times) in holders() {
            let due = tries.due.get(&holder).map_or(now, |due| now.max(*due));
            remember(&mut tries.due, holder, due + EVERY / times as u64);
        }
        Turn::After(ahead.saturating_sub(free).into())
    }

    /// The address has shown the right token.
    pub(crate) fn trust(&self, now: Instant, from: Option<IpAddr>) {
        if let Some(holder) = subscriber(from) {
            remember(&mut self.lock().trusted, holder, now + TRUSTED);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address, or the smallest network of it that one subscriber has.
fn subscriber(from: Option<IpAddr>) -> Option<Holder> {
    Holder::of(from?).next().map(|(holder, _)| holder)
}

fn remember(times: &mut BTreeMap<Holder, Instant>, holder: Holder, time: Instant) {
    if times.len() >= MOST && !times.contains_key(&holder) {
        times.pop_first();
    }
    times.insert(holder, time);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    const NOW: Instant = Instant::ZERO;

    /// Seconds for which each of so many tries waits; none if it has no turn.
    fn tries(guesses: &Guesses, now: Instant, from: &str, count: usize) -> Vec<Option<u64>> {
        let one = |_| match guesses.turn(now, ip(from)) {
            Turn::After(wait) => Some(wait.as_secs()),
            Turn::Never => None,
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn after_some_tries_each_waits_and_then_there_is_no_turn() {
        let guesses = Guesses::default();
        let first = tries(&guesses, NOW, "192.0.2.1", 1000);
        assert!(first[..20].iter().all(|wait| *wait == Some(0)));
        let waits: Vec<u64> = first.iter().flatten().copied().collect();
        assert_eq!(waits[20..], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(tries(&guesses, NOW, "192.0.2.2", 1), [Some(0)]);
        // One a second from then on, however many try.
        let all = (1..=100)
            .flat_map(|second| tries(&guesses, NOW + Span::from_secs(second), "192.0.2.1", 50));
        assert_eq!(all.flatten().count(), 100);
    }

    #[test]
    fn an_office_that_has_shown_the_right_token_is_not_slowed() {
        let guesses = Guesses::default();
        tries(&guesses, NOW, "192.0.2.1", 1000);
        guesses.trust(NOW, ip("192.0.2.1"));
        assert_eq!(tries(&guesses, NOW, "192.0.2.1", 100), [Some(0); 100]);
        let later = NOW + TRUSTED;
        assert_eq!(tries(&guesses, later, "192.0.2.1", 1000)[999], None);
    }

    #[test]
    fn a_subscriber_of_ipv6_is_one_and_memory_has_an_end() {
        let guesses = Guesses::default();
        tries(&guesses, NOW, "2001:db8::1", 1000);
        assert_eq!(tries(&guesses, NOW, "2001:db8::2", 1), [None]);
        assert_eq!(tries(&guesses, NOW, "2001:db8:0:1::1", 1), [Some(0)]);
        for n in 0..2 * MOST {
            let from = format!("2001:{n:x}::1");
            tries(&guesses, NOW, &from, 1);
            guesses.trust(NOW, ip(&from));
        }
        let tries = guesses.lock();
        assert_eq!((tries.due.len(), tries.trusted.len()), (MOST, MOST));
    }
}
