use weft_units::{Bytes, Duration};

use crate::traffic::Traffic;

/// Parallel TCP connections with equal settings.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpSetup {
    /// Congestion control of the sender.
    pub congestion: CongestionKind,
    /// Data that the connections send.
    pub application: Application,
    /// Number of connections; each has its own randomness. Default one.
    pub connections: u32,
    /// Whether routers may mark data packets instead of dropping them (RFC 3168).
    pub ecn: EcnMode,
    /// Maximum payload in flight or out of order; the receiving application reads ordered
    /// data at once. `None` for no limit.
    pub receive_window: Option<Bytes>,
    /// Duration of a burst of the socket, at a rate of twice the window per round trip. A
    /// connection may have two such bursts in the first link's queue before it sends the
    /// next. That link then represents the queue of the sending host (TCP small queues of
    /// Linux). `None`: a connection sends as much as the window allows.
    pub small_queues: Option<Duration>,
}

/// Use of explicit congestion notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    #[default]
    Off,
    /// Data packets are ECT(0); the receiver echoes marks, and the sender treats them
    /// like loss.
    On,
}

weft_units::named! {
    /// Congestion control algorithms with their names in files.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum CongestionKind: "congestion control" {
        /// `reno`: RFC 5681.
        Reno = "reno",
        /// `cubic`: RFC 9438.
        Cubic = "cubic",
        /// `bbr1`: BBR as in Linux, draft-cardwell-iccrg-bbr-congestion-control-00.
        Bbr1 = "bbr1",
        /// `bbr2`: draft-cardwell-iccrg-bbr-congestion-control-02.
        Bbr2 = "bbr2",
        /// `bbr3`: draft-ietf-ccwg-bbr-01.
        Bbr3 = "bbr3",
    }
}

/// Data that a TCP connection sends.
#[derive(Clone, PartialEq, Debug)]
pub enum Application {
    /// As much as the network accepts.
    LongLived,
    /// One transfer of this size.
    Upload(Bytes),
    /// Transfers with pauses between them, each on a new connection. Sizes are uniform
    /// within the bounds, pauses exponential; the first pause precedes the first transfer
    /// (RFC 8867 section 5.7).
    OnOff {
        /// Smallest and largest transfer.
        size: (Bytes, Bytes),
        /// Mean of the pauses.
        mean_pause: Duration,
    },
}

impl TcpSetup {
    /// Creates one long-lived connection without ECN.
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
        /// Chosen by us: more than any published experiment uses, but little enough for
        /// the memory.
        const MOST_CONNECTIONS: u32 = 100_000;
        if !(1..=MOST_CONNECTIONS).contains(&self.connections) {
            return Some("give it 1 to 100,000 connections");
        }
        if self.receive_window == Some(Bytes::ZERO) {
            return Some("give it a receive window above zero");
        }
        if self.small_queues == Some(Duration::ZERO) {
            return Some("give small queues a time above zero");
        }
        match self.application {
            Application::LongLived => None,
            Application::Upload(size) => {
                (size == Bytes::ZERO).then_some("give an upload a size above zero")
            }
            Application::OnOff { size, .. } => (size.0 == Bytes::ZERO || size.1 < size.0)
                .then_some("give transfer sizes above zero, the larger bound second"),
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
