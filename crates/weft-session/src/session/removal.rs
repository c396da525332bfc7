//! Removal of paths and streams, with all their state.

use weft_units::{Instant, PathId, StreamId};
use weft_wire::rtcp::Packet;

use super::{Error, Session};

impl Session {
    /// Forgets a path that is down. Its link's policy is kept, because the association
    /// still knows the path.
    pub(super) fn forget_path(&mut self, id: PathId) {
        if !self.paths.remove(id) {
            return;
        }
        self.scheduling.scheduler.on_path_removed(id);
        self.protecting.protection.on_path_removed(id);
        self.feedback.peer_paths.retain(|_, ours| *ours != id);
        self.rate.moved = true;
    }

    /// Removes a stream of either direction with all its state. For a stream that this
    /// side sends, the peer gets an RTCP BYE.
    ///
    /// # Errors
    /// If the stream does not exist.
    pub fn remove_stream(&mut self, now: Instant, id: StreamId) -> Result<(), Error> {
        self.now = now;
        if let Some(stream) = self.streams.senders.remove(&id) {
            let ssrcs = stream.ssrcs();
            self.send_rtcp(&[Packet::Goodbye(vec![stream.config.ssrc])]);
            self.paths.remove_stream(id, &ssrcs);
            self.feedback.numbers.streams.remove(&ssrcs);
            self.scheduling.scheduler.on_stream_removed(id);
        } else if let Some(stream) = self.streams.receivers.remove(id) {
            for ssrc in stream.ssrcs() {
                self.feedback.stream_logs.remove(&ssrc);
            }
        } else {
            return Err(Error::UnknownStream(id));
        }
        self.announce_rate(now);
        self.refresh_paths_due();
        Ok(())
    }
}
