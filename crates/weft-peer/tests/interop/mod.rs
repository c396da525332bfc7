//! Interoperation with str0m, a complete WebRTC endpoint by other authors (its DTLS and ciphers
//! come from the libraries that we use, too): offer and answer as text, media both ways, over two
//! of our links in virtual time. The findings are in docs/protocol/interop.md.

use std::sync::Arc;
use std::time::Instant as StdInstant;

use str0m::change::{SdpAnswer, SdpOffer};
use str0m::format::Codec;
use str0m::media::{Direction as Str0mDirection, MediaKind as Str0mKind, MediaTime, Mid};
use str0m::net::{DatagramRecv, Protocol, Receive};
use str0m::{Candidate, Rtc, RtcConfig};
use weft_ice::IceRole;
use weft_peer::{AnswerPolicy, Offer, Output, Peer, Section, StreamDirection, answer};
use weft_session::{Delivery, Level};
use weft_units::{Duration, Ecn, FiveTuple, Instant, MediaKind, Rng};

use crate::common::{FRAME_INTERVAL, Record, Side, Source, config, frame, heed, source};
use crate::wires::{Family, Wires, any_epoch};

const LINKS: [&str; 2] = ["rate=6mbit,delay=15ms", "rate=4mbit,delay=25ms"];

/// Call between a peer of ours with two links and str0m.
struct Call {
    now: Instant,
    epoch: StdInstant,
    peer: Peer,
    str0m: Rtc,
    str0m_timeout: Instant,
    wires: Wires,
    /// Side that sends the video.
    sender: Who,
    mid: Option<Mid>,
    source: Source,
    next_frame: Option<Instant>,
    record: Record,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Weft,
    Str0m,
}

