//! Conference server: HTTP, WHIP, WHEP, rooms, the embedded page.
//!
//! [`Server::start`] runs HTTP and media forwarding, each on its own threads;
//! [`Server::start_with`] uses another media plane. Channels join the two: HTTP
//! handlers send [`media_plane::Request`]s, and the plane reports
//! [`media_plane::Event`]s, so a slow request never delays a packet.

#![forbid(unsafe_code)]

mod admin;
mod allowed_origin;
mod auth;
mod clock;
mod cluster;
mod cluster_address;
mod cluster_counts;
mod config;
mod connection_limit;
mod error;
mod forwarding;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod http_slots;
mod http_socket;
mod hub;
mod ice_servers;
mod ids;
mod listener;
mod live;
mod log;
pub mod media_plane;
mod origin;
mod own_certificate;
mod page;
mod pem;
mod private_file;
mod problem;
mod recorder;
mod refusals;
mod reload;
mod repeated;
mod report;
mod routes;
mod runtime;
mod secret;
mod server;
mod stream;
mod tls;
mod turn;
mod urls;
mod webhook;

pub use admin::{Answer, Order, admin_ask, admin_sockets};
pub use allowed_origin::{AllowedOrigin, OriginError};
pub use auth::{Grant, May, TokenId, TokenKey};
pub use axum;
pub use cluster_address::{
    ClusterAddress, ClusterAddressError, ClusterConfig, NodeName, PublicUrl,
};
pub use config::{
    Limits, MAX_THREADS, MediaConfig, MediaLimits, OperatorConfig, Reconfiguration, Security,
    ServerConfig, TurnConfig,
};
pub use error::{ClusterError, ServerError};
pub use ice_servers::{IceServer, IceServerError, TurnName, TurnNameError};
pub use log::{ClusterChange, Level, Log, NotAccepted, ServerEvent};
pub use own_certificate::Renewal;
pub use problem::Problem;
pub use report::{ParticipantReport, RoomReport};
pub use routes::Admitted;
pub use secret::unguessable;
pub use server::{Resident, Server, ServerHandle};
pub use webhook::{WebhookError, WebhookSecret, WebhookTarget, WebhookUrl};
pub use weft_rooms::{
    Camera, LinkReport, LinkState, MAX_CAMERAS, MAX_LINKS, ParticipantKind, Publishing,
};

#[cfg(test)]
mod tests;
