use weft_units::{Bytes, Deadline, Duration, Ecn, Instant, Rate};

/// Id of a controller's probe cluster; the controller never reuses it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProbeId(pub u32);

/// Packets to send at a rate above the target. The probe ends when both minima are
/// reached; the sender pads if there is too little media.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeCluster {
    /// Value for [`SentPacket::probe`] of the cluster's packets.
    pub id: ProbeId,
    /// Rate at which these packets leave.
    pub rate: Rate,
    /// Minimum number of packets.
    pub packets: u32,
    /// Minimum number of bytes.
    pub bytes: Bytes,
}

/// Packet that left on the controller's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentPacket {
    /// Increasing number of the path's packets that get feedback.
    pub number: u64,
    /// Time when it was handed to the socket, in the sender's clock.
    pub sent_at: Instant,
    /// Size on the link, with the IP and UDP headers if known.
    pub size: Bytes,
    /// Probe cluster that it belongs to.
    pub probe: Option<ProbeId>,
}

/// Feedback about one sent packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketResult {
    /// The packet as it was sent.
    pub sent: SentPacket,
    /// Time of arrival, in the receiver's clock; `None`: reported as lost.
    pub arrival: Option<Instant>,
    /// ECN codepoint at arrival: [`Ecn::Ce`] is a mark. If feedback only counts marks,
    /// that many delivered packets are reported as marked.
    pub ecn: Ecn,
    /// Bytes sent between this and the previous reported packet that get no feedback of
    /// their own, such as duplicates. They count as delivered with this packet.
    pub unmeasured_before: Bytes,
}

/// Range and start value of a controller's target rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Lower bound of the target.
    pub min: Rate,
    /// Target before any measurement, and after the path was restored.
    pub start: Rate,
    /// Upper bound of the target.
    pub max: Rate,
}

impl Limits {
    /// Repairs inconsistent limits: `max` is at least `min`, and `start` lies between
    /// them.
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

/// Controller's estimate of its path, for plots and statistics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Target rate, as returned by [`Controller::target_rate`].
    pub target: Rate,
    /// Measured delivery rate; `None` before the first measurement.
    pub acked: Option<Rate>,
    /// Recent share of lost packets, 0 to 1.
    pub loss: f64,
    /// The controller's state in one word.
    pub state: &'static str,
}

/// Internal value of a controller, for plots: the input of its detector, its threshold,
/// the size of its windows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Internal {
    /// Name in snake case, unique within the controller.
    pub name: &'static str,
    /// Unit as in metrics: `ms`, `Mbit/s`, `kB`, or `1` for shares and counts. Quantities
    /// of one unit belong in one plot.
    pub unit: &'static str,
    /// Finite value in that unit.
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

/// Congestion controller of one path.
///
/// Times passed to the methods never decrease. After every call that takes `now`, poll
/// [`Controller::poll_probe`] and [`Controller::poll_timeout`] again; a call of
/// [`Controller::on_timeout`] before its time does nothing. Implausible feedback
/// (duplicates, reordering, absurd times) may distort the estimate within the limits, and
/// has no other effect.
pub trait Controller: Send {
    /// Reports a packet of this path that was handed to the socket.
    fn on_packet_sent(&mut self, packet: &SentPacket);

    /// Reports a packet without per-packet feedback that was handed to the socket. Does
    /// nothing unless the controller works with reports.
    fn on_unreported_sent(&mut self, now: Instant) {
        let _ = now;
    }

    /// Processes feedback: its results in the order of sending. `rtt` is the path's
    /// current round-trip time, if known.
    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], rtt: Option<Duration>);

    /// Processes a receiver report from a peer that gives no feedback for each packet:
    /// `expected` packets since the last report, `lost` of them lost. Does nothing unless
    /// the controller works with reports.
    fn on_report(&mut self, now: Instant, expected: u32, lost: u32, rtt: Option<Duration>) {
        let _ = (now, expected, lost, rtt);
    }

    /// Handles the deadline that [`Controller::poll_timeout`] returned.
    fn on_timeout(&mut self, now: Instant);

    /// Returns the next time for [`Controller::on_timeout`].
    fn poll_timeout(&self) -> Option<Deadline>;

    /// Sets the highest rate that the application would send on this path. Bounds
    /// probing.
    fn set_demand(&mut self, now: Instant, demand: Rate) {
        let _ = (now, demand);
    }

    /// Sets the flow's weight relative to others with the same controller; default 1.
    /// Twice the weight requests twice the rate. Does nothing if the algorithm has no
    /// weights.
    fn set_weight(&mut self, weight: f64) {
        let _ = weight;
    }

    /// Sets the bytes that wait for the pacer. Some controllers lower the target or send
    /// faster because of it.
    fn set_backlog(&mut self, waiting: Bytes) {
        let _ = waiting;
    }

    /// Returns the next probe to send; poll until `None`. Most controllers send none.
    fn poll_probe(&mut self, now: Instant) -> Option<ProbeCluster> {
        let _ = now;
        None
    }

    /// Forgets the estimates of a path that failed and is restored.
    fn on_path_restored(&mut self, now: Instant);

    /// Returns the ECN codepoint for the path's packets, used if feedback reports marks
    /// and the path preserves them. Called once. Default: not ECN-capable, for
    /// controllers that ignore marks.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Returns the rate that the application should send on this path.
    fn target_rate(&self) -> Rate;

    /// Returns the rate at which queued packets should leave, above the target.
    fn pacing_rate(&self) -> Rate;

    /// Returns the controller's estimate of the path.
    fn snapshot(&self) -> Snapshot;

    /// Returns further internal values for plots, always in the same order and without
    /// unknown ones. Not called for every packet.
    fn internals(&self) -> Vec<Internal> {
        Vec::new()
    }
}
