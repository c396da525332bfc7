//! Checks of clients whose answer to our offer has not arrived: a client sends some as
//! soon as it has its answer, but repeats them only later.

use crate::connection::ResourceId;
use crate::waiting::Waiting;
use std::collections::BTreeMap;
use weft_peer::{MAX_DATAGRAM, stun_user_name};
use weft_units::{Ecn, FiveTuple};

/// Maximum number of checks that wait for one answer. Chosen by us: one from each address
/// of a client, or a few from one.
const MOST: usize = 8;

/// Checks that wait for answers, by the ICE user names in our offers.
#[derive(Default)]
pub(crate) struct EarlyChecks {
    offers: BTreeMap<String, (ResourceId, Vec<Waiting>)>,
}

impl EarlyChecks {
    /// Registers an offer with this user name, which waits for its answer.
    pub(crate) fn expect(&mut self, user_name: String, resource: ResourceId) {
        self.offers.insert(user_name, (resource, Vec::new()));
    }

    /// Keeps a datagram if it is a check for a waiting offer; returns whether it is one.
    pub(crate) fn keep(&mut self, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) -> bool {
        if self.offers.is_empty() || datagram.len() > MAX_DATAGRAM {
            return false;
        }
        let offer = stun_user_name(datagram).and_then(|name| self.offers.get_mut(name));
        let Some((_, waiting)) = offer else {
            return false;
        };
        if waiting.len() < MOST {
            waiting.push(Waiting {
                tuple,
                ecn,
                datagram: datagram.to_vec(),
            });
        }
        true
    }

    /// Ends the wait for an answer, because it has arrived or its offer is withdrawn;
    /// returns the checks that waited.
    pub(crate) fn take(&mut self, resource: &ResourceId) -> Vec<Waiting> {
        let mut offers = self.offers.iter();
        let name = offers.find(|(_, (of, _))| of == resource);
        let name = name.map(|(name, _)| name.clone());
        let offer = name.and_then(|name| self.offers.remove(&name));
        offer.map(|(_, waiting)| waiting).unwrap_or_default()
    }
}
