//! Links between two servers of a conference.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use weft_experiment::{FlowKind, InterconnectSetup};

use super::{Conditions, Fields, Result, Ways};
use crate::scenario::place::Text;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Interconnect {
    servers: Option<Spanned<Vec<Text>>>,
}

impl Fields for Interconnect {
    fn ways(&self) -> Ways<'_> {
        Ways::Named
    }

    fn read(&self, conditions: &Conditions<'_>, whole: Range<usize>) -> Result<FlowKind> {
        let named = self.servers.as_ref();
        let names = named.map(|servers| servers.get_ref().as_slice());
        let Some([first, second]) = names else {
            let message = "an interconnect joins two servers of a conference: write for example servers = [\"east\", \"west\"]";
            let place = named.map_or(whole, Spanned::span);
            return Err(conditions.source.error(place, message));
        };
        let servers = [first, second].map(|name| name.get_ref().clone());
        Ok(FlowKind::Interconnect(InterconnectSetup { servers }))
    }
}
