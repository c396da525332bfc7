//! Evaluation of the packet log by arithmetic that does not use the model.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weft_emu::{Fate, PacketLog, PacketRecord};
use weft_links::WiredDirection;
use weft_units::{Bytes, Instant};

/// Returns the rate in bits per second at which queued packets arrived. Each packet
/// counts for the time since the previous one.
pub fn busy_rate(packets: &PacketLog) -> Option<f64> {
    let (mut bytes, mut nanos) = (0, 0);
    let mut before: Option<Instant> = None;
    for record in forward(packets).filter(|r| r.fate == Fate::Delivered) {
        let arrived = record.ended + record.late;
        if record.queued_for.as_nanos() > 0
            && let Some(before) = before
        {
            bytes += record.size.0;
            nanos += arrived.saturating_since(before).as_nanos();
        }
        before = Some(arrived);
    }
    (nanos > 0).then(|| bytes as f64 * 8.0 / (nanos as f64 / 1e9))
}

/// Counts packets that were dropped although a queue of `limit` bytes had room, or
/// accepted although it had none.
pub fn queue_faults(packets: &PacketLog, limit: u64) -> usize {
    let mut records: Vec<PacketRecord> = forward(packets).collect();
    records.sort_by_key(|r| r.entered);
    // A packet after the last delivered one may have met packets in the queue that the
    // log lacks, because the run ended before they left.
    let is_known = |r: &PacketRecord| r.fate == Fate::Delivered;
    let known = records
        .iter()
        .rposition(is_known)
        .map_or(0, |last| last + 1);
    records.truncate(known);
    let mut waiting = BinaryHeap::new();
    let mut backlog = Bytes::ZERO;
    let mut faults = 0;
    for record in &records {
        while let Some(Reverse((start, size))) = waiting.peek().copied()
            && start <= record.entered
        {
            backlog -= size;
            waiting.pop();
        }
        let has_room = (backlog + record.size).0 <= limit;
        let was_taken = record.fate == Fate::Delivered;
        // A packet that finds the link idle needs no queue space.
        let waits = record.queued_for.as_nanos() > 0 || !was_taken;
        faults += usize::from(waits && has_room != was_taken);
        if was_taken && waits {
            waiting.push(Reverse((record.entered + record.queued_for, record.size)));
            backlog += record.size;
        }
    }
    faults
}

/// Time in which the host of a virtual machine ran others while this one was ready to
/// run, summed over all processors: `/proc/stat`, "steal" (proc(5)), in seconds.
pub fn stolen_s() -> f64 {
    /// USER_HZ of every relevant architecture.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let words = stat.lines().next().unwrap_or_default().split_whitespace();
    words
        .skip(8)
        .find_map(|word| word.parse::<f64>().ok())
        .unwrap_or(0.0)
        / TICKS
}

fn forward(packets: &PacketLog) -> impl Iterator<Item = PacketRecord> + '_ {
    packets
        .iter()
        .filter(|r| r.station == WiredDirection::Forward.station())
}
