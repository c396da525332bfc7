use weft_units::{Bytes, Duration};

use crate::traffic::Traffic;

/// TCP connections that do the same, side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpSetup {
    /// Congestion control of the sender.
    pub congestion: CongestionKind,
    /// What the connections have to send.
    pub application: Application,
    /// How many connections; each has its own randomness. Default one.
    pub connections: u32,
    /// Whether data packets can be marked in place of dropped (RFC 3168).
    pub ecn: EcnMode,
    /// Payload that the receiver lets be on its way or out of order; its
    /// application reads what is in order at once. `None`: no limit, as if it
    /// always offered enough.
    pub receive_window: Option<Bytes>,
    /// How much time's data, at twice the window for each round trip, leaves
    /// the socket at once; a connection may have two such bursts on the first
    /// link of its way before the next one leaves. The link stands for the
    /// queue of the sender's own host then (TCP small queues of Linux).
    /// `None`: whatever the window has room for leaves.
    pub small_queues: Option<Duration>,
}

/// Use of explicit congestion notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    #[default]
    Off,
    /// Data packets are ECT(0), marks are echoed and answered like a loss.
    On,
}

/// The congestion control algorithms, by their names in files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionKind {
    /// `reno`: RFC 5681.
    Reno,
    /// `cubic`: RFC 9438.
    Cubic,
    /// `bbr1`: BBR as Linux has it, draft-cardwell-iccrg-bbr-congestion-control-00.
    Bbr1,
    /// `bbr2`: draft-cardwell-iccrg-bbr-congestion-control-02.
    Bbr2,
    /// `bbr3`: draft-ietf-ccwg-bbr-01.
    Bbr3,
}

/// What a TCP connection has to send.
#[derive(Clone, PartialEq, Debug)]
pub enum Application {
    /// As much as the network takes.
    LongLived,
    /// So many bytes, once.
    Upload(Bytes),
    /// Transfers with pauses between them, each on a new connection: sizes
    /// uniform within the bounds, pauses exponential, the first one before the
    /// first transfer (RFC 8867 section 5.7).
    OnOff {
        /// Smallest and largest transfer.
        size: (Bytes, Bytes),
        /// Mean of the pauses.
        mean_pause: Duration,
    },
}

impl TcpSetup {
    /// One long-lived connection without ECN.
    #[must_use]
    pub fn long_lived(congestion: CongestionKind) -> TcpSetup {
        TcpSetup {
            congestion,
            application: Application::LongLived,
            connections: 1,
            ecn: EcnMode::Off,
            receive_window: None,
            small_queues: None,
        }
    }
}

impl Traffic for TcpSetup {
    fn wrong(&self) -> Option<&'static str> {
        /// Chosen by us: more than any experiment of the literature, and what
        /// fits in memory.
        const MOST_CONNECTIONS: u32 = 100_000;
        if !(1..=MOST_CONNECTIONS).contains(&self.connections) {
            return Some("give it 1 to 100,000 connections");
        }
        if self.receive_window == Some(Bytes::ZERO) {
            return Some("a receive window of nothing lets nothing come");
        }
        if self.small_queues == Some(Duration::ZERO) {
            return Some("small queues of no time let nothing leave");
        }
        match self.application {
            Application::LongLived => None,
            Application::Upload(size) => (size == Bytes::ZERO).then_some("an upload needs bytes"),
            Application::OnOff { size, .. } => (size.0 == Bytes::ZERO || size.1 < size.0)
                .then_some("transfer sizes need bytes, and the larger bound second"),
        }
    }

    fn words(&self) -> String {
        let count = if self.connections > 1 {
            format!("{} x ", self.connections)
        } else {
            String::new()
        };
        let what = match &self.application {
            Application::LongLived => "long-lived".to_owned(),
            Application::Upload(size) => format!("upload of {} kB", size.0 / 1000),
            Application::OnOff { size, mean_pause } => format!(
                "transfers of {} to {} kB, pauses of {} s",
                size.0.0 / 1000,
                size.1.0 / 1000,
                mean_pause.as_secs_f64()
            ),
        };
        let window = self.receive_window.map_or(String::new(), |window| {
            format!(", receive window {} kB", window.0 / 1000)
        });
        let queues = self.small_queues.map_or(String::new(), |time| {
            format!(", small queues of {} ms", time.as_millis_f64())
        });
        format!("{count}TCP {}, {what}{window}{queues}", self.congestion)
    }

    fn has_transfers(&self) -> bool {
        true
    }

    fn settles(&self) -> bool {
        self.application == Application::LongLived
    }
}

impl CongestionKind {
    /// All of them, for help texts.
    pub const ALL: [CongestionKind; 5] = [
        CongestionKind::Reno,
        CongestionKind::Cubic,
        CongestionKind::Bbr1,
        CongestionKind::Bbr2,
        CongestionKind::Bbr3,
    ];

    /// The name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CongestionKind::Reno => "reno",
            CongestionKind::Cubic => "cubic",
            CongestionKind::Bbr1 => "bbr1",
            CongestionKind::Bbr2 => "bbr2",
            CongestionKind::Bbr3 => "bbr3",
        }
    }
}

impl std::fmt::Display for CongestionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no congestion control of this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no congestion control is called `{0}`: there are reno, cubic, bbr1, bbr2, bbr3")]
pub struct UnknownCongestion(String);

impl std::str::FromStr for CongestionKind {
    type Err = UnknownCongestion;
    fn from_str(s: &str) -> Result<CongestionKind, UnknownCongestion> {
        let found = CongestionKind::ALL.into_iter().find(|k| k.name() == s);
        found.ok_or_else(|| UnknownCongestion(s.to_owned()))
    }
}
