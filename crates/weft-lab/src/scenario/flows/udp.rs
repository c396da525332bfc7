//! Packets of one size at a constant rate.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use weft_experiment::{FlowKind, UdpSetup};

use super::{Conditions, Fields, Result};
use crate::scenario::quantity::{Size, Speed};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Udp {
    rate: Option<Spanned<Speed>>,
    packet: Option<Spanned<Size>>,
}

impl Fields for Udp {
    fn read(&self, conditions: &Conditions<'_>, whole: Range<usize>) -> Result<FlowKind> {
        let Some(rate) = &self.rate else {
            let message = "a flow of kind \"udp\" needs a `rate`, such as rate = \"1mbit\"";
            return Err(conditions.source.error(whole, message));
        };
        let mut setup = UdpSetup::new(rate.get_ref().0);
        if let Some(packet) = &self.packet {
            setup.packet = packet.get_ref().0;
        }
        Ok(FlowKind::Udp(setup))
    }
}
