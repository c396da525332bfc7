//! Server alone: `serve [ADDRESS]`, by default on a free port of loopback.
//! Prints its address and exits at the end of its input.

use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};
use weft_server::{Server, ServerConfig};

fn main() {
    let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listen = std::env::args().nth(1).map_or(Ok(free), |a| a.parse());
    let listen = listen.expect("an address with a port, as 127.0.0.1:8080");
    let config = ServerConfig {
        listen,
        ..ServerConfig::default()
    };
    match Server::start(config) {
        Ok(server) => {
            println!("{}", server.url);
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            server.shutdown();
        }
        Err(error) => {
            eprintln!("{error}. {}", error.remedy());
            std::process::exit(1);
        }
    }
}
