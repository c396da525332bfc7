//! Systems of a scenario as clients run them.

use weft_experiment::{CallSetup, FlowSetup};
use weft_publish::Degradation;
use weft_units::Rate;

use crate::engine::emu::{Client, Film, film};
use crate::scenario::{Scenario, Variant};

/// Name of plain WebRTC in scenarios: the counterpart of browsers.
const WEBRTC: &str = "webrtc";

/// Returns the scenario for this client. weft is run with each of the systems. For any
/// other program, systems that differ only in settings that it does not receive become
/// one system, and published values of plain WebRTC apply to it. Models of applications
/// are the same for every client.
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
    // Systems whose `set` changes the network stay separate.
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

/// Whether a program without system settings sees the same network in both.
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

/// Returns the call settings that a client receives: its media, and the highest rate.
fn told(call: &CallSetup) -> Vec<(Vec<CameraTold>, bool)> {
    let sides = [&call.caller, &call.callee].into_iter();
    let told = sides.map(|side| {
        let cameras = side.cameras.iter();
        let cameras = cameras.map(|c| (film(&c.source), c.max_rate, c.degradation));
        (cameras.collect(), !side.microphones.is_empty())
    });
    told.collect()
}

/// Pictures, highest rate, and the dimension that is reduced first.
type CameraTold = (Film, Rate, Degradation);

/// Returns the client's name, with the links if it does not use all.
fn name(client: &Client, variant: &Variant) -> String {
    let Some(links) = &variant.system.links else {
        return client.name().to_owned();
    };
    let names = links.iter().map(|&link| variant.links[link].as_str());
    format!("{}@{}", client.name(), names.collect::<Vec<_>>().join("+"))
}

#[cfg(test)]
mod tests;