impl Call {
    fn new(seed: u64, offerer: Who, sender: Who) -> Call {
        let (rng, epoch) = (Rng::new(seed), any_epoch());
        let mut str0m = RtcConfig::new()
            .set_crypto_provider(Arc::new(str0m_aws_lc_rs::default_provider()))
            .clear_codecs()
            .enable_vp8(true)
            .build(epoch);
        let host = Candidate::host(Family::V4.hub(), "udp").expect("a candidate");
        str0m.add_local_candidate(host);
        let wires = Wires::new(Family::V4, &LINKS, &rng);
        let role = match offerer {
            Who::Weft => IceRole::Controlling,
            Who::Str0m => IceRole::Controlled,
        };
        let mut config = config(role, epoch, &rng.stream("weft"));
        config.locals = wires.locals();
        let (peer, mid) = match offerer {
            Who::Weft => (we_offer(&mut str0m, config, sender), None),
            Who::Str0m => str0m_offers(&mut str0m, config, sender),
        };
        Call {
            now: Instant::ZERO,
            epoch,
            peer,
            str0m,
            str0m_timeout: Instant::ZERO,
            wires,
            sender,
            mid,
            source: source(rng.stream("frames")),
            next_frame: None,
            record: Record::default(),
        }
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        self.drain();
        loop {
            let peer = self.peer.poll_timeout().map(|d| d.at);
            let all = [peer, self.wires.poll_timeout(), self.next_frame];
            let all = all.into_iter().flatten().chain([self.str0m_timeout]);
            let Some(next) = all.min().filter(|at| *at <= end) else {
                break;
            };
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some(datagram) = self.wires.poll(now) {
            if datagram.to == Family::V4.hub() {
                let receive = Receive {
                    proto: Protocol::Udp,
                    source: datagram.from,
                    destination: datagram.to,
                    contents: DatagramRecv::try_from(&datagram.bytes[..]).expect("it is known"),
                };
                let input = str0m::Input::Receive(self.clock(), receive);
                self.str0m.handle_input(input).expect("str0m takes it");
                self.drain_str0m();
            } else {
                self.peer.handle_datagram(
                    now,
                    FiveTuple::udp(datagram.to, datagram.from),
                    Ecn::NotEct,
                    &datagram.bytes,
                );
            }
        }
        if self.peer.poll_timeout().is_some_and(|d| d.at <= now) {
            self.peer.handle_timeout(now);
        }
        let tick = str0m::Input::Timeout(self.clock());
        self.str0m.handle_input(tick).expect("str0m ticks");
        if self.next_frame.is_some_and(|at| at <= now) {
            self.next_frame = Some(now + FRAME_INTERVAL);
            self.send_frame();
        }
        self.drain();
    }

    fn send_frame(&mut self) {
        let (now, clock) = (self.now, self.clock());
        let (peer, str0m) = (&mut self.peer, &mut self.str0m);
        match self.sender {
            Who::Weft => {
                let (stream, picture) = (peer.streams()[0].stream, self.source.capture(now));
                peer.send_frame(now, stream, &frame(&picture))
                    .expect("negotiated");
            }
            Who::Str0m => {
                let writer = self.mid.and_then(|mid| str0m.writer(mid));
                let writer = writer.expect("the section sends");
                let mut payloads = writer.payload_params();
                let vp8 = payloads.find(|p| p.spec().codec == Codec::Vp8);
                let payload_type = vp8.expect("VP8 was negotiated").pt();
                drop(payloads);
                let picture = self.source.capture(now);
                let time = MediaTime::from_90khz(u64::from(picture.timestamp));
                let written = writer.write(payload_type, clock, time, picture.data);
                written.expect("str0m takes the frame");
            }
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.peer.poll_output() {
            match output {
                Output::Transmit {
                    tuple, datagram, ..
                } => self
                    .wires
                    .send(self.now, tuple.local, tuple.remote, datagram),
                Output::Event(event) => {
                    let side = match self.sender {
                        Who::Weft => Side::Sender,
                        Who::Str0m => Side::Receiver,
                    };
                    self.record.on_event(self.now, side, &event);
                    if self.sender == Who::Weft {
                        heed(&mut self.source, &event);
                        if self.peer.is_connected() {
                            self.next_frame.get_or_insert(self.now);
                        }
                    }
                }
            }
        }
        self.drain_str0m();
    }

    fn drain_str0m(&mut self) {
        loop {
            match self.str0m.poll_output().expect("str0m works") {
                str0m::Output::Timeout(at) => {
                    let after = at.saturating_duration_since(self.epoch);
                    let after = Duration::from(after).min(Duration::from_secs(3600));
                    // str0m also asks for times in the past.
                    let soon = self.now + Duration::from_millis(1);
                    self.str0m_timeout = (Instant::ZERO + after).max(soon);
                    return;
                }
                str0m::Output::Transmit(transmit) => {
                    let bytes = transmit.contents.to_vec();
                    self.wires
                        .send(self.now, transmit.source, transmit.destination, bytes);
                }
                str0m::Output::Event(event) => self.on_str0m(event),
            }
        }
    }

    fn on_str0m(&mut self, event: str0m::Event) {
        match event {
            str0m::Event::Connected if self.sender == Who::Str0m => {
                self.next_frame = Some(self.now);
            }
            str0m::Event::MediaAdded(media) => self.mid = Some(media.mid),
            str0m::Event::MediaData(media) => self.record.on_frame(self.now, &media.data),
            str0m::Event::KeyframeRequest(_) => self.source.keyframe_wanted = true,
            _ => {}
        }
    }

    fn clock(&self) -> StdInstant {
        self.epoch + std::time::Duration::from(self.now.saturating_since(Instant::ZERO))
    }
}

fn we_offer(str0m: &mut Rtc, config: weft_peer::PeerConfig, sender: Who) -> Peer {
    let direction = match sender {
        Who::Weft => StreamDirection::Send,
        Who::Str0m => StreamDirection::Receive,
    };
    let section = Section::new(MediaKind::Video, direction);
    let offer = Offer::new(Instant::ZERO, config, &[section], Delivery::Frames);
    let text = SdpOffer::from_sdp_string(&offer.sdp()).expect("str0m reads our offer");
    let answer = str0m.sdp_api().accept_offer(text).expect("str0m takes it");
    let peer = offer.accept(Instant::ZERO, &answer.to_sdp_string());
    peer.expect("we take its answer")
}

fn str0m_offers(
    str0m: &mut Rtc,
    config: weft_peer::PeerConfig,
    sender: Who,
) -> (Peer, Option<Mid>) {
    let (direction, policy) = match sender {
        Who::Weft => {
            let send = vec![MediaKind::Video.into()];
            let receive = None;
            (Str0mDirection::RecvOnly, AnswerPolicy { receive, send })
        }
        Who::Str0m => {
            let receive = Some(Delivery::Frames);
            let send = Vec::new();
            (Str0mDirection::SendOnly, AnswerPolicy { receive, send })
        }
    };
    let mut api = str0m.sdp_api();
    let mid = api.add_media(Str0mKind::Video, direction, None, None, None);
    let (offer, pending) = api.apply().expect("there is something to offer");
    let (peer, text) =
        answer(Instant::ZERO, config, &offer.to_sdp_string(), &policy).expect("we take its offer");
    let text = SdpAnswer::from_sdp_string(&text).expect("str0m reads our answer");
    let accepted = str0m.sdp_api().accept_answer(pending, text);
    accepted.expect("str0m takes our answer");
    (peer, Some(mid))
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn str0m_merges_two_links_and_a_cut_does_not_stop_it() {
    for offerer in [Who::Weft, Who::Str0m] {
        for cut in [0, 1] {
            let mut call = Call::new(1, offerer, Who::Weft);
            call.run(seconds(4));
            assert_eq!(call.peer.session().level(), Level::SenderSide);
            let bytes = call.wires.delivered();
            let share = bytes[0].0 as f64 / (bytes[0].0 + bytes[1].0) as f64;
            assert!((0.15..=0.99).contains(&share), "link 0 carried {share}");
            let cut_at = call.now;
            call.wires.cut(call.now, cut);
            call.run(seconds(3));
            call.wires.restore(call.now, cut);
            call.run(seconds(3));
            let verdict = call.record.path_down(Side::Sender, cut_at);
            let verdict = verdict.map(|at| at - cut_at);
            let gap = call.record.longest_gap(cut_at, call.now);
            println!("{offerer:?} offers, link {cut} cut: verdict {verdict:?}, gap {gap:?}");
            let verdict = verdict.expect("a verdict");
            // The second link has only probes, four a second.
            let latest = Duration::from_millis([300, 500][cut]);
            assert!(verdict <= latest, "{verdict:?}");
            assert!(gap <= Duration::from_millis(500), "no frame for {gap:?}");
            let shown = call.record.shown_between(cut_at, call.now);
            assert!((165..=185).contains(&shown), "{shown} frames in 6 s");
        }
    }
}

#[test]
fn str0m_publishes_to_us_on_one_link_and_moves_when_it_has_lost_it() {
    for offerer in [Who::Weft, Who::Str0m] {
        let mut call = Call::new(2, offerer, Who::Str0m);
        call.run(seconds(5));
        let shown = call
            .record
            .shown_between(Instant::ZERO + seconds(1), call.now);
        assert!((115..=121).contains(&shown), "{shown} frames in 4 s");
        let bytes = call.wires.delivered();
        let used = usize::from(bytes[1].1 > bytes[0].1);
        let idle = bytes[1 - used].1 as f64 / bytes[used].1 as f64;
        assert!(idle < 0.05, "str0m sends on its nominated pair: {bytes:?}");
        let cut_at = call.now;
        call.wires.cut(call.now, used);
        call.run(seconds(40));
        let gap = call.record.longest_gap(cut_at, call.now);
        println!("{offerer:?} offers, str0m sends, its link cut: gap {gap:?}");
        assert!(
            gap >= Duration::from_millis(100) && gap <= seconds(30),
            "{gap:?}"
        );
    }
}
