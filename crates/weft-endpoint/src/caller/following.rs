//! Links that come and go during a call, and what they have carried.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use weft_ice::{LinkId, LocalAddress};
use weft_net::{Attachment, Context};
use weft_units::{Bytes, Duration, Instant};

use crate::links::Links;
use crate::notice::{Notice, Notices};

/// Interfaces are looked up this often where the system does not tell of
/// changes.
const LOOK: Duration = Duration::from_secs(1);
/// The same where bytes are counted against a budget: at 20 Mbps half a
/// megabyte. Chosen by us.
const COUNT: Duration = Duration::from_millis(200);
/// From the first word of a change to the look: a link comes with a few of
/// them. Chosen by us.
const SETTLE: Duration = Duration::from_millis(10);
/// Ports that may be tried for a socket: as many links of one address as there
/// may be links, each with a few peers. Chosen by us.
const PORTS: usize = 64;

/// A socket of a peer's or an offer's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub addr: SocketAddr,
    pub link: LinkId,
    pub place: Attachment,
    /// When it was opened.
    pub since: Instant,
}

/// The links, where they were found last, and what their sockets have carried.
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

    /// The system says that something has changed.
    pub fn look_soon(&mut self, now: Instant) {
        self.next_look = self.next_look.min(now + SETTLE);
    }

    /// Opens a socket there, if that is possible now, on a port that no other
    /// link of the same address has.
    pub fn open(
        &self,
        context: &mut Context<'_>,
        (link, place): (LinkId, Attachment),
    ) -> Option<(Held, LocalAddress)> {
        // Kept until the end, so that the system gives another port.
        let mut taken = Vec::new();
        while taken.len() < PORTS {
            let access = self.links.open(link, place)?;
            let addr = access.local.addr;
            if context.has_socket(addr) {
                taken.push(access.socket);
                continue;
            }
            // A socket that cannot be watched is a path less.
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

    /// Closes a socket; what it has carried is counted.
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
            self.notices.tell(Notice::BudgetSpent { link });
        }
    }

    /// Says what came and went since the last time.
    pub fn tell_changes(&mut self, present: &[(LinkId, Attachment)]) {
        let here: BTreeSet<LinkId> = present.iter().map(|(link, _)| *link).collect();
        for link in here.difference(&self.here) {
            let own = present.iter().filter(|(l, _)| l == link);
            let addresses = own.map(|(_, p)| p.address).collect();
            let link = self.links.name(*link).to_owned();
            self.notices.tell(Notice::LinkArrived { link, addresses });
        }
        let gone = self.here.difference(&here);
        // That a budget is used up has been said.
        for link in gone.filter(|link| !self.links.is_spent(**link)) {
            let link = self.links.name(*link).to_owned();
            self.notices.tell(Notice::LinkLeft { link });
        }
        self.here = here;
    }

    pub fn schedule(&mut self, now: Instant) {
        let pause = match self.links.have_budget() {
            true => COUNT,
            false => LOOK,
        };
        self.next_look = now + pause;
    }
}
