//! Limits of the emulator and of the clients.

use weft_experiment::{CallSetup, FlowKind, FlowSetup, Route, Setup};
use weft_session::{Ablations, Policy, ReceiverProfile, Reporting};
use weft_units::{Codec, Duration};

use super::client::{Client, camera};
use super::traffic;
use crate::engine::EngineError;

/// Checks that the emulator and the client support a setup.
///
/// # Errors
/// The flow, and its unsupported property.
pub fn check(setup: &Setup, client: &Client) -> Result<(), EngineError> {
    if let Some(misfit) = client.misfit(setup) {
        return Err(EngineError::Lacking(misfit));
    }
    let flows = setup.flows.len();
    if 2 * flows > weft_emu::MAX_HOSTS {
        return Err(EngineError::Lacking(format!(
            "there are {flows} flows with two hosts each, but an emulated network has at most {} \
             hosts: use --engine sim, or remove flows",
            weft_emu::MAX_HOSTS
        )));
    }
    for flow in &setup.flows {
        let is_command = matches!(client.named_for(&flow.name), Some(Client::Exec(_)));
        let client = client.of_flow(&flow.name);
        if *client == Client::Swarm && flow.traffic().media().is_some() {
            return Err(EngineError::Lacking(format!(
                "flow `{}` is a call, which a swarm cannot make: name another client, and the swarm for \
                 a flow of kind tcp, as in --client weft,FLOW=swarm",
                flow.name
            )));
        }
        if *client == Client::Model && flow.traffic().media().is_some() {
            return Err(EngineError::Lacking(format!(
                "flow `{}` is a WebRTC call, but the client model makes only calls of applications \
                 with a model: use --client chromium or weft, or exclude the system with \
                 --systems",
                flow.name
            )));
        }
        let Some(what) = lacking(flow, client, is_command) else {
            // A command has no limits.
            if let (FlowKind::Tcp(tcp), false) = (&flow.kind, is_command) {
                traffic::kernels_name(&flow.name, tcp.congestion)?;
            }
            continue;
        };
        return Err(EngineError::Lacking(format!(
            "flow `{}` {what}, which the engine emu does not support: use --engine sim",
            flow.name
        )));
    }
    Ok(())
}

fn lacking(flow: &FlowSetup, client: &Client, is_command: bool) -> Option<&'static str> {
    let mut routes = flow.routes.iter();
    if routes.any(|route| route.access_delay > Duration::ZERO) {
        return Some("has an access-delay");
    }
    let mut routes = flow.routes.iter();
    if routes.any(|route| route.access_jitter > Duration::ZERO) {
        return Some("has an access-jitter");
    }
    let mut routes = flow.routes.iter();
    if routes.any(|route| route.hops.len() != 1) {
        return Some("crosses several links one behind the other");
    }
    if shares_a_medium(flow) {
        return Some("goes over two stations of one medium");
    }
    if flow
        .routes
        .iter()
        .any(|route| route.policy != Policy::default())
    {
        return Some("goes over links with conditions (weight, metered, backup)");
    }
    match flow.traffic().media() {
        Some(call) => lacking_of_call(call, client),
        None if is_command => None,
        None => traffic::lacking(&flow.kind),
    }
}

/// Whether only the links distinguish the directions of its packets.
fn shares_a_medium(flow: &FlowSetup) -> bool {
    let links = |routes: &[Route]| -> Vec<usize> {
        let hops = routes.iter().flat_map(|route| &route.hops);
        hops.map(|hop| hop.link).collect()
    };
    let is_shared = |(index, link): (usize, &usize)| links(&flow.routes[..index]).contains(link);
    links(&flow.routes).iter().enumerate().any(is_shared)
}

fn lacking_of_call(call: &CallSetup, client: &Client) -> Option<&'static str> {
    let sides = [&call.caller, &call.callee];
    let mut cameras = sides.iter().flat_map(|side| &side.cameras);
    let is_h264 = cameras.any(|camera| camera::codec(&camera.source) == Codec::H264);
    if sides.iter().any(|side| side.clock_ppm != 0) {
        return Some("has a clock that is made to go wrong");
    }
    if sides
        .iter()
        .any(|side| side.repair_decoding > Duration::ZERO)
    {
        return Some("has a repair-decoding");
    }
    if call.callee.receiver != ReceiverProfile::default() {
        return Some("is received by the model of another application");
    }
    match client {
        // They receive no settings.
        Client::Exec(_) | Client::Model | Client::Swarm | Client::Several(_) => None,
        _ if call.caller.weight.to_bits() != 1.0_f64.to_bits() => Some("has a weight"),
        _ if client.is_weft() && call.caller.ablations != Ablations::NONE => {
            Some("is made by a system `without` a part")
        }
        Client::Weft if call.callee.reporting != Reporting::default() => {
            Some("has reports like a browser's")
        }
        _ if client.is_weft() => None,
        _ => is_h264.then_some("has the encoder h264, with a client that takes its own"),
    }
}
