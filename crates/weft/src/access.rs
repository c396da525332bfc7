//! Options of the commands that are clients of a server.

use std::path::PathBuf;

use clap::Args;
use weft_endpoint::signalling::{Server, Trust};

use crate::values::token;

const SERVER: &str = "Server";

/// Access to a server.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Bearer token of the server
    #[arg(help_heading = SERVER, long, value_name = "TOKEN", env = "WEFT_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<String>,
    /// Trust the certificates in this file (PEM): those of a certificate authority, or a
    /// copy of the server's own
    #[arg(
        help_heading = SERVER,
        long,
        value_name = "FILE",
        conflicts_with = "insecure"
    )]
    pub ca: Option<PathBuf>,
    /// Accept any certificate; an attacker on the network can then listen in
    #[arg(help_heading = SERVER, long)]
    pub insecure: bool,
}

impl ServerArgs {
    /// Returns the server at `url`, with this token unless an option sets one.
    pub fn server(&self, url: &str, token: Option<String>) -> Server {
        Server {
            url: url.to_owned(),
            token: token.or_else(|| self.token.clone()),
            trust: match (&self.ca, self.insecure) {
                (Some(file), _) => Trust::File(file.clone()),
                (None, true) => Trust::Anybody,
                (None, false) => Trust::Public,
            },
        }
    }
}
