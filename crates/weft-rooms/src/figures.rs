//! Rate limit on link statistics in a room.

use std::collections::{BTreeMap, VecDeque};

use weft_units::{Bytes, Deadline, Duration, Instant, Rate};

use crate::LinkReport;

/// Minimum interval between the statistics of two participants in one room, and the burst
/// after a pause. Every page in the room reads all of them. Chosen by us: reports of up
/// to twenty senders, once a second each, pass unchanged; with more senders, each page
/// gets the latest statistics in turn.
const EVERY: Duration = Duration::from_millis(50);
const AT_ONCE: u64 = 20;
/// Maximum rate at which a page of the room gets them. Chosen by us: three links of each
/// of twenty senders, at most 200 bytes each. A report of many links with long names has
/// twenty times the size of an ordinary one, and everybody in the room gets it.
const RATE: Rate = Rate::from_kbps(100);
/// Bytes of an event around its reports: the participant's id, and the framing of JSON and
/// of the event stream.
const AROUND: usize = 80;

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

    /// Returns the next participant to announce by now: room and id. Call
    /// [`spend`](Figures::spend) for each announcement before the next call.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(String, String)> {
        self.rooms
            .retain(|_, queue| !queue.waiting.is_empty() || queue.due > now);
        let may =
            |(_, queue): &(&String, &mut Queue)| !queue.waiting.is_empty() && queue.next() <= now;
        let (room, queue) = self.rooms.iter_mut().find(may)?;
        Some((room.clone(), queue.waiting.pop_front()?))
    }

    /// Accounts for statistics that the room's pages get now.
    pub(crate) fn spend(&mut self, now: Instant, room: &str, links: &[LinkReport]) {
        if let Some(queue) = self.rooms.get_mut(room) {
            let reports = serde_json::to_vec(links).map_or(0, |json| json.len());
            let size = Bytes((AROUND + reports) as u64);
            let takes = RATE.time_for(size).unwrap_or(EVERY).max(EVERY);
            queue.due = queue.due.max(now) + takes;
        }
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

    fn next(figures: &mut Figures, now: Instant) -> Option<(String, String)> {
        let next = figures.poll(now);
        if let Some((room, _)) = &next {
            figures.spend(now, room, &[]);
        }
        next
    }

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
            while let Some((_, id)) = next(&mut figures, now) {
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
        while next(&mut figures, now).is_some() {}
        let due = |figures: &Figures| figures.poll_timeout().map(|d| d.at);
        assert_eq!(due(&figures), Some(now + EVERY));
        figures.add("quiet", "p");
        assert_eq!(
            next(&mut figures, now),
            Some(("quiet".to_owned(), "p".to_owned()))
        );
        let mut later = now;
        while let Some(at) = due(&figures) {
            later = later.max(at);
            assert!(next(&mut figures, later).is_some());
        }
        assert_eq!(later, now + EVERY * 80);
        assert_eq!(figures.poll(later + Duration::from_secs(10)), None);
        assert!(figures.rooms.is_empty());
    }
}
