/// Length of the replay window in packets. Libraries use 64 to 1024; if a stream of
/// 20,000 packets a second is spread over paths with 200 ms of skew, its packets are up
/// to 4,000 apart. Chosen by us: see the test `far_back`.
pub(super) const WINDOW: u64 = 8192;

/// One word more than the window needs, so that the word being filled is never one that
/// is still read.
const WORDS: usize = WINDOW as usize / 64 + 1;

/// Set of the indices seen, in a window below the highest one (RFC 3711 section 3.3.2).
#[derive(Clone)]
pub(super) struct ReplayWindow {
    highest: Option<u64>,
    seen: Box<[u64; WORDS]>,
}

/// Reason why an index is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    Seen,
    TooOld,
}

impl ReplayWindow {
    pub fn new() -> ReplayWindow {
        ReplayWindow {
            highest: None,
            seen: Box::new([0; WORDS]),
        }
    }

    /// Returns the index of this sequence number that is nearest to the highest index
    /// seen (RFC 3711 section 3.3.1). A stream starts with rollover counter zero. `None`
    /// if it would be before the first index.
    pub fn extend(&self, sequence: u16) -> Option<u64> {
        let Some(highest) = self.highest else {
            return Some(u64::from(sequence));
        };
        let ahead = sequence.wrapping_sub(highest as u16) as i16;
        highest.checked_add_signed(i64::from(ahead))
    }

    /// Whether the index is new.
    pub fn check(&self, index: u64) -> Result<(), Refused> {
        let Some(highest) = self.highest else {
            return Ok(());
        };
        if index > highest {
            return Ok(());
        }
        if highest - index >= WINDOW {
            return Err(Refused::TooOld);
        }
        let (word, bit) = place(index);
        if self.seen[word] & bit == 0 {
            Ok(())
        } else {
            Err(Refused::Seen)
        }
    }

    /// Marks an index that [`ReplayWindow::check`] accepted.
    pub fn accept(&mut self, index: u64) {
        let highest = *self.highest.get_or_insert(index);
        if index > highest {
            let (from, to) = (highest / 64, index / 64);
            if to - from >= WORDS as u64 {
                self.seen.fill(0);
            } else {
                for word in from + 1..=to {
                    self.seen[(word % WORDS as u64) as usize] = 0;
                }
            }
            self.highest = Some(index);
        }
        let (word, bit) = place(index);
        self.seen[word] |= bit;
    }
}

fn place(index: u64) -> (usize, u64) {
    ((index / 64 % WORDS as u64) as usize, 1 << (index % 64))
}
