mod hostile;
mod liveness;
mod moving;
mod net;
mod network_pairs;
mod nominate;
mod pairing;
mod reflection;
mod restart;
mod tcp;
mod wired;

use crate as ice;
use crate::*;
use net::*;
use std::net::SocketAddr;
use weft_units::{Duration, FiveTuple, Instant, PathId, Rng, Transport};

const SERVER: &str = "10.0.0.9:1";
const WIFI: &str = "10.0.0.1:1";
const LTE: &str = "10.0.1.1:1";

fn two_links(wifi_ms: u64, lte_ms: u64) -> Net {
    let mut net = Net::new(SERVER, &[(WIFI, wifi_ms), (LTE, lte_ms)]);
    net.connect();
    net.run_for(1000);
    net
}

fn downs(events: &[(u64, Event)]) -> Vec<(u64, PathId)> {
    let down = |(at, event): &(u64, Event)| match event {
        Event::PathDown { path, .. } => Some((*at, *path)),
        _ => None,
    };
    events.iter().filter_map(down).collect()
}

fn ups(events: &[(u64, Event)]) -> Vec<(u64, PathId)> {
    let up = |(at, event): &(u64, Event)| match event {
        Event::PathUp { path, .. } => Some((*at, *path)),
        _ => None,
    };
    events.iter().filter_map(up).collect()
}

fn removals(events: &[(u64, Event)]) -> Vec<(u64, PathId)> {
    let removed = |(at, event): &(u64, Event)| match event {
        Event::PathRemoved { path } => Some((*at, *path)),
        _ => None,
    };
    events.iter().filter_map(removed).collect()
}
