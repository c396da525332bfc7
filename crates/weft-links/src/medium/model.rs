use super::ids::{ChannelId, StationId};
use super::port::Port;
use super::radio::RadioCounters;
use super::service::ServiceTime;
use crate::{Departure, PacketInfo, Tally};
use weft_units::{Deadline, Duration, Instant};

/// What a kind of medium does, as [`Medium`](crate::Medium) has it.
pub(crate) trait Model<P> {
    fn channel_count(&self) -> u16 {
        1
    }
    fn channel_of(&self, _station: StationId) -> ChannelId {
        ChannelId(0)
    }

    fn enqueue(
        &mut self,
        now: Instant,
        from: StationId,
        to: StationId,
        info: PacketInfo,
        packet: P,
    );
    fn poll(&mut self, now: Instant, channel: ChannelId) -> Option<(StationId, Departure<P>)>;
    fn poll_timeout(&self, channel: ChannelId) -> Option<Deadline>;

    fn cut(&mut self, now: Instant, station: StationId);
    fn restore(&mut self, now: Instant, station: StationId);
    fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime;

    /// Of a channel of a cell: when it carried one exchange, when nobody sent,
    /// and when what was sent came to nothing.
    fn channel_time(&mut self, _now: Instant, _channel: ChannelId) -> Option<ServiceTime> {
        None
    }
    /// Of a station of a cell.
    fn radio(&self, _station: StationId) -> Option<RadioCounters> {
        None
    }
    /// How long the medium carried what others sent to a station, where it
    /// deals out its time to receivers.
    fn carried_to(&mut self, _now: Instant, _station: StationId) -> Option<Duration> {
        None
    }

    fn port(&self, station: StationId) -> &Port<P>;
    /// To change its line from `now` on.
    fn port_mut(&mut self, now: Instant, station: StationId) -> &mut Port<P>;
    /// What it has of the station's packets, waiting to ended and not polled.
    fn in_flight(&self, station: StationId) -> Tally;
}
