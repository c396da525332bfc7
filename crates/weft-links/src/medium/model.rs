use super::ids::{ChannelId, StationId};
use super::port::Port;
use super::radio::RadioCounters;
use super::service::ServiceTime;
use crate::{Departure, PacketInfo, Tally};
use weft_units::{Deadline, Duration, Instant};

/// Interface of a kind of medium, used by [`Medium`](crate::Medium).
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

    /// Returns the use of a cell's channel: carrying one exchange, idle, and wasted.
    fn channel_time(&mut self, _now: Instant, _channel: ChannelId) -> Option<ServiceTime> {
        None
    }
    /// Returns the transmission counters of a station of a cell.
    fn radio(&self, _station: StationId) -> Option<RadioCounters> {
        None
    }
    /// Returns the time that the medium spent on packets for a station, if it assigns its
    /// time to receivers.
    fn carried_to(&mut self, _now: Instant, _station: StationId) -> Option<Duration> {
        None
    }

    fn port(&self, station: StationId) -> &Port<P>;
    /// Returns the port of the station, to change its line from `now` on.
    fn port_mut(&mut self, now: Instant, station: StationId) -> &mut Port<P>;
    /// Returns the packets of the station on the medium, from waiting to ended but not
    /// polled.
    fn in_flight(&self, station: StationId) -> Tally;
}
