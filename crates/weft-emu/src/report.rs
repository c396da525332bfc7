use crate::{FAR, LinkId, NEAR, PacketLog};
use std::io;
use weft_links::{Counters, RadioCounters, ServiceTime, Tally};
use weft_units::{Bytes, Duration, Histogram, Rate};

/// Quantile of lateness that determines acceptance.
const DECIDING: f64 = 0.999;

/// Results of a run, with the figures that determine whether they are valid.
pub struct Report {
    /// The links, in the order in which they were added.
    pub links: Vec<LinkReport>,
    /// From the beginning (or [`Running::begin`](crate::Running::begin)) to
    /// the end.
    pub duration: Duration,
    /// Lateness of each delivered packet: the delay between the time that the model gives
    /// and its delivery to the receiver.
    pub lateness: Histogram,
    /// Largest lateness that [`Report::verdict`] accepts.
    pub lateness_limit: Duration,
    /// Scheduling class that the kernel gave to the mover.
    pub scheduling: Scheduling,
    /// Processor time of the mover.
    pub processor_time: Duration,
    /// Packets to an address of no host on the link; they entered no queue. Multicast
    /// packets enter no queue either and are not counted, because kernels send group
    /// messages all the time.
    pub unroutable: u64,
    /// Packets that the receiver's kernel rejected.
    pub rejected: u64,
    /// Packets that were lost before the model saw them, because the mover did not read
    /// them from their device in time.
    pub device_drops: u64,
    /// Every packet, if logging was requested, or the error that prevented it.
    pub packets: io::Result<Option<PacketLog>>,
}

/// A link's part of a [`Report`].
#[derive(Clone, PartialEq, Debug)]
pub struct LinkReport {
    /// Name, as given.
    pub name: String,
    /// Traffic of each station, in the medium's order.
    pub stations: Vec<StationReport>,
    /// Usage of each channel of a cell: `used` by one exchange, `blocked` by simultaneous
    /// ones. Empty without a cell.
    pub channels: Vec<ServiceTime>,
}

/// Traffic that one station sent on a link.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StationReport {
    /// Packets and bytes sent, delivered, and dropped by reason.
    pub counters: Counters,
    /// Packets in flight at the end.
    pub in_flight: Tally,
    /// Time for which the station used the medium, left it idle, or found it busy, in the
    /// part of the run in which this is counted
    /// ([`Network::count_service`](crate::Network::count_service)).
    pub service: ServiceTime,
    /// Time for which the medium carried packets to the station, if counted.
    pub carried_to: Option<Duration>,
    /// Outcomes of its transmission turns, if it is part of a cell.
    pub radio: Option<RadioCounters>,
    /// Waiting time of each delivered packet before its transmission.
    pub queueing: Histogram,
    /// Length of each of the `intervals`.
    pub interval: Duration,
    /// Time series of the run, without empty intervals at its end.
    pub intervals: Vec<Interval>,
}

/// Traffic of a short part of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Packets delivered.
    pub packets: u64,
    /// Their bytes, with IP headers.
    pub delivered: Bytes,
    /// Packets dropped, for any reason.
    pub dropped: u64,
    /// Sum of the waiting times of the delivered packets.
    pub queued_for: Duration,
    /// The longest of these times.
    pub longest_queued_for: Duration,
}

/// Scheduling class that the kernel gave to the mover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduling {
    /// Before all ordinary threads (`SCHED_FIFO`).
    RealTime,
    /// Like any other thread: the kernel refused real-time scheduling (it needs
    /// `CAP_SYS_NICE`, which no user namespace gives).
    Ordinary,
}

/// Error: the run measured the machine, not the network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Rejected {
    /// Packets were too late.
    #[error(
        "packets were up to {:.2} ms late at p99.9; the limit is {} ms: {}",
        .lateness.as_millis_f64(), .limit.as_millis_f64(), remedy(*.scheduling)
    )]
    Late {
        /// Lateness at p99.9.
        lateness: Duration,
        /// Maximum lateness for acceptance.
        limit: Duration,
        /// Possible reason.
        scheduling: Scheduling,
    },
    /// Packets were lost outside the model.
    #[error(
        "{0} packets were lost before the emulator could take them: the machine is too slow for \
         this rate: lower it, or end other programs"
    )]
    DeviceDrops(u64),
}

fn remedy(scheduling: Scheduling) -> &'static str {
    match scheduling {
        Scheduling::RealTime => {
            "the machine is too slow or too busy for this run: end other programs, or lower rates \
             and picture sizes"
        }
        Scheduling::Ordinary => {
            "the kernel refused real-time scheduling: run as root, or on an idle machine"
        }
    }
}

impl Report {
    /// Returns the report of one link.
    #[must_use]
    pub fn link(&self, link: LinkId) -> &LinkReport {
        &self.links[link.0]
    }

    /// Lateness at p50, p99 and p99.9; zero when nothing was delivered.
    #[must_use]
    pub fn lateness_percentiles(&self) -> [Duration; 3] {
        [0.5, 0.99, DECIDING].map(|q| self.lateness.quantile(q).unwrap_or_default())
    }

    /// Checks whether the results are valid.
    ///
    /// # Errors
    /// The reason and the remedy if they are not.
    pub fn verdict(&self) -> Result<(), Rejected> {
        let [.., lateness] = self.lateness_percentiles();
        if lateness > self.lateness_limit {
            return Err(Rejected::Late {
                lateness,
                limit: self.lateness_limit,
                scheduling: self.scheduling,
            });
        }
        match self.device_drops {
            0 => Ok(()),
            drops => Err(Rejected::DeviceDrops(drops)),
        }
    }

    /// Returns a note about packets that count as delivered but were rejected by the
    /// receiver's kernel, if there are any.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        let packets = self.rejected;
        (packets > 0).then(|| {
            format!(
                "the receiver's kernel refused {packets} packets that count as delivered: check \
                 whether its interface was down"
            )
        })
    }

    /// Returns the share of a processor that the mover used.
    #[must_use]
    pub fn processor_share(&self) -> f64 {
        self.processor_time.as_secs_f64() / self.duration.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl LinkReport {
    /// Returns the traffic of a wired link from the near side to the far side.
    #[must_use]
    pub fn forward(&self) -> &StationReport {
        &self.stations[usize::from(NEAR.0)]
    }

    /// Returns the traffic of a wired link from the far side to the near side.
    #[must_use]
    pub fn backward(&self) -> &StationReport {
        &self.stations[usize::from(FAR.0)]
    }
}

impl StationReport {
    /// Returns the delivered rate over `duration`, IP headers included; zero if
    /// `duration` is zero.
    #[must_use]
    pub fn rate(&self, duration: Duration) -> Rate {
        if duration == Duration::ZERO {
            return Rate::ZERO;
        }
        self.counters.delivered.bytes / duration
    }
}
