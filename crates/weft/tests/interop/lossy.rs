//! Two namespaces with two links between them, which can lose packets.

use super::fixture::{self, Namespace, cable};
use super::has;

/// Links of the sender.
pub(crate) const LINKS: [&str; 2] = ["one", "two"];
/// Address of the server on the first of them.
pub(crate) const SERVER: &str = "10.1.0.1";

/// Lost datagrams per thousand, and the seconds in which the picture is watched.
pub(crate) const LOSS: u32 = 30;
pub(crate) const WATCHED: f64 = 15.0;

pub(crate) struct Links {
    pub server_side: Namespace,
    pub sender_side: Namespace,
}

impl Links {
    /// `None`, with the reason, without permission to create namespaces.
    pub(crate) fn open() -> Option<Links> {
        let (server_side, sender_side) = fixture::pair()?;
        for (number, link) in (1..).zip(LINKS) {
            let ends = [1, 2].map(|end| format!("10.{number}.0.{end}"));
            cable(&server_side, &sender_side, link, [&ends[0], &ends[1]]);
        }
        Some(Links {
            server_side,
            sender_side,
        })
    }

    /// Whether packets can be lost here; reports the test as skipped otherwise.
    pub(crate) fn can_lose() -> bool {
        has("nftables", &["sh", "-c", "command -v nft"])
    }

    /// Loses [`LOSS`] of a thousand datagrams that reach the server from now on.
    pub(crate) fn lose(&self) {
        let drop = format!("meta l4proto udp numgen random mod 1000 < {LOSS} drop");
        let rules = LINKS
            .map(|link| format!("iifname s{link} {drop}"))
            .join("; ");
        let hook = "type filter hook prerouting priority -300";
        let table = format!("table ip loss {{ chain in {{ {hook}; {rules}; }}; }}");
        let status = self.server_side.command("nft").arg(table).status();
        assert!(status.expect("nft runs").success());
    }
}
