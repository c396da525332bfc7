//! What of a scenario can be emulated, and its systems as clients see them.

use weft_emu::MTU;
use weft_experiment::{CallSetup, EcnMode, FlowKind, FlowSetup, Setup};
use weft_session::Ablation;
use weft_units::{Bytes, VideoCodec};

use super::client::{Client, camera};
use super::error::EmuError;
use crate::scenario::{Scenario, Variant};

/// What plain WebRTC is called in scenarios: what browsers are compared with.
const WEBRTC: &str = "webrtc";

/// The scenario for this client. weft is run as each of the systems; for any
/// other program, which is what it is, systems that differ by their links or
/// varied values only are one, and what was published of plain WebRTC is
/// about it.
///
/// # Errors
/// What cannot be emulated.
pub fn supported(scenario: &Scenario, client: &Client) -> Result<Scenario, EmuError> {
    for variant in &scenario.variants {
        check(&variant.setup, client)?;
    }
    let mut scenario = scenario.clone();
    if *client == Client::Weft {
        return Ok(scenario);
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
    Ok(scenario)
}

/// Whether a program that is one system sees the same network in both.
fn is_same(a: &Variant, b: &Variant) -> bool {
    let call = |flow: &FlowSetup| matches!(flow.kind, FlowKind::Call(_));
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
    let names = links
        .iter()
        .map(|&link| variant.setup.links[link].name.as_str());
    format!("{}@{}", client.name(), names.collect::<Vec<_>>().join("+"))
}

/// What this client cannot be told, or the network cannot do.
fn check(setup: &Setup, client: &Client) -> Result<(), EmuError> {
    for flow in &setup.flows {
        let Some(what) = lacking(flow, client) else {
            continue;
        };
        return Err(EmuError::Lacking(format!(
            "flow `{}` {what}, which the engine emu of this version does not have: use --engine sim",
            flow.name
        )));
    }
    Ok(())
}

fn lacking(flow: &FlowSetup, client: &Client) -> Option<&'static str> {
    let mut routes = flow.routes.iter();
    if routes.any(|route| route.access_delay > weft_units::Duration::ZERO) {
        return Some("has an access-delay");
    }
    let mut routes = flow.routes.iter();
    if routes.any(|route| route.hops.len() != 1) {
        return Some("crosses several links one behind the other");
    }
    match &flow.kind {
        FlowKind::Call(call) => lacking_of_call(call, client),
        FlowKind::Tcp(tcp) => (tcp.ecn == EcnMode::On).then_some("uses ECN, being TCP"),
        FlowKind::Udp(udp) => {
            (udp.packet > Bytes(MTU as u64)).then_some("sends packets of more than 1500 bytes")
        }
    }
}

fn lacking_of_call(call: &CallSetup, client: &Client) -> Option<&'static str> {
    let sides = [&call.caller, &call.callee];
    let mut cameras = sides.iter().flat_map(|side| &side.cameras);
    let is_h264 = cameras.any(|camera| camera::codec(&camera.source) == VideoCodec::H264);
    match client {
        // It is told nothing.
        Client::Exec(_) => None,
        _ if call.caller.weight.to_bits() != 1.0_f64.to_bits() => Some("has a weight"),
        Client::Weft if call.caller.ablation != Ablation::None => {
            Some("is made by a system `without` a part")
        }
        Client::Weft => None,
        Client::Chromium | Client::Pion | Client::Aiortc => {
            is_h264.then_some("has the encoder h264, with a client that takes its own")
        }
    }
}

#[cfg(test)]
mod tests;
