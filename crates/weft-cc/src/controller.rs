use weft_units::{Bytes, Deadline, Duration, Ecn, Instant, Rate};

/// One probe cluster of one controller, never reused by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProbeId(pub u32);

/// Packets to be sent at a rate above the target. The probe is over when both
/// minima are reached; where media does not suffice, the sender pads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeCluster {
    /// Goes into [`SentPacket::probe`] of the cluster's packets.
    pub id: ProbeId,
    /// The rate at which these packets leave.
    pub rate: Rate,
    /// At least so many packets.
    pub packets: u32,
    /// At least so many bytes.
    pub bytes: Bytes,
}

/// A packet that left on the controller's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentPacket {
    /// Counts the path's packets that get feedback, increasing.
    pub number: u64,
    /// When it was handed to the socket, in the sender's clock.
    pub sent_at: Instant,
    /// What it occupies on the link, with the IP and UDP headers if known.
    pub size: Bytes,
    /// The probe cluster that it belongs to.
    pub probe: Option<ProbeId>,
}

/// What feedback says of one sent packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketResult {
    /// The packet as it was sent.
    pub sent: SentPacket,
    /// When it arrived, in the receiver's clock; `None`: reported as lost.
    pub arrival: Option<Instant>,
    /// How it arrived: [`Ecn::Ce`] is a mark. Where feedback only counts
    /// marks, so many of the delivered packets bear it.
    pub ecn: Ecn,
    /// What was sent on the path between this and the previous reported
    /// packet without feedback of its own, such as duplicates. Counts as
    /// delivered with this packet.
    pub unmeasured_before: Bytes,
}

/// The range of a controller's target rate and where it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The target never falls below.
    pub min: Rate,
    /// The target before anything is known, and after a path came back.
    pub start: Rate,
    /// The target never rises above.
    pub max: Rate,
}

impl Limits {
    /// These limits with the inconsistent ones repaired: `max` is at least
    /// `min`, `start` is between.
    #[must_use]
    pub(crate) fn ordered(self) -> Limits {
        let max = self.max.max(self.min);
        let start = self.start.clamp(self.min, max);
        Limits { max, start, ..self }
    }

    pub(crate) fn clamp(&self, rate: Rate) -> Rate {
        rate.clamp(self.min, self.max)
    }
}

/// What a controller thinks of its path, for plots and statistics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// As [`Controller::target_rate`].
    pub target: Rate,
    /// The measured delivery rate, once there is one.
    pub acked: Option<Rate>,
    /// The recent share of lost packets, 0 to 1.
    pub loss: f64,
    /// The controller's state in one word.
    pub state: &'static str,
}

/// A quantity inside a controller, for plots: what its detector sees, where
/// its threshold is, how large its windows are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Internal {
    /// In snake case, one of a kind within the controller.
    pub name: &'static str,
    /// As metrics have it: `ms`, `Mbit/s`, `kB`, or `1` for shares and counts.
    /// Quantities of one unit belong in one plot.
    pub unit: &'static str,
    /// In that unit, finite.
    pub value: f64,
}

impl Internal {
    pub(crate) fn ms(name: &'static str, value: f64) -> Internal {
        Internal {
            name,
            unit: "ms",
            value,
        }
    }

    pub(crate) fn rate(name: &'static str, rate: Rate) -> Internal {
        Internal {
            name,
            unit: "Mbit/s",
            value: rate.as_mbps(),
        }
    }

    pub(crate) fn bytes(name: &'static str, bytes: f64) -> Internal {
        Internal {
            name,
            unit: "kB",
            value: bytes / 1e3,
        }
    }

    pub(crate) fn share(name: &'static str, value: f64) -> Internal {
        Internal {
            name,
            unit: "1",
            value,
        }
    }
}

/// A congestion controller of one path.
///
/// The times given to all methods together never go back. After every call
/// that takes `now`, the caller asks [`Controller::poll_probe`] and
/// [`Controller::poll_timeout`] again; a call of [`Controller::on_timeout`]
/// before its time does nothing. Nonsense in feedback (duplicates, reordering,
/// absurd times) may mislead the estimate within the limits, no more.
pub trait Controller: Send {
    /// A packet of this path was handed to the socket.
    fn on_packet_sent(&mut self, packet: &SentPacket);

    /// A packet of this path was handed to the socket that no feedback of its
    /// own will follow. Does nothing unless the controller lives on reports.
    fn on_unreported_sent(&mut self, now: Instant) {
        let _ = now;
    }

    /// Feedback came: its results in the order of sending. `rtt` is the
    /// path's current round-trip time, if known.
    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], rtt: Option<Duration>);

    /// A receiver report came, from a peer that gives no feedback for each
    /// packet: so many packets were `expected` since the last one and so many
    /// of them `lost`. Does nothing unless the controller lives on reports.
    fn on_report(&mut self, now: Instant, expected: u32, lost: u32, rtt: Option<Duration>) {
        let _ = (now, expected, lost, rtt);
    }

    /// The time of [`Controller::poll_timeout`] has come.
    fn on_timeout(&mut self, now: Instant);

    /// When [`Controller::on_timeout`] is wanted.
    fn poll_timeout(&self) -> Option<Deadline>;

    /// What the application would send at most on this path. Bounds probing.
    fn set_demand(&mut self, now: Instant, demand: Rate) {
        let _ = (now, demand);
    }

    /// The flow's share beside others with the same controller, 1 unless set:
    /// twice the weight asks for twice the rate. Does nothing where the
    /// controller's source knows no such thing.
    fn set_weight(&mut self, weight: f64) {
        let _ = weight;
    }

    /// So much waits for the pacer now. Some controllers lower the target or
    /// send faster for it.
    fn set_backlog(&mut self, waiting: Bytes) {
        let _ = waiting;
    }

    /// The next probe to send; ask until `None`. Most controllers send none.
    fn poll_probe(&mut self, now: Instant) -> Option<ProbeCluster> {
        let _ = now;
        None
    }

    /// The path was dead and is back: what was known of it is forgotten.
    fn on_path_restored(&mut self, now: Instant);

    /// What the path's packets are to bear, if feedback tells of marks and the
    /// path lets it pass. Asked once. Default: nothing, for controllers that
    /// take no notice of marks.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// What the application should send on this path.
    fn target_rate(&self) -> Rate;

    /// How fast packets that are ready should leave, above the target.
    fn pacing_rate(&self) -> Rate;

    /// The controller's view of the path.
    fn snapshot(&self) -> Snapshot;

    /// What else it can tell, always in the same order; what is not known yet
    /// is left out. For plots: not asked for every packet.
    fn internals(&self) -> Vec<Internal> {
        Vec::new()
    }
}
