//! Sending of packets: each is protected once and sent on one or more paths.

use weft_session::{Level, Protocol, Repeat, Retention, Transmit};
use weft_units::{Ecn, Instant, PathId};
use weft_wire::rtp;

use super::{Event, Output, Peer};

impl Peer {
    /// Protects a packet once and sends it on its path and the paths of its copies.
    pub(super) fn transmit(&mut self, now: Instant, transmit: Transmit) {
        let plain = self.sent.plain(now, &transmit);
        let Transmit {
            path,
            ecn,
            mut copies,
            mut packet,
            rest,
            protocol,
            retention,
        } = transmit;
        let captured = plain.map(|plain| (plain, copies.clone()));
        if protocol == Protocol::Rtcp && self.session.level() != Level::Full {
            self.copy_report(&copies, &packet);
            copies.clear();
        }
        let protected = match protocol {
            Protocol::Rtp => self.association.protect_rtp(&mut packet, &rest),
            Protocol::Rtcp => self.association.protect_rtcp(&mut packet),
        };
        if protected.is_err() {
            // Not connected yet, or the indices are used up: the association counts it.
            return;
        }
        if let Some((plain, copies)) = captured {
            self.capture_sent(protocol, [path].into_iter().chain(copies), &plain);
        }
        if retention == Retention::Repeatable
            && let Ok(header) = rtp::peek(&packet)
        {
            let (ssrc, sequence) = (header.ssrc, header.sequence);
            self.sent.protected.insert(now, ssrc, sequence, &packet);
        }
        let Some((last, others)) = copies.split_last() else {
            self.push_on(path, ecn, packet);
            return;
        };
        self.push_on(path, ecn, packet.clone());
        for copy in others {
            self.push_on(*copy, Ecn::NotEct, packet.clone());
        }
        self.push_on(*last, Ecn::NotEct, packet);
    }

    /// Sends a report on more paths, each time with its own index: implementations other than
    /// weft treat the same bytes as a replay, and Janus logs each replay as an error.
    fn copy_report(&mut self, paths: &[PathId], report: &[u8]) {
        for path in paths {
            let mut packet = report.to_vec();
            if self.association.protect_rtcp(&mut packet).is_ok() {
                self.push_on(*path, Ecn::NotEct, packet);
            }
        }
    }

    /// Sends protected bytes again, unless they are too old to be stored.
    pub(super) fn repeat(&mut self, repeat: Repeat) {
        let sent = &self.sent;
        let Some(packet) = sent.protected.get(repeat.ssrc, repeat.sequence) else {
            return;
        };
        let packet = packet.to_vec();
        if let Some(plain) = sent.plain_again(&repeat) {
            let paths = repeat.copies.iter().copied().chain([repeat.path]);
            self.capture_sent(Protocol::Rtp, paths, &plain);
        }
        for copy in &repeat.copies {
            self.push_on(*copy, Ecn::NotEct, packet.clone());
        }
        self.push_on(repeat.path, Ecn::NotEct, packet);
    }

    /// Sends the packets of the data channels; returns whether there were any.
    pub(super) fn pump_data(&mut self, now: Instant) -> bool {
        let Some(data) = &mut self.data else {
            return false;
        };
        let mut progressed = false;
        // Nothing below changes the paths, and a long message has many packets.
        let mut ranked = None;
        while let Some(output) = data.channels.poll_output() {
            progressed = true;
            match output {
                weft_data::Output::Packet {
                    packet,
                    has_message,
                    is_copied,
                } => {
                    let ranked = ranked.get_or_insert_with(|| self.session.message_paths());
                    let paths = data.choose(now, ranked, (has_message, is_copied));
                    self.association.send_data(now, &packet, &paths);
                }
                weft_data::Output::Event(event) => {
                    self.outputs.push_back(Output::Event(Event::Data(event)));
                }
            }
        }
        progressed
    }

    fn push_on(&mut self, path: PathId, ecn: Ecn, datagram: Vec<u8>) {
        if let Some(path) = self.association.path(path) {
            let tuple = path.tuple;
            self.outputs.push_back(Output::Transmit {
                tuple,
                ecn,
                datagram,
            });
        }
    }
}
