//! TURN client (RFC 8656): relays for links over which UDP does not reach the peer.

mod client;
mod relay;
mod server;

pub use relay::{TurnConnector, TurnNews, TurnRelay, TurnRoute, TurnStream};
pub(crate) use server::{MAX_SERVERS, RoomIceServer};
pub use server::{TurnServer, TurnServerError, TurnTransport};
