//! `weft serve`: the conference server.

pub mod args;
mod configuration;
pub mod file;
mod log;
mod reload;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::channel;

use weft_server::axum::routing::get;
use weft_server::axum::{Json, Router};
use weft_server::{MAX_THREADS, Security, Server, ServerConfig, ServerHandle, TurnConfig};

use crate::compose::Arrangement;
use crate::descriptors;
use crate::exit::{Failure, say};
use crate::interrupt;
use crate::state::state_folder;
use crate::token;
use crate::tracing::{self, TraceArgs};
use args::{PageArgs, ServeArgs};
use configuration::Configuration;
use reload::Running;
use weft_trace::qlog::VantagePoint;

/// Runs the server of this process's command line.
pub fn run() -> Result<(), Failure> {
    let configuration = Configuration::load(std::env::args_os().collect())?;
    if configuration.args.check {
        return say(configuration);
    }
    let mut config = server_config(&configuration.args)?;
    // Before other threads start, because they would receive the signal.
    let hang_ups = interrupt::HangUps::hold();
    let traces = TraceArgs {
        pcap: configuration.args.pcap.clone(),
        qlog: configuration.args.qlog.clone(),
    };
    let traces = traces.create("serve", VantagePoint::Server)?;
    config.tracer = traces.tracer();
    config.operator = configuration.operator();
    let running = Arc::new(Running::new(configuration));
    config.log = running.log();
    descriptors::raise_limit();
    warn_of_unreachable_turn(&config);
    let own_certificate = config.security == Security::Auto;
    let is_open =
        config.token.is_none() && config.token_key.is_none() && !config.listen.ip().is_loopback();
    let server = Server::start(config)?;
    tell_urls(&server, None)?;
    if own_certificate {
        tell_certificate(&server);
    }
    if is_open {
        complain!(
            "weft: anyone who can reach this address can enter every room: --token SECRET keeps \
             strangers out"
        );
    }
    let (asked, end) = channel();
    let broken = asked.clone();
    let hung_up = asked.clone();
    let read_certificate = server.read_certificate();
    let reconfigure = server.reconfigure();
    let reloaded = Arc::clone(&running);
    hang_ups.take(move |terminal| match terminal {
        interrupt::Terminal::Gone => drop(hung_up.send(End::Asked)),
        interrupt::Terminal::There => {
            reloaded.reload(&reconfigure);
            read_certificate();
        }
    });
    interrupt::on_ctrl_c(move || {
        let _ = asked.send(End::Asked);
    });
    server.when_media_ends(move || {
        let _ = broken.send(End::Broken);
    });
    // The handler keeps a sender, so this blocks until an end.
    let ended = end.recv().unwrap_or(End::Asked);
    let drain = running.drain();
    if ended == End::Asked && !drain.is_zero() {
        server.drain(drain);
    }
    server.shutdown();
    let traced = tracing::finish(traces);
    match ended {
        End::Asked => traced,
        End::Broken => Err(Failure::run(
            "the media side failed because of a bug, which the lines above name. Let your \
             service manager restart the process; participants then reconnect",
        )),
    }
}

/// Server configuration of `weft serve`.
fn server_config(args: &ServeArgs) -> Result<ServerConfig, Failure> {
    let mut config = config(args.page.clone(), mode("rooms"));
    config.media = args.media.config();
    config.threads = args.threads.unwrap_or_else(processors);
    config.cluster = args.cluster.config()?;
    config.limits = args.limits.limits();
    config.media.recordings = args.recordings.clone();
    config.media.compose = args.compose.map(Arrangement::command).transpose()?;
    config.allowed_origins = args.allow_origin.clone();
    config.ice_servers = args.ice_server.clone();
    config.turn = args.turn.clone().map(|name| TurnConfig { name });
    config.token_key = token::key_of_server(&args.key, config.token.is_some())?;
    Ok(config)
}

/// Warns if browsers cannot use the built-in TURN server.
fn warn_of_unreachable_turn(config: &ServerConfig) {
    let Some(turn) = &config.turn else { return };
    let port = match &turn.name {
        Some(name) => name.port(),
        None if config.security == Security::InsecureHttp => {
            return complain!(
                "weft: proxies pass no TURN: name the address by which browsers reach this port \
                 without the proxy, --turn=HOST:PORT"
            );
        }
        None => config.listen.port(),
    };
    if port != 0 && !is_turn_port(port) {
        complain!("weft: Chromium uses no TURN server on port {port}: take 443, or 1024 or higher");
    }
}

/// Whether Chromium accepts the port (libwebrtc, p2p/base/turn_port.cc,
/// `AllowedTurnPort`).
fn is_turn_port(port: u16) -> bool {
    matches!(port, 53 | 80 | 443 | 1024..)
}

/// Returns the number of processors that this process may use, limited to the server's
/// maximum number of threads.
fn processors() -> NonZeroUsize {
    let found = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    NonZeroUsize::new(MAX_THREADS).map_or(found, |most| found.min(most))
}

/// Reason for the end of the server.
#[derive(PartialEq, Eq)]
enum End {
    Asked,
    /// The media side failed.
    Broken,
}

/// Server configuration from the command line, with additional routes.
pub fn config(args: PageArgs, extra: Router) -> ServerConfig {
    let security = match (args.certificate, args.key) {
        (Some(certificate), Some(key)) => Security::Certificate { certificate, key },
        _ if args.insecure_http => Security::InsecureHttp,
        _ => Security::Auto,
    };
    ServerConfig {
        listen: args.listen,
        security,
        state: state_folder(),
        token: args.token,
        extra: Some(extra),
        ..ServerConfig::default()
    }
}

/// Prints the URLs with the token: first for this machine, then for others.
pub fn tell_urls(server: &ServerHandle, token: Option<&str>) -> Result<(), Failure> {
    let query = token.map_or(String::new(), |token| format!("?token={token}"));
    let urls = [&server.url].into_iter().chain(&server.urls_elsewhere);
    for url in urls {
        say(format_args!("{url}{query}"))?;
    }
    Ok(())
}

/// Prints the fingerprint of a self-signed certificate, and the reason for its renewal.
pub fn tell_certificate(server: &ServerHandle) {
    let Some(fingerprint) = &server.fingerprint else {
        return;
    };
    let place = match state_folder() {
        Some(folder) => format!("is {}", folder.join("certificate.pem").display()),
        None => "lasts until the server ends".to_owned(),
    };
    if let Some(renewal) = &server.renewal {
        complain!(
            "weft: made a new certificate because the stored one {renewal}; browsers warn once more, \
             copies for `weft join --ca` stay valid"
        );
    }
    complain!(
        "weft: the server's certificate is self-signed and {place}; browsers warn about it, \
         `weft join --ca FILE` accepts a copy of it; SHA-256 {fingerprint}"
    );
}

/// Returns the route by which the page learns the mode of this server, unless it is a
/// single call: `rooms`, or the `demo` with rooms beside it.
pub fn mode(served: &'static str) -> Router {
    let mode = move || async move { Json(serde_json::json!({ "mode": served })) };
    Router::new().route("/api/call", get(mode))
}
