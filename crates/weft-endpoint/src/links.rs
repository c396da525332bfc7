//! Links of this endpoint: their present addresses and budgets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};

use weft_ice::{LinkId, LocalAddress, RemoteFilter};
use weft_net::{Attachment, Binding, Link, LinkChoice, Target};
use weft_rooms::MAX_LINKS;
use weft_session::{Metering, Policy, Standing};
use weft_units::{Bytes, Transport};

use crate::notice::{Notice, Notices};

mod change;
mod choice;
mod delivering;
mod states;
#[cfg(test)]
mod tests;
mod trouble;
mod usage;

pub use change::LinkChange;
pub use choice::{ChoiceError, Scope, links_or_all, loopback};
pub(crate) use delivering::PathLinks;
pub use states::LinkStates;
pub use trouble::LinkTrouble;
pub use usage::LinkUse;

/// Difference in ICE network cost between consecutive links: the first configured link is
/// the cheapest. The step on libwebrtc's scale of 0 to 999 is small, because it only
/// expresses the order.
const COST_STEP: u16 = 10;
/// Costs that keep single-path senders away from metered links and backups.
const METERED_COST: u16 = 250;
const BACKUP_COST: u16 = 500;
/// Cost of a relay: above the differences between links, below a metered link.
const RELAY_COST: u16 = 150;

/// Socket on a link, with the address for the association.
pub struct Access {
    /// Address and cost.
    pub local: LocalAddress,
    /// Socket bound to the link.
    pub socket: UdpSocket,
}

/// Policy of a link and the bytes that it has carried.
#[derive(Clone, Debug)]
pub struct LinkFigures {
    /// Configured name.
    pub name: String,
    /// Policy set by the user.
    pub policy: Policy,
    /// Use of the link, as last set by the user.
    pub usage: LinkUse,
    /// Bytes in both directions, with IP and UDP headers.
    pub carried: Bytes,
    /// Remaining budget, if the link has one.
    pub left: Option<Bytes>,
}

/// Error: no link is present, or a link can never exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LinksError(String);

/// Links, configured or discovered.
#[derive(Clone, Debug)]
pub struct Links {
    specs: Vec<LinkChoice>,
    scope: Scope,
    carried: BTreeMap<LinkId, Bytes>,
    /// Links that the user has switched off.
    off: BTreeSet<LinkId>,
}

impl Links {
    /// Checks that at least one link is present, reports the missing ones, and warns
    /// about links whose sockets cannot be bound to their interface.
    ///
    /// # Errors
    /// If no link is present, or a link can never exist.
    pub fn check(
        specs: Vec<LinkChoice>,
        scope: Scope,
        notices: &Notices,
    ) -> Result<Links, LinksError> {
        let mut missing = Vec::new();
        for spec in &specs {
            let link = match Link::open(spec, 0) {
                Ok(link) => link,
                Err(error) if error.is_passing() => {
                    missing.push((spec, error));
                    continue;
                }
                Err(error) => return Err(LinksError(error.to_string())),
            };
            let tied = link.binding == Binding::Interface || spec.via.is_some();
            let loopback = link.addresses().iter().all(|a| a.ip().is_loopback());
            if !tied && !loopback && specs.len() > 1 {
                let link = spec.name.clone();
                notices.send(Notice::LinkUntied { link });
            }
        }
        if missing.len() == specs.len() {
            let all = missing.iter().map(|(_, error)| error.to_string());
            return Err(LinksError(all.collect::<Vec<String>>().join("; ")));
        }
        for (spec, error) in missing {
            let link = spec.name.clone();
            notices.send(Notice::LinkAwaited { link, error });
        }
        Ok(Links {
            specs,
            scope,
            carried: BTreeMap::new(),
            off: BTreeSet::new(),
        })
    }

    /// Whether any link can appear or disappear.
    #[must_use]
    pub fn may_change(&self) -> bool {
        let fixed = |s: &LinkChoice| matches!(s.target, Target::Address(ip) if ip.is_loopback());
        self.scope == Scope::Every || !self.specs.iter().all(fixed)
    }

    /// Name of a link.
    #[must_use]
    pub fn name(&self, link: LinkId) -> &str {
        self.spec(link).map_or("", |spec| &spec.name)
    }

    /// Policy set by the user.
    #[must_use]
    pub fn policy(&self, link: LinkId) -> Policy {
        self.spec(link).map(|s| s.policy).unwrap_or_default()
    }

    /// Whether the link carries any traffic from the start.
    #[must_use]
    pub fn is_regular(&self, link: LinkId) -> bool {
        self.spec(link).is_none_or(LinkChoice::is_regular)
    }

    fn spec(&self, link: LinkId) -> Option<&LinkChoice> {
        self.specs.get(usize::from(link.0))
    }

    fn ids(&self) -> impl Iterator<Item = (LinkId, &LinkChoice)> {
        (0..).map(LinkId).zip(&self.specs)
    }

    /// Returns the addresses that stand for every peer on tunnelled links.
    pub fn vias(&self) -> impl Iterator<Item = SocketAddr> {
        self.specs.iter().filter_map(|s| s.via)
    }

