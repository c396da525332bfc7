//! Conference server: HTTP, WHIP, WHEP, rooms, the embedded page.
//!
//! [`Server::start`] runs HTTP and the forwarding of media, each on threads of
//! its own; [`Server::start_with`] puts HTTP before another media plane. The
//! two are joined by channels: HTTP handlers send [`media_plane::Command`]s
//! and the plane reports [`media_plane::Event`]s, so a slow request never
//! delays a packet.

mod auth;
mod clock;
mod config;
mod error;
mod forwarding;
mod hub;
mod listener;
pub mod media_plane;
mod own_certificate;
mod page;
mod problem;
mod routes;
mod server;
mod tls;

pub use axum;
pub use config::{Limits, MediaConfig, Security, ServerConfig};
pub use error::ServerError;
pub use hub::unguessable;
pub use own_certificate::Renewal;
pub use problem::Problem;
pub use server::{Resident, Server, ServerHandle};
pub use weft_sfu::{
    Camera, LinkReport, LinkState, MAX_CAMERAS, MAX_LINKS, ParticipantKind, Publishing,
};

#[cfg(test)]
mod tests;
