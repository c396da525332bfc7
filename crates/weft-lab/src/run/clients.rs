//! A scenario's systems as clients see them.

use weft_experiment::FlowSetup;

use crate::engine::emu::Client;
use crate::scenario::{Scenario, Variant};

/// What plain WebRTC is called in scenarios: what browsers are compared with.
const WEBRTC: &str = "webrtc";

/// The scenario for this client. weft is run as each of the systems; for any
/// other program, which is what it is, systems that differ by their links or
/// varied values only are one, and what was published of plain WebRTC is
/// about it.
#[must_use]
pub fn as_seen_by(client: &Client, scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    if *client == Client::Weft {
        return scenario;
    }
    let mut variants: Vec<Variant> = Vec::new();
    let mut systems: Vec<String> = Vec::new();
    for mut variant in std::mem::take(&mut scenario.variants) {
        let system = name(client, &variant);
        let case = variant
            .name
            .strip_prefix(&variant.system.name)
            .unwrap_or_default();
        variant.name = format!("{system}{case}");
        let was = std::mem::replace(&mut variant.system.name, system);
        if !variants.iter().any(|known| is_same(known, &variant)) {
            variants.push(variant);
            systems.push(was);
        }
    }
    // Systems whose `set` changes the network stay apart.
    let names: Vec<String> = variants
        .iter()
        .map(|variant| variant.name.clone())
        .collect();
    for (variant, system) in variants.iter_mut().zip(systems) {
        if names.iter().filter(|name| **name == variant.name).count() > 1 {
            variant.name = format!("{} ({system})", variant.name);
        }
    }
    scenario.variants = variants;
    scenario.baseline = None;
    scenario.published.retain_mut(|entry| {
        let rest = entry.system.strip_prefix(WEBRTC).map(str::to_owned);
        if let Some(rest) = &rest {
            entry.system = format!("{}{rest}", client.name());
        }
        rest.is_some_and(|rest| !rest.starts_with('-')) && entry.relative_to.is_none()
    });
    scenario
}

/// Whether a program that is one system sees the same network in both.
fn is_same(a: &Variant, b: &Variant) -> bool {
    let call = |flow: &FlowSetup| flow.traffic().media().is_some();
    let flows = a.setup.flows.iter().zip(&b.setup.flows);
    let mut flows =
        flows.map(|(a, b)| a.routes == b.routes && (a.kind == b.kind || call(a) && call(b)));
    a.name == b.name && a.setup.links == b.setup.links && flows.all(|same| same)
}

/// The client's, with the links if they are not all.
fn name(client: &Client, variant: &Variant) -> String {
    let Some(links) = &variant.system.links else {
        return client.name().to_owned();
    };
    let names = links.iter().map(|&link| variant.links[link].as_str());
    format!("{}@{}", client.name(), names.collect::<Vec<_>>().join("+"))
}

#[cfg(test)]
mod tests;