    /// Returns the present attachments of the links, except links that are off or whose
    /// budget is spent.
    pub fn present(&mut self) -> Vec<(LinkId, Attachment)> {
        if self.scope == Scope::Every {
            self.take_new(weft_net::interface_names().unwrap_or_default());
        }
        let usable = self
            .ids()
            .filter(|(id, _)| !self.is_spent(*id) && !self.off.contains(id));
        let places = usable.flat_map(|(id, spec)| {
            let places = weft_net::attachments(spec).unwrap_or_default();
            places.into_iter().map(move |place| (id, place))
        });
        places.collect()
    }

    /// Adds new interfaces, up to the number of links that a room shows. An interface
    /// that is removed and recreated counts once, by its name.
    fn take_new(&mut self, names: Vec<String>) {
        for name in names {
            let known = self.specs.iter().any(|s| s.name == name);
            if !known && self.specs.len() < MAX_LINKS {
                let target = Target::Interface(name.clone());
                self.specs.push(LinkChoice::new(name, target));
            }
        }
    }

    /// Opens a socket; `None` if the link has just disappeared.
    #[must_use]
    pub fn open(&self, link: LinkId, place: Attachment) -> Option<Access> {
        let spec = self.spec(link)?;
        let socket = Link::open_at(spec, place).ok()?;
        let remotes = match spec.via {
            Some(via) => RemoteFilter::Only(vec![via]),
            None => RemoteFilter::Any,
        };
        let local = LocalAddress {
            transport: Transport::Udp,
            addr: socket.local_addr().ok()?,
            link,
            cost: cost(link, spec.policy),
            remotes,
        };
        Some(Access { local, socket })
    }

    /// Returns the specification of a link.
    #[must_use]
    pub fn choice(&self, link: LinkId) -> Option<&LinkChoice> {
        self.spec(link)
    }

    /// Whether a relay may carry the link's packets. Tunnelled links send to one fixed
    /// address, which is not the peer's.
    #[must_use]
    pub fn may_relay(&self, link: LinkId) -> bool {
        self.spec(link).is_some_and(|spec| spec.via.is_none())
    }

    /// Returns the relayed address of a link, with a higher cost than its direct
    /// addresses.
    #[must_use]
    pub fn relayed(&self, link: LinkId, addr: SocketAddr) -> LocalAddress {
        LocalAddress {
            transport: Transport::Udp,
            addr,
            link,
            cost: cost(link, self.policy(link)) + RELAY_COST,
            remotes: RemoteFilter::Any,
        }
    }

    /// Adds carried bytes; returns true if they use up the link's budget.
    pub fn count(&mut self, link: LinkId, bytes: Bytes) -> bool {
        let before = self.is_spent(link);
        *self.carried.entry(link).or_default() += bytes;
        !before && self.is_spent(link)
    }

    /// Changes the use of the link with this name; `None` if there is no such link. Its
    /// weight and metering do not change.
    pub fn set_use(&mut self, name: &str, usage: LinkUse) -> Option<LinkId> {
        let (link, _) = self.ids().find(|(_, spec)| spec.name == name)?;
        match usage {
            LinkUse::Off => {
                self.off.insert(link);
            }
            LinkUse::Use | LinkUse::Backup => {
                self.off.remove(&link);
                let spec = self.specs.get_mut(usize::from(link.0))?;
                spec.policy.standing = match usage {
                    LinkUse::Backup => Standing::Backup,
                    LinkUse::Use | LinkUse::Off => Standing::Regular,
                };
            }
        }
        Some(link)
    }

    fn usage(&self, link: LinkId, policy: Policy) -> LinkUse {
        match policy.standing {
            _ if self.off.contains(&link) => LinkUse::Off,
            Standing::Backup => LinkUse::Backup,
            Standing::Regular => LinkUse::Use,
        }
    }

    /// Whether any link has a budget.
    #[must_use]
    pub fn have_budget(&self) -> bool {
        self.specs.iter().any(|s| s.budget.is_some())
    }

    fn carried(&self, link: LinkId) -> Bytes {
        self.carried.get(&link).copied().unwrap_or_default()
    }

    /// Whether the budget of a link is spent.
    #[must_use]
    pub fn is_spent(&self, link: LinkId) -> bool {
        let budget = self.spec(link).and_then(|s| s.budget);
        budget.is_some_and(|budget| self.carried(link) >= budget)
    }

    /// Returns policies, carried bytes and remaining budgets.
    #[must_use]
    pub fn figures(&self) -> Vec<LinkFigures> {
        let figures = |(id, spec): (LinkId, &LinkChoice)| {
            let carried = self.carried(id);
            LinkFigures {
                name: spec.name.clone(),
                policy: spec.policy,
                usage: self.usage(id, spec.policy),
                carried,
                left: spec.budget.map(|budget| budget.saturating_sub(carried)),
            }
        };
        self.ids().map(figures).collect()
    }
}

fn cost(link: LinkId, policy: Policy) -> u16 {
    let metered = match policy.metering {
        Metering::Metered => METERED_COST,
        Metering::Free => 0,
    };
    let backup = match policy.standing {
        Standing::Backup => BACKUP_COST,
        Standing::Regular => 0,
    };
    COST_STEP * u16::from(link.0) + metered + backup
}
