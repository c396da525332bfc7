//! TURN server (RFC 8656) for clients behind firewalls that block UDP. It relays only
//! between them and the media addresses of this server, so it is not an open relay.
//!
//! [`Session`] has the protocol of one client, without sockets and clocks; [`relay`]
//! connects it to sockets, on a separate thread.

mod authority;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod peers;
mod places;
mod relay;
mod session;
mod terms;

use crate::error::ServerError;
use crate::http_slots::HttpSlot;
use crate::stream::Stream;
pub(crate) use peers::MediaPeers;
use session::{Session, Transport};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
pub(crate) use terms::Terms;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// First octets of STUN messages (RFC 8489 section 5, with methods below 0x200). No HTTP
/// request and no TLS record starts with them.
pub(crate) const STUN_OCTETS: std::ops::RangeInclusive<u8> = 0..=3;

/// Running TURN server; dropping it ends its thread.
pub(crate) struct TurnServer {
    terms: Arc<Terms>,
    runtime: Handle,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl TurnServer {
    pub(crate) fn start(terms: Terms) -> Result<TurnServer, ServerError> {
        let system = |e: std::io::Error| ServerError::System {
            reason: e.to_string(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(system)?;
        let handle = runtime.handle().clone();
        let (stop, mut stopped) = watch::channel(false);
        let thread = thread::Builder::new()
            .name("weft-turn".to_owned())
            .spawn(move || {
                let _ = runtime.block_on(stopped.wait_for(|stopped| *stopped));
            })
            .map_err(system)?;
        Ok(TurnServer {
            terms: Arc::new(terms),
            runtime: handle,
            stop,
            thread: Some(thread),
        })
    }

    /// Serves a client over a stream. Until it has an allocation, it keeps its slot among
    /// the HTTP connections, so they bound the number of strangers.
    pub(crate) fn serve(&self, io: Stream, client: SocketAddr, slot: HttpSlot) {
        let session = Session::new(client, Transport::Stream, Arc::clone(&self.terms));
        self.runtime.spawn(relay::stream(io, session, slot));
    }
}

impl Drop for TurnServer {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
