use super::service::ServiceTime;
use super::spec::{ChannelId, StationId};
use super::station::Station;
use crate::{Departure, PacketInfo};
use weft_units::{Bytes, Deadline, Instant};

/// What a kind of medium does, as [`Medium`](crate::Medium) has it.
pub(crate) trait Model<P> {
    fn channel_count(&self) -> u16;
    fn channel_of(&self, station: StationId) -> ChannelId;

    fn enqueue(&mut self, now: Instant, station: StationId, info: PacketInfo, packet: P);
    fn poll(&mut self, now: Instant, channel: ChannelId) -> Option<(StationId, Departure<P>)>;
    fn poll_timeout(&self, channel: ChannelId) -> Option<Deadline>;

    fn cut(&mut self, now: Instant, station: StationId);
    fn restore(&mut self, now: Instant, station: StationId);
    fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime;

    fn station(&self, station: StationId) -> &Station<P>;
    /// To change its line from `now` on.
    fn station_mut(&mut self, now: Instant, station: StationId) -> &mut Station<P>;
    /// The packet of the station that is being transmitted.
    fn in_service(&self, station: StationId) -> Option<Bytes>;
}
