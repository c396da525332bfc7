//! A real server for calls on loopback.

use std::net::SocketAddr;

use weft_server::{Server, ServerConfig, ServerHandle};

/// Starts a server on a free port.
pub fn server() -> ServerHandle {
    server_at(SocketAddr::from(([127, 0, 0, 1], 0)))
}

/// Starts a server at this address.
pub fn server_at(listen: SocketAddr) -> ServerHandle {
    let server = Server::start(ServerConfig {
        listen,
        ..ServerConfig::default()
    });
    server.expect("a server")
}
