//! Rate limit on guesses of the operator's token, by address. Signed tokens
//! cannot be guessed and are not limited.

use crate::connection_limit::AddressPrefix;
use crate::problem::Problem;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_units::{Duration as Span, Instant};

/// Burst of tokens that an address may try. Chosen by us: people who paste the
/// wrong text, and a page that asks several times.
const AT_ONCE: u64 = 20;
/// Interval of further tries. Chosen by us: 86,400 guesses a day.
const EVERY: Span = Span::from_secs(1);
/// Maximum number of waiting tries of an address; each waits for at most this
/// many times [`EVERY`]. Chosen by us: the right token is admitted within
/// seconds, regardless of other tries from the same address.
const WAITING: u64 = 8;
/// Maximum number of remembered addresses, for guesses and for right tokens.
/// Chosen by us: a megabyte. Beyond it, each new one replaces an old one.
const MOST: usize = 10_000;
/// Time without a limit for an address that has shown the right token. Chosen
/// by us: a working day, so that one person in an office cannot lock out the
/// others.
const TRUSTED: Span = Span::from_secs(12 * 3600);

/// Recent tries per address.
#[derive(Default)]
pub(crate) struct Guesses(Mutex<Tries>);

#[derive(Default)]
struct Tries {
    /// Time of the next turn of each address that tried.
    due: BTreeMap<AddressPrefix, Instant>,
    /// End of the unlimited time of each address that has shown the right
    /// token.
    trusted: BTreeMap<AddressPrefix, Instant>,
}

/// Decision about a try: check the token after a delay, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    After(Duration),
    /// Refuse it; too many are waiting.
    Never,
}

impl Guesses {
    /// Turn of a try from this address whose token may be wrong. Tries from
    /// this machine are not limited, because a proxy may send them for many
    /// clients.
    fn turn(&self, now: Instant, from: Option<IpAddr>) -> Turn {
        let mut tries = self.lock();
        let trusted = |prefix| tries.trusted.get(&prefix).is_some_and(|until| *until > now);
        if subscriber(from).is_some_and(trusted) {
            return Turn::After(Duration::ZERO);
        }
        let prefixes = || from.into_iter().flat_map(AddressPrefix::of);
        let dues = prefixes().filter_map(|(prefix, _)| tries.due.get(&prefix));
        let ahead = dues
            .max()
            .map_or(Span::ZERO, |due| due.saturating_since(now));
        let free = EVERY * (AT_ONCE - 1);
        if ahead > free + EVERY * WAITING {
            return Turn::Never;
        }
        for (prefix, times) in prefixes() {
            let due = tries.due.get(&prefix).map_or(now, |due| now.max(*due));
            remember(&mut tries.due, prefix, due + EVERY / times as u64);
        }
        Turn::After(ahead.saturating_sub(free).into())
    }

    /// Waits for the turn of a try, or refuses it unchecked.
    pub(crate) async fn wait(&self, now: Instant, from: Option<IpAddr>) -> Result<(), Problem> {
        match self.turn(now, from) {
            Turn::Never => {
                Err(Problem::too_many("your address", "wrong tokens").of_kind("token_guesses"))
            }
            Turn::After(wait) => {
                if !wait.is_zero() {
                    tokio::time::sleep(wait).await;
                }
                Ok(())
            }
        }
    }

    /// Records that the address has shown the right token.
    pub(crate) fn trust(&self, now: Instant, from: Option<IpAddr>) {
        if let Some(prefix) = subscriber(from) {
            remember(&mut self.lock().trusted, prefix, now + TRUSTED);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Address, or the smallest network of it that one subscriber has.
fn subscriber(from: Option<IpAddr>) -> Option<AddressPrefix> {
    AddressPrefix::of(from?).next().map(|(prefix, _)| prefix)
}

fn remember(times: &mut BTreeMap<AddressPrefix, Instant>, prefix: AddressPrefix, time: Instant) {
    if times.len() >= MOST && !times.contains_key(&prefix) {
        times.pop_first();
    }
    times.insert(prefix, time);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    const NOW: Instant = Instant::ZERO;

    /// Delay in seconds of each of this many tries; `None` if it is refused.
    fn tries(guesses: &Guesses, now: Instant, from: &str, count: usize) -> Vec<Option<u64>> {
        let one = |_| match guesses.turn(now, ip(from)) {
            Turn::After(wait) => Some(wait.as_secs()),
            Turn::Never => None,
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn guesses_are_slowed_and_then_refused() {
        let guesses = Guesses::default();
        let first = tries(&guesses, NOW, "192.0.2.1", 1000);
        assert!(first[..20].iter().all(|wait| *wait == Some(0)));
        let waits: Vec<u64> = first.iter().flatten().copied().collect();
        assert_eq!(waits[20..], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(tries(&guesses, NOW, "192.0.2.2", 1), [Some(0)]);
        // From then on one per second, regardless of the number of tries.
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
