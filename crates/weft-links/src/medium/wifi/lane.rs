//! Frames of one category of a station for one receiver.

use super::control::{Attempt, Frames};
use super::timing::Timing;
use crate::DropReason;
use crate::discipline::Discipline;
use crate::medium::port::Port;
use crate::queue::Item;
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant};

/// Queue, preceded by the window of frames that were taken out of it and are not all
/// delivered: frames in transmission, frames to retransmit, and frames that the receiver
/// holds until the missing ones before them arrive or are abandoned.
pub(super) struct Lane<P> {
    pub receiver: usize,
    pub queue: Discipline<P>,
    window: VecDeque<Frame<P>>,
}

struct Frame<P> {
    item: Item<P>,
    /// Waiting time at its first transmission.
    queued_for: Option<Duration>,
    failures: u32,
    state: FrameState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameState {
    Waiting,
    /// Whether it comes through, if the transmission is answered.
    OnAir {
        intact: bool,
    },
    Received,
}

/// Frames of one transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Burst {
    pub frames: u32,
    /// Number of retransmissions among the frames.
    pub again: u32,
    /// Number of frames that come through if there is an answer.
    pub intact: u32,
    /// Length as one PSDU.
    pub bytes: u64,
}

/// Limits of a transmission.
#[derive(Clone, Copy)]
struct Budget {
    frames: usize,
    bytes: u64,
}

impl<P> Lane<P> {
    pub fn new(receiver: usize, queue: Discipline<P>) -> Lane<P> {
        Lane {
            receiver,
            queue,
            window: VecDeque::new(),
        }
    }

    /// Whether it has no frame to transmit.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.window.iter().all(|f| f.state != FrameState::Waiting)
    }

    /// Returns the arrival time of the first frame to transmit.
    pub fn oldest(&self) -> Option<Instant> {
        let mut waiting = self
            .window
            .iter()
            .filter(|f| f.state == FrameState::Waiting);
        let first = waiting.next().map(|f| f.item.enqueued);
        first.or_else(|| self.queue.oldest())
    }

    /// Returns the sizes of the frames that were taken out of the queue and are not
    /// delivered.
    pub fn held(&self) -> impl Iterator<Item = Bytes> {
        self.window.iter().map(|f| f.item.info.size)
    }

    /// Removes all packets.
    pub fn clear(&mut self) -> impl Iterator<Item = Item<P>> {
        let queue = &mut self.queue;
        let taken = self.window.drain(..).map(|f| f.item);
        taken.chain(std::iter::from_fn(move || queue.remove()))
    }

    /// Takes the frames to transmit from `now` on, retransmissions first. `intact`
    /// returns whether a frame of this length, which ends after this many bytes of the
    /// transmission, comes through.
    pub fn transmit(
        &mut self,
        now: Instant,
        timing: &Timing,
        attempt: &Attempt,
        txop: Duration,
        port: &mut Port<P>,
        mut intact: impl FnMut(u64, u64) -> bool,
    ) -> Option<Burst> {
        let budget = Budget::of(timing, attempt, txop);
        let mut burst = Burst {
            frames: 0,
            again: 0,
            intact: 0,
            bytes: 0,
        };
        let mut next = 0;
        while (burst.frames as usize) < budget.frames {
            if next == self.window.len() {
                if next >= budget.frames {
                    break;
                }
                let Some(item) = self.queue.pop(now, port.exits()) else {
                    break;
                };
                self.window.push_back(Frame::new(item));
            }
            let frame = &mut self.window[next];
            next += 1;
            if frame.state != FrameState::Waiting {
                continue;
            }
            let packet = frame.item.info.size.0;
            let bytes = burst.bytes + timing.subframe(packet);
            if burst.frames > 0 && bytes > budget.bytes {
                break;
            }
            burst.again += u32::from(frame.queued_for.is_some());
            frame.queued_for.get_or_insert(frame.item.age(now));
            let intact = intact(timing.frame(packet), bytes);
            frame.state = FrameState::OnAir { intact };
            burst.intact += u32::from(intact);
            burst.frames += 1;
            burst.bytes = bytes;
        }
        match burst.frames {
            0 => None,
            // A single frame needs no delimiters of an aggregate.
            1 => {
                let on_air = |f: &&Frame<P>| matches!(f.state, FrameState::OnAir { .. });
                let frame = self.window.iter().find(on_air)?;
                burst.bytes = timing.frame(frame.item.info.size.0);
                Some(burst)
            }
            _ => Some(burst),
        }
    }

    /// Handles the end of the transmission, answered or not: delivers the
    /// frames that are in order, and drops those that were sent `attempts`
    /// times.
    pub fn conclude(&mut self, at: Instant, is_answered: bool, attempts: u32, port: &mut Port<P>) {
        let mut index = 0;
        while let Some(frame) = self.window.get_mut(index) {
            index += 1;
            match frame.state {
                FrameState::Waiting | FrameState::Received => continue,
                FrameState::OnAir { intact: true } if is_answered => {
                    frame.state = FrameState::Received
                }
                FrameState::OnAir { .. } => {
                    frame.state = FrameState::Waiting;
                    frame.failures += 1;
                }
            }
            if frame.failures >= attempts
                && frame.state == FrameState::Waiting
                && let Some(frame) = self.window.remove(index - 1)
            {
                port.exits().drop(at, frame.item, DropReason::Retries);
                index -= 1;
            }
        }
        let received = |f: Option<&Frame<P>>| f.is_some_and(|f| f.state == FrameState::Received);
        while received(self.window.front())
            && let Some(frame) = self.window.pop_front()
        {
            port.send(at, frame.item, frame.queued_for.unwrap_or_default());
        }
    }
}

impl<P> Frame<P> {
    fn new(item: Item<P>) -> Frame<P> {
        Frame {
            item,
            queued_for: None,
            failures: 0,
            state: FrameState::Waiting,
        }
    }
}

impl Budget {
    fn of(timing: &Timing, attempt: &Attempt, txop: Duration) -> Budget {
        let (Some(aggregation), Frames::AsMayBe) = (timing.aggregation, attempt.frames) else {
            return Budget {
                frames: 1,
                bytes: u64::MAX,
            };
        };
        let modulation = attempt.choice.modulation;
        let time = match txop {
            Duration::ZERO => aggregation.time,
            // The opportunity includes the answer.
            txop => {
                let answer = timing.sifs + modulation.block_ack;
                aggregation.time.min(txop.saturating_sub(answer))
            }
        };
        Budget {
            frames: aggregation.packets,
            bytes: aggregation.bytes.min(modulation.bytes_within(time)),
        }
    }
}
