//! A scenario's systems as clients see them.

use weft_experiment::{CallSetup, FlowSetup};
use weft_publish::Degradation;
use weft_units::Rate;

use crate::engine::emu::{Client, Film, film};
use crate::scenario::{Scenario, Variant};

/// What plain WebRTC is called in scenarios: what browsers are compared with.
const WEBRTC: &str = "webrtc";

/// The scenario for this client. weft is run as each of the systems; any other
/// program is what it is: systems that differ by what it is not told are one, and
/// what was published of plain WebRTC is about it. Models of applications stay
/// what they are, whatever the client.
#[must_use]
pub fn as_seen_by(client: &Client, scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    if client.is_weft() || *client.main() == Client::Model {
        return scenario;
    }
    let mut variants: Vec<Variant> = Vec::new();
    let mut systems: Vec<String> = Vec::new();
    for mut variant in std::mem::take(&mut scenario.variants) {
        let is_call = |flow: &FlowSetup| flow.traffic().media().is_some();
        if !variant.setup.flows.iter().any(is_call) {
            systems.push(variant.system.name.clone());
            variants.push(variant);
            continue;
        }
        let system = name(client, &variant);
        let case = variant
            .name
            .strip_prefix(&variant.system.name)
            .unwrap_or_default();
        variant.name = format!("{system}{case}");
        let was = std::mem::replace(&mut variant.system.name, system);
        if !variants
            .iter()
            .any(|known| is_same(client, known, &variant))
        {
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
        let is_kept = names.contains(&entry.system);
        (is_kept || rest.is_some_and(|rest| !rest.starts_with('-'))) && entry.relative_to.is_none()
    });
    scenario
}

/// Whether a program that is one system sees the same network in both.
fn is_same(client: &Client, a: &Variant, b: &Variant) -> bool {
    let is_told_nothing = matches!(client.main(), Client::Exec(_));
    let flows = a.setup.flows.iter().zip(&b.setup.flows);
    let mut flows = flows.map(|(a, b)| {
        let calls = a.traffic().media().zip(b.traffic().media());
        let told = calls.is_some_and(|(a, b)| is_told_nothing || told(a) == told(b));
        a.routes == b.routes && (a.kind == b.kind || told)
    });
    a.name == b.name && a.setup.links == b.setup.links && flows.all(|same| same)
}

/// What a client is told of its call: what it films and hears, and the most
/// that it may send.
fn told(call: &CallSetup) -> Vec<(Vec<CameraTold>, bool)> {
    let sides = [&call.caller, &call.callee].into_iter();
    let told = sides.map(|side| {
        let cameras = side.cameras.iter();
        let cameras = cameras.map(|c| (film(&c.source), c.max_rate, c.degradation));
        (cameras.collect(), !side.microphones.is_empty())
    });
    told.collect()
}

/// Pictures, highest rate, and what gives way.
type CameraTold = (Film, Rate, Degradation);

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
