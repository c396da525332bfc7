//! Links that appear and disappear during a call, and the bytes that they
//! carry.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use weft_ice::{LinkId, LocalAddress};
use weft_net::{Attachment, Context};
use weft_units::{Bytes, Duration, Instant};

use crate::links::{LinkUse, Links};
use crate::notice::{Notice, Notices};

/// Polling interval of interfaces if the system does not report changes.
const LOOK: Duration = Duration::from_secs(1);
/// Polling interval while a budget is counted: half a megabyte at 20 Mbps.
/// Chosen by us.
const COUNT: Duration = Duration::from_millis(200);
/// Delay between the first report of a change and its handling, because a new link causes
/// several reports. Chosen by us.
const SETTLE: Duration = Duration::from_millis(10);
/// Ports to try for a socket: several links with the same address, each with a
/// few peers. Chosen by us.
const PORTS: usize = 64;

/// Socket of a peer or an offer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub addr: SocketAddr,
    pub link: LinkId,
    pub place: Attachment,
    /// Time at which it was opened.
    pub since: Instant,
}

/// Links, their last known interfaces, and the bytes that their sockets have
/// carried.
pub(super) struct Following {
    pub links: Links,
    pub next_look: Instant,
    notices: Notices,
    here: BTreeSet<LinkId>,
    counted: BTreeMap<SocketAddr, Bytes>,
}

impl Following {
    pub fn new(now: Instant, mut links: Links, notices: Notices) -> Following {
        let here = links.present().into_iter().map(|(link, _)| link);
        Following {
            here: here.collect(),
            links,
            next_look: now,
            notices,
            counted: BTreeMap::new(),
        }
    }

    /// Schedules a check after the system has reported a change.
    pub fn look_soon(&mut self, now: Instant) {
        self.next_look = self.next_look.min(now + SETTLE);
    }

    /// Suppresses the reports of the end and the return of a link whose use the user
    /// changes.
    pub fn expect(&mut self, link: LinkId, usage: LinkUse) {
        match usage {
            LinkUse::Off => self.here.remove(&link),
            LinkUse::Use | LinkUse::Backup => self.here.insert(link),
        };
    }

    pub fn tell(&self, notice: Notice) {
        self.notices.send(notice);
    }

    /// Opens a socket, if possible on a port that no other link with the same address
    /// uses.
    pub fn open(
        &self,
        context: &mut Context<'_>,
        (link, place): (LinkId, Attachment),
    ) -> Option<(Held, LocalAddress)> {
        // Kept open until the end, so that the system picks another port.
        let mut taken = Vec::new();
        while taken.len() < PORTS {
            let access = self.links.open(link, place)?;
            let addr = access.local.addr;
            if context.has_socket(addr) {
                taken.push(access.socket);
                continue;
            }
            // Without readiness events of the socket, its path is unusable.
            context.add_socket(access.socket).ok()?;
            let since = context.now;
            let held = Held {
                addr,
                link,
                place,
                since,
            };
            return Some((held, access.local));
        }
        None
    }

    /// Closes a socket and counts the bytes that it carried.
    pub fn close(&mut self, context: &mut Context<'_>, held: Held) {
        self.count(context, held);
        self.counted.remove(&held.addr);
        context.remove_socket(held.addr);
    }

    pub fn count(&mut self, context: &Context<'_>, held: Held) {
        let now = context.carried(held.addr);
        let before = self.counted.insert(held.addr, now).unwrap_or_default();
        if self.links.count(held.link, now.saturating_sub(before)) {
            let link = self.links.name(held.link).to_owned();
            self.notices.send(Notice::BudgetSpent { link });
        }
    }

    /// Reports links that appeared or disappeared since the last call.
    pub fn tell_changes(&mut self, present: &[(LinkId, Attachment)]) {
        let here: BTreeSet<LinkId> = present.iter().map(|(link, _)| *link).collect();
        for link in here.difference(&self.here) {
            let own = present.iter().filter(|(l, _)| l == link);
            let addresses = own.map(|(_, p)| p.address).collect();
            let link = self.links.name(*link).to_owned();
            self.notices.send(Notice::LinkArrived { link, addresses });
        }
        let gone = self.here.difference(&here);
        // The spent budget was already reported.
        for link in gone.filter(|link| !self.links.is_spent(**link)) {
            let link = self.links.name(*link).to_owned();
            self.notices.send(Notice::LinkLeft { link });
        }
        self.here = here;
    }

    /// Schedules the next check, at this time if it is earlier.
    pub fn schedule(&mut self, now: Instant, early: Option<Instant>) {
        let pause = match self.links.have_budget() {
            true => COUNT,
            false => LOOK,
        };
        let next = now + pause;
        self.next_look = early.map_or(next, |early| early.min(next));
    }
}
