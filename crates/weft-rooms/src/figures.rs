//! Rate limit on link statistics in a room.

use std::collections::{BTreeMap, VecDeque};

use weft_units::{Deadline, Duration, Instant};

/// Interval between the statistics of two participants in one room, and the
/// burst after a pause. Every page in the room reads all of them. Chosen by us:
/// reports of up to twenty senders, once a second each, pass unchanged; with
/// more senders, each page gets the latest statistics in turn.
const EVERY: Duration = Duration::from_millis(50);
const AT_ONCE: u64 = 20;

/// Participants whose link statistics are waiting to be announced.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    rooms: BTreeMap<String, Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Time at which everything announced so far conforms to the rate (the
    /// generic cell rate algorithm, ITU-T I.371).
    due: Instant,
    /// Waiting participants in order, each once.
    waiting: VecDeque<String>,
}

impl Queue {
    fn next(&self) -> Instant {
        self.due.saturating_sub(EVERY * (AT_ONCE - 1))
    }
}

impl Figures {
    /// Marks a participant of the room as having new statistics.
    pub(crate) fn add(&mut self, room: &str, id: &str) {
        let queue = self.rooms.entry(room.to_owned()).or_default();
        if !queue.waiting.iter().any(|other| other == id) {
            queue.waiting.push_back(id.to_owned());
        }
    }

    /// Returns the next participant to announce by now: room and id.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(String, String)> {
        self.rooms
            .retain(|_, queue| !queue.waiting.is_empty() || queue.due > now);
        let may =
            |(_, queue): &(&String, &mut Queue)| !queue.waiting.is_empty() && queue.next() <= now;
        let (room, queue) = self.rooms.iter_mut().find(may)?;
        queue.due = queue.due.max(now) + EVERY;
        Some((room.clone(), queue.waiting.pop_front()?))
    }

    /// Time of the next announcement.
    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        let waiting = self.rooms.values().filter(|q| !q.waiting.is_empty());
        let at = waiting.map(Queue::next).min()?;
        Some(Deadline {
            at,
            reason: "figures of links",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_hears_of_everybody_in_turn_at_its_pace() {
        let mut figures = Figures::default();
        let start = Instant::ZERO + Duration::from_secs(9);
        let mut told: BTreeMap<String, u64> = BTreeMap::new();
        // A hundred participants report five times a second each, for ten
        // seconds.
        for step in 0..50 {
            let now = start + Duration::from_millis(200) * step;
            for who in 0..100 {
                figures.add("r", &format!("p{who}"));
            }
            while let Some((_, id)) = figures.poll(now) {
                *told.entry(id).or_default() += 1;
            }
        }
        let total: u64 = told.values().sum();
        assert!((195..=220).contains(&total), "{total} in ten seconds");
        assert_eq!(told.len(), 100);
        assert!(told.values().all(|count| (1..=3).contains(count)));
    }

    #[test]
    fn another_room_does_not_wait_and_an_idle_one_is_forgotten() {
        let mut figures = Figures::default();
        let now = Instant::ZERO + Duration::from_secs(9);
        for who in 0..100 {
            figures.add("busy", &format!("p{who}"));
        }
        while figures.poll(now).is_some() {}
        let next = |figures: &Figures| figures.poll_timeout().map(|d| d.at);
        assert_eq!(next(&figures), Some(now + EVERY));
        figures.add("quiet", "p");
        assert_eq!(
            figures.poll(now),
            Some(("quiet".to_owned(), "p".to_owned()))
        );
        let mut later = now;
        while let Some(at) = next(&figures) {
            later = later.max(at);
            assert!(figures.poll(later).is_some());
        }
        assert_eq!(later, now + EVERY * 80);
        assert_eq!(figures.poll(later + Duration::from_secs(10)), None);
        assert!(figures.rooms.is_empty());
    }
}
