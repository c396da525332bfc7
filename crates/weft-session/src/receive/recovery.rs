//! Recovery of one stream's packets from repair packets (RFC 8627 section 6.3).

mod kept;

use std::collections::VecDeque;

use weft_units::{Duration, Instant, Ssrc};
use weft_wire::ParseError;
use weft_wire::flexfec::{Parity, Repair};
use weft_wire::rtp::{self, ExtensionMap};
use weft_wire::sequence;

use kept::{Kept, Origin, WINDOW};

/// Counters of the repair packets of one stream.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ProtectionCounters {
    /// Repair packets that arrived, including discarded and broken ones.
    pub received: u64,
    /// Repair packets that recovered a lost packet.
    pub used: u64,
    /// Repair packets that were not needed, because all their packets arrived.
    pub discarded: u64,
    /// Repair packets that could not be read, that protect packets far from all others,
    /// or from which no packet of the stream was recovered.
    pub broken: u64,
}

/// Recovers packets of one stream. Keeps packets only while repair packets arrive; memory
/// is bounded for any input.
#[derive(Default, Debug)]
pub(crate) struct Recovery {
    kept: Kept,
    repairs: VecDeque<Held>,
    repaired_at: Option<Instant>,
    pub counters: ProtectionCounters,
}

/// Repair packet that lacks more than one packet.
#[derive(Debug)]
struct Held {
    base: u64,
    bits: u128,
    missing: u128,
    parity: Parity,
}

/// Recovered packet in wire form.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Recovered {
    pub sequence: u64,
    pub packet: Vec<u8>,
}

/// Time without repair packets after which packets are no longer kept. Chosen by us: a
/// protection's memory of losses.
const IN_USE: Duration = Duration::from_secs(5);
const MAX_HELD: usize = 128;

impl Recovery {
    /// Returns whether repair packets arrive, so that it is worth waiting for them.
    pub fn in_use(&self, now: Instant) -> bool {
        self.repaired_at
            .is_some_and(|at| now.saturating_since(at) < IN_USE)
    }

    /// Records a packet of the stream in wire form.
    pub fn on_packet(&mut self, now: Instant, number: u64, packet: &[u8]) {
        if !self.in_use(now) {
            self.kept.clear();
            self.repairs.clear();
            return;
        }
        if self.kept.origin(number) == Some(Origin::Recovered) {
            // The packet was not lost: the repair packet overtook it on another path.
            self.counters.used -= 1;
            self.counters.discarded += 1;
        }
        self.keep(number, Origin::Received, packet);
    }

    /// Records a retransmitted packet of the stream.
    pub fn on_retransmission(&mut self, now: Instant, number: u64) {
        if self.in_use(now) && self.kept.origin(number).is_none() {
            self.keep(number, Origin::Retransmitted, &[]);
        }
    }

    fn keep(&mut self, number: u64, origin: Origin, packet: &[u8]) {
        if !self.kept.keep(number, origin, packet) {
            return;
        }
        for held in &mut self.repairs {
            if let Some(bit) = held.bit(number) {
                held.missing &= !bit;
            }
        }
    }

    /// Takes in a repair packet. `near` is an extended sequence number of the stream.
    pub fn on_repair(&mut self, now: Instant, near: u64, payload: &[u8]) {
        self.counters.received += 1;
        self.repaired_at = Some(now);
        let Ok(Repair { mask, parity }) = Repair::parse(payload) else {
            self.counters.broken += 1;
            return;
        };
        let highest = self.kept.highest().unwrap_or(near);
        let base = sequence::extend(Some(highest), mask.base);
        if base.abs_diff(highest) > WINDOW {
            self.counters.broken += 1;
            return;
        }
        let came = |i: &u32| self.kept.is_whole(base + u64::from(*i));
        let named = |i: &u32| mask.bits >> i & 1 == 1;
        let whole = (0..u128::BITS).filter(named).filter(came);
        let whole = whole.fold(0_u128, |bits, i| bits | 1 << i);
        self.repairs.push_back(Held {
            base,
            bits: mask.bits,
            missing: mask.bits & !whole,
            parity,
        });
        if self.repairs.len() > MAX_HELD {
            self.repairs.pop_front();
            self.counters.discarded += 1;
        }
    }

    /// Returns the next packet that can be recovered, or `None`.
    pub fn poll(&mut self, ssrc: Ssrc, map: &ExtensionMap) -> Option<Recovered> {
        let mut at = 0;
        while let Some(held) = self.repairs.get(at) {
            let highest = self.kept.highest();
            let old = highest.is_some_and(|h| held.base + 2 * WINDOW < h);
            if held.missing.count_ones() > 1 && !old {
                at += 1;
                continue;
            }
            let held = self.repairs.remove(at)?;
            let sequence = held.base + u64::from(held.missing.trailing_zeros());
            if held.missing == 0 || old || self.kept.origin(sequence).is_some() {
                self.counters.discarded += 1;
                continue;
            }
            match self.recover(held, sequence, ssrc, map) {
                Ok(packet) => {
                    self.counters.used += 1;
                    self.keep(sequence, Origin::Recovered, &packet);
                    return Some(Recovered { sequence, packet });
                }
                Err(_) => self.counters.broken += 1,
            }
        }
        None
    }

    fn recover(
        &mut self,
        held: Held,
        number: u64,
        ssrc: Ssrc,
        map: &ExtensionMap,
    ) -> Result<Vec<u8>, ParseError> {
        let Held {
            base,
            bits,
            mut parity,
            ..
        } = held;
        for distance in (0..u128::BITS).filter(|i| bits >> i & 1 == 1) {
            let other = base + u64::from(distance);
            if let (true, Some(packet)) = (other != number, self.kept.get_mut(other)) {
                // In the form in which repair packets protect it.
                rtp::clear_transport_values(packet, map);
                parity.add(packet)?;
            }
        }
        parity.recover(ssrc, number as u16)
    }

    /// Rejects the last recovered packet, because it does not belong to the stream.
    pub fn refuse(&mut self, number: u64) {
        self.counters.used -= 1;
        self.counters.broken += 1;
        self.kept.forget(number);
    }
}

impl Held {
    /// Returns the bit of this packet, if the mask includes it.
    fn bit(&self, number: u64) -> Option<u128> {
        let distance = number.checked_sub(self.base).filter(|d| *d < 128)?;
        Some(1 << distance).filter(|bit| self.bits & bit != 0)
    }
}

#[cfg(test)]
mod tests;
