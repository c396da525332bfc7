//! Recent packets of a stream, for the repair packets that protect them.

/// Longest distance of protected packets: the span of repair packets and the skew of
/// paths, at a thousand packets a second.
pub(super) const WINDOW: u64 = 512;
/// Longest packet that is kept, so that memory is bounded. Chosen by us: more than an
/// Ethernet frame holds.
const MAX_LEN: usize = 2_000;

/// Origin of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// Received as first sent.
    Received,
    /// Recovered from a repair packet.
    Recovered,
    /// Received as a retransmission, which has lost the original header, or too long to
    /// keep: repair packets cannot use it.
    Retransmitted,
}

/// Ring of packets by extended sequence number. Each new packet reuses the slot and the
/// memory of one that has left the window.
#[derive(Default, Debug)]
pub(super) struct Kept {
    slots: Vec<Slot>,
    highest: Option<u64>,
}

#[derive(Clone, Debug)]
struct Slot {
    number: Option<u64>,
    origin: Origin,
    packet: Vec<u8>,
}

impl Kept {
    /// Returns the highest number so far.
    pub fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// Forgets the packets and frees their memory.
    pub fn clear(&mut self) {
        self.slots = Vec::new();
    }

    /// Returns the origin of the packet with this number, if it is recent.
    pub fn origin(&self, number: u64) -> Option<Origin> {
        let slot = self.slots.get(place(number))?;
        let is_kept = slot.number == Some(number) && !self.is_old(number);
        is_kept.then_some(slot.origin)
    }

    /// Returns whether the packet with this number is stored whole.
    pub fn is_whole(&self, number: u64) -> bool {
        self.origin(number)
            .is_some_and(|origin| origin != Origin::Retransmitted)
    }

    /// Returns the packet with this number, if it is stored whole.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut [u8]> {
        let is_whole = self.is_whole(number);
        let slot = self.slots.get_mut(place(number)).filter(|_| is_whole)?;
        Some(&mut slot.packet)
    }

    /// Stores a packet unless it is already stored whole, or is too old. Returns whether
    /// it has become whole with this call.
    pub fn keep(&mut self, number: u64, origin: Origin, packet: &[u8]) -> bool {
        self.highest = self.highest.max(Some(number));
        if self.is_old(number) {
            return false;
        }
        if self.is_whole(number) {
            if origin == Origin::Received {
                self.slots[place(number)].origin = origin;
            }
            return false;
        }
        if self.slots.is_empty() {
            let vacant = Slot {
                number: None,
                origin: Origin::Retransmitted,
                packet: Vec::new(),
            };
            self.slots = vec![vacant; WINDOW as usize + 1];
        }
        let fits = packet.len() <= MAX_LEN;
        let slot = &mut self.slots[place(number)];
        slot.number = Some(number);
        slot.origin = if fits { origin } else { Origin::Retransmitted };
        slot.packet.clear();
        slot.packet
            .extend_from_slice(if fits { packet } else { &[] });
        slot.origin != Origin::Retransmitted
    }

    /// Forgets one packet.
    pub fn forget(&mut self, number: u64) {
        let slot = self.slots.get_mut(place(number));
        if let Some(slot) = slot.filter(|slot| slot.number == Some(number)) {
            slot.number = None;
        }
    }

    fn is_old(&self, number: u64) -> bool {
        self.highest
            .is_some_and(|highest| number.saturating_add(WINDOW) < highest)
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.slots.iter().map(|slot| slot.packet.capacity()).sum()
    }
}

fn place(number: u64) -> usize {
    (number % (WINDOW + 1)) as usize
}
