//! `weft relay`: forwards the stream of a nearby encoder over all links to any WHIP
//! server. The encoder's side is a server in this process whose media plane is the relay.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use weft_endpoint::caller::CallError;
use weft_endpoint::{Relay, RelayError, RelayEvent, RelayInlet};
use weft_server::axum::routing::get;
use weft_server::axum::{Json, Router};
use weft_server::media_plane::{
    self, Destination, Event as MediaEvent, Media, MediaError, MediaPlane, Negotiated, Play,
    Publish, Request, ResourceId, Stats,
};
use weft_server::{Security, Server, ServerConfig, unguessable};

use crate::cli::RelayArgs;
use crate::exit::{Failure, say};
use crate::follow::{Output, follow};
use crate::interrupt;
use crate::publish;
use crate::state::state_folder;
use crate::statistics::StatsFile;

/// Room in the address for the encoder.
const ROOM: &str = "live";

pub fn run(args: RelayArgs) -> Result<(), Failure> {
    let mut stats = args.stats.as_deref().map(StatsFile::create).transpose()?;
    let (events, incoming) = media_plane::events();
    let tell_server = move |event| {
        // The receiver is gone while the server shuts down.
        let _ = events.send(match event {
            RelayEvent::Connected { encoder } => MediaEvent::Connected {
                resource: ResourceId(encoder),
            },
            RelayEvent::Ended { encoder, reason } => MediaEvent::Ended {
                resource: ResourceId(encoder),
                reason,
            },
            _ => return,
        });
    };
    let endpoint = args.server.server(&args.to, None);
    let here = here(args.listen.ip())?;
    let relay = Relay::start(&endpoint, args.network.config(), here, tell_server)?;
    let token = args.encoder_token.clone();
    let token = token.or_else(|| (!here.is_loopback()).then(unguessable));
    let served = Json(json!({ "mode": "relay" }));
    let config = ServerConfig {
        listen: args.listen,
        security: Security::Auto,
        state: state_folder(),
        token: token.clone(),
        extra: Some(Router::new().route("/api/call", get(move || async move { served }))),
        ..ServerConfig::default()
    };
    let server = Server::start_with(config, Arc::new(RelayPlane(relay.inlet())), incoming)?;
    say(format_args!("{}whip/{ROOM}", server.url))?;
    match &token {
        Some(token) => {
            complain!("weft: the encoder publishes to this address, with the bearer token {token}")
        }
        None => complain!("weft: the encoder publishes to this address, without a token"),
    }
    let inlet = relay.inlet();
    interrupt::on_ctrl_c(move || {
        interrupt::end_after(Duration::ZERO, 0);
        inlet.end();
    });
    let limit = args.seconds.map(Duration::from_secs);
    if let Some(limit) = limit {
        interrupt::end_after(limit, 0);
    }
    follow(
        limit,
        |wait| relay.next_event(wait),
        || relay.statistics(),
        |output| match (output, &mut stats) {
            (Output::Event(event), _) => publish::tell(&event),
            (Output::Figures(figures), Some(stats)) => stats.write(&figures),
            (Output::Figures(_), None) => {}
        },
    );
    let ended = relay.leave().map_err(Failure::from);
    server.shutdown();
    ended.and(stats.map_or(Ok(()), StatsFile::finish))
}

/// Returns the address of this machine that encoders connect to.
fn here(listen: IpAddr) -> Result<IpAddr, Failure> {
    if listen.is_unspecified() {
        return Err(Failure::usage(format_args!(
            "--listen {listen}: name one address of this machine, since the encoder's media comes \
             there, too; 127.0.0.1 is for encoders on this machine"
        )));
    }
    Ok(listen)
}

/// Media plane with one publisher at a time, whose media the relay sends.
struct RelayPlane(RelayInlet);

impl MediaPlane for RelayPlane {
    fn send(&self, _: Destination<'_>, request: Request) {
        let mut plane = self;
        request(&mut plane);
    }
}

impl Media for &RelayPlane {
    fn publish(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        let relayed = self.0.publish(&publish.resource.0, publish.offer);
        let relayed = relayed.map_err(|error| match error {
            RelayError::Call(CallError::Negotiation(error)) => error.into(),
            RelayError::Call(CallError::Ended) => MediaError::Gone,
            RelayError::Busy => MediaError::WrongState {
                reason: error.to_string(),
            },
            error => MediaError::BadDescription {
                reason: error.to_string(),
            },
        })?;
        Ok(Negotiated {
            sdp: relayed.sdp,
            streams: relayed.publishing,
            ice_session: None,
        })
    }

    fn play(&mut self, _: Play) -> Result<Negotiated, MediaError> {
        Err(plays_nothing())
    }

    fn answer(&mut self, _: ResourceId, _: String) -> Result<(), MediaError> {
        Err(plays_nothing())
    }

    fn close(&mut self, resource: &ResourceId) {
        self.0.close(&resource.0);
    }

    fn stats(&mut self) -> Stats {
        Stats::default()
    }
}

fn plays_nothing() -> MediaError {
    let reason =
        "a relay plays nothing here; play it from the server that it publishes to".to_owned();
    MediaError::WrongState { reason }
}
