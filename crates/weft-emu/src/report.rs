use crate::{FAR, Histogram, LinkId, NEAR, PacketLog};
use std::io;
use weft_links::{Counters, RadioCounters, ServiceTime, Tally};
use weft_units::{Bytes, Duration, Rate};

/// The quantile of lateness that decides.
const DECIDING: f64 = 0.999;

/// What a run was, and whether it can be believed.
pub struct Report {
    /// The links, in the order of their making.
    pub links: Vec<LinkReport>,
    /// From the beginning (or [`Running::begin`](crate::Running::begin)) to
    /// the end.
    pub duration: Duration,
    /// How much later than the model said each delivered packet was given to
    /// its receiver.
    pub lateness: Histogram,
    /// What [`Report::verdict`] accepts.
    pub lateness_limit: Duration,
    /// How the kernel scheduled the mover.
    pub scheduling: Scheduling,
    /// What the mover used of a processor.
    pub processor_time: Duration,
    /// Packets for an address that no host on the link has; they entered no
    /// queue. Multicast does not either, and is not counted: kernels talk of
    /// their groups all the time.
    pub strays: u64,
    /// Packets that the receiver's kernel did not take.
    pub untaken: u64,
    /// Packets that were lost before the model saw them, because the mover
    /// did not take them from their device in time.
    pub device_drops: u64,
    /// Every packet, if asked for; or why they could not be written down.
    pub packets: io::Result<Option<PacketLog>>,
}

/// A link's part of a [`Report`].
#[derive(Clone, PartialEq, Debug)]
pub struct LinkReport {
    /// As it was given.
    pub name: String,
    /// What each station sent, in the medium's order.
    pub stations: Vec<StationReport>,
    /// Of a cell, what each of its channels was used for: `used` by one
    /// exchange, `blocked` by several at the same time. None where there is no
    /// cell.
    pub channels: Vec<ServiceTime>,
}

/// What one station of a link sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StationReport {
    /// Packets and bytes sent, delivered, and dropped by reason.
    pub counters: Counters,
    /// What was still on the way at the end.
    pub in_flight: Tally,
    /// How long the medium was used by it, idle, or not to be had, in the part of
    /// the run in which that is counted
    /// ([`Network::count_service`](crate::Network::count_service)).
    pub service: ServiceTime,
    /// What its medium carried to it, where that is counted.
    pub carried_to: Option<Duration>,
    /// What it did with its turns, if it is one of a cell.
    pub radio: Option<RadioCounters>,
    /// How long each delivered packet waited before its transmission.
    pub queueing: Histogram,
    /// How long each of `intervals` is.
    pub interval: Duration,
    /// The course of the run, without empty intervals at its end.
    pub intervals: Vec<Interval>,
}

/// What arrived or was dropped in a short part of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Packets delivered.
    pub packets: u64,
    /// Their bytes, with IP headers.
    pub delivered: Bytes,
    /// Packets dropped, for whatever reason.
    pub dropped: u64,
    /// Sum of the times that the delivered ones waited before transmission.
    pub queued_for: Duration,
    /// The longest of these.
    pub longest_queued_for: Duration,
}

/// How the kernel scheduled the mover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduling {
    /// Before all ordinary threads (`SCHED_FIFO`).
    RealTime,
    /// As any other thread: the kernel refused (it takes `CAP_SYS_NICE`, which
    /// no user namespace gives).
    Ordinary,
}

/// A run that measured the machine instead of the network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Rejected {
    /// Packets came too late.
    #[error(
        "packets were up to {:.2} ms late at p99.9, where {} ms are the limit: {}",
        .lateness.as_millis_f64(), .limit.as_millis_f64(), remedy(*.scheduling)
    )]
    Late {
        /// At p99.9.
        lateness: Duration,
        /// What was to be kept.
        limit: Duration,
        /// One of the possible reasons.
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
    /// The part of one link.
    #[must_use]
    pub fn link(&self, link: LinkId) -> &LinkReport {
        &self.links[link.0]
    }

    /// Lateness at p50, p99 and p99.9; zero when nothing was delivered.
    #[must_use]
    pub fn lateness_percentiles(&self) -> [Duration; 3] {
        [0.5, 0.99, DECIDING].map(|q| self.lateness.quantile(q).unwrap_or_default())
    }

    /// Whether the run can be believed.
    ///
    /// # Errors
    /// With the reason and the remedy when not.
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

    /// What to know of packets that count as delivered and were not taken, if
    /// there are any.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        let packets = self.untaken;
        (packets > 0).then(|| {
            format!(
                "{packets} packets that left their link were refused by the receiver's kernel, and \
                 count as delivered: was its interface down?"
            )
        })
    }

    /// Share of a processor that the mover used.
    #[must_use]
    pub fn processor_share(&self) -> f64 {
        self.processor_time.as_secs_f64() / self.duration.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl LinkReport {
    /// Of a wired link: from the near side to the far side.
    #[must_use]
    pub fn forward(&self) -> &StationReport {
        &self.stations[usize::from(NEAR.0)]
    }

    /// Of a wired link: from the far side to the near side.
    #[must_use]
    pub fn backward(&self) -> &StationReport {
        &self.stations[usize::from(FAR.0)]
    }
}

impl StationReport {
    /// What was delivered over `duration`, IP headers included; zero over no
    /// time.
    #[must_use]
    pub fn rate(&self, duration: Duration) -> Rate {
        if duration == Duration::ZERO {
            return Rate::ZERO;
        }
        self.counters.delivered.bytes / duration
    }
}
