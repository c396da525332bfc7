//! `weft serve`: the conference server.

use std::sync::mpsc::channel;

use weft_server::axum::routing::get;
use weft_server::axum::{Json, Router};
use weft_server::{Security, Server, ServerConfig};

use crate::cli::ServeArgs;
use crate::exit::Failure;
use crate::interrupt;

pub fn run(args: ServeArgs) -> Result<(), Failure> {
    let security = match (args.certificate, args.key) {
        (Some(certificate), Some(key)) => Security::Certificate { certificate, key },
        _ if args.insecure_http => Security::InsecureHttp,
        _ => Security::Auto,
    };
    let config = ServerConfig {
        listen: args.listen,
        security,
        token: args.token,
        extra: Some(rooms_mode()),
        ..ServerConfig::default()
    };
    let server = Server::start(config)
        .map_err(|error| Failure::Usage(format!("{error}; {}", error.remedy())))?;
    println!("{}", server.url);
    let (sender, ended) = channel();
    interrupt::on_ctrl_c(move || {
        let _ = sender.send(());
    });
    // The sender lives in the handler: this waits for Ctrl-C.
    let _ = ended.recv();
    server.shutdown();
    Ok(())
}

/// Tells the page that it is one of rooms, not of a single call.
pub fn rooms_mode() -> Router {
    let mode = || async { Json(serde_json::json!({ "mode": "rooms" })) };
    Router::new().route("/api/call", get(mode))
}
