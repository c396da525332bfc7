//! Requests of a room's clients to the server.

use weft_forwarding::{MediaError, Publisher};
use weft_ice::IceRole;
use weft_peer::{AnswerPolicy, Offer, Section, StreamDirection, answer};
use weft_session::Delivery;
use weft_units::{Duration, MediaKind, Rate};
use weft_wire::payload::Form;
use weft_wire::rtp::Rid;

use crate::client::Camera;
use crate::common::source;
use crate::world::Room;

fn sections(direction: StreamDirection, cameras: &[Option<Form>]) -> Vec<Section> {
    let of = |form: &Option<Form>| Section {
        form: *form,
        ..Section::new(MediaKind::Video, direction)
    };
    cameras.iter().map(of).collect()
}

/// Offer with transport-wide feedback, as browsers make it.
fn browsers(offer: &str) -> String {
    let known = |line: &&str| !line.contains("urn:weft:") && !line.contains("ack ccfb");
    let lines: Vec<&str> = offer.lines().filter(known).collect();
    lines.join("\r\n") + "\r\n"
}

impl Room {
    /// The next client publishes video.
    pub fn publish(&mut self, publisher: &Publisher) {
        self.publish_cameras(publisher, &[None]);
    }

    /// The next client publishes a camera for each of these, optionally limited to a form
    /// of a codec.
    pub fn publish_cameras(&mut self, publisher: &Publisher, cameras: &[Option<Form>]) {
        let sections = sections(StreamDirection::Send, cameras);
        self.publish_sections(publisher, &sections, &[Rate::from_mbps(1_000)]);
    }

    /// The next client publishes a camera and sound.
    pub fn publish_with_sound(&mut self, publisher: &Publisher) {
        let mut sections = sections(StreamDirection::Send, &[None]);
        sections.push(Section::new(MediaKind::Audio, StreamDirection::Send));
        self.publish_sections(publisher, &sections, &[Rate::from_mbps(1_000)]);
    }

    /// The next client publishes a camera in encodings with these maximum rates.
    pub fn publish_encodings(&mut self, publisher: &Publisher, most: &[Rate]) {
        let mut sections = sections(StreamDirection::Send, &[None]);
        let names = (0..most.len()).filter_map(|n| Rid::new(&n.to_string()));
        sections[0].encodings = names.collect();
        self.publish_sections(publisher, &sections, most);
    }

    /// The next client publishes a camera and a screen.
    pub fn publish_screen(&mut self, publisher: &Publisher) {
        self.presents = true;
        let sections = sections(StreamDirection::Send, &[None, None]);
        self.publish_sections(publisher, &sections, &[Rate::from_kbps(400); 2]);
        self.presents = false;
    }

    fn publish_sections(&mut self, publisher: &Publisher, sections: &[Section], most: &[Rate]) {
        let resource = self.next_resource();
        let mut config = self.config(IceRole::Controlling);
        config.session.max_rate = self.published;
        let offer = Offer::new(self.now, config, sections, Delivery::Frames);
        let entropy = self.entropy("server");
        let mut text = offer.sdp();
        if self.presents {
            text.push_str("a=content:slides\r\n");
        }
        let publisher = publisher.clone();
        let now = self.now;
        let answered = self
            .home()
            .publish(now, resource, publisher, &text, &entropy);
        let answered = answered.expect("the offer is good");
        let peer = offer.accept(self.now, &answered.sdp);
        let (interval, layers) = self.pictures;
        let of = |most: &Rate| {
            let source = source(self.rng.stream("frames"));
            (source.with(interval, layers), *most)
        };
        let camera = Camera {
            sources: most.iter().map(of).collect(),
            next_frame: None,
            keyframes_asked: 0,
            wanted: Vec::new(),
        };
        self.enter(peer.expect("the answer is good"), Some(camera));
    }

    /// A client requests to publish, and is never heard again.
    pub fn ask_and_vanish(&mut self, publisher: &Publisher) {
        let config = self.config(IceRole::Controlling);
        let sections = sections(StreamDirection::Send, &[None]);
        let offer = Offer::new(self.now, config, &sections, Delivery::Frames);
        let (resource, entropy) = (self.next_resource(), self.entropy("server"));
        let sdp = offer.sdp();
        let publisher = publisher.clone();
        let now = self.now;
        let answered = self
            .home()
            .publish(now, resource, publisher, &sdp, &entropy);
        answered.expect("the offer is good");
        self.drain();
    }

    /// The next client plays, with its own offer.
    pub fn play(&mut self, publisher: &Publisher) {
        self.play_cameras(publisher, &[None]);
    }

    /// The next client plays as many cameras, each optionally limited to a form of a codec.
    pub fn play_cameras(&mut self, publisher: &Publisher, cameras: &[Option<Form>]) {
        self.ask_to_play(publisher, cameras)
            .expect("the offer is good");
    }

    /// The next client plays these if the plane allows it.
    pub fn ask_to_play(
        &mut self,
        publisher: &Publisher,
        cameras: &[Option<Form>],
    ) -> Result<(), MediaError> {
        let resource = self.next_resource();
        let config = self.config(IceRole::Controlling);
        let sections = sections(StreamDirection::Receive, cameras);
        let offer = Offer::new(self.now, config, &sections, Delivery::Frames);
        let entropy = self.entropy("server");
        let text = match self.browser {
            false => offer.sdp(),
            true => browsers(&offer.sdp()),
        };
        let publisher = publisher.clone();
        let now = self.now;
        let answered = self
            .home()
            .play(now, resource, publisher, Some(&text), &entropy)?;
        let peer = offer.accept(self.now, &answered.sdp);
        self.enter(peer.expect("the answer is good"), None);
        Ok(())
    }

    /// The next client plays, with an offer from the plane.
    pub fn play_offered(&mut self, publisher: &Publisher) {
        let resource = self.next_resource();
        let entropy = self.entropy("server");
        let (now, of) = (self.now, resource.clone());
        let offered = self.home().play(now, of, publisher.clone(), None, &entropy);
        let offered = offered.expect("somebody publishes");
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let config = self.config(IceRole::Controlled);
        let answered = answer(self.now, config, &offered.sdp, &policy);
        let (peer, sdp) = answered.expect("the offer is good");
        self.home()
            .accept(now, resource, &sdp)
            .expect("the answer is good");
        self.enter(peer, None);
    }

    /// The next client receives the whole room.
    pub fn receive(&mut self, receiver: &Publisher) {
        self.receive_answering_after(receiver, Duration::ZERO);
    }

    /// Like `receive`, but the answer reaches the plane this much later than its client has it.
    pub fn receive_answering_after(&mut self, receiver: &Publisher, delay: Duration) {
        let (resource, entropy) = (self.next_resource(), self.entropy("server"));
        let (now, of) = (self.now, resource.clone());
        let offered = self.home().receive(now, of, receiver.clone(), &entropy);
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let config = self.config(IceRole::Controlled);
        let offer = match self.browser {
            false => offered.sdp,
            true => browsers(&offered.sdp),
        };
        let (peer, sdp) = answer(now, config, &offer, &policy).expect("the offer is good");
        if delay > Duration::ZERO {
            self.enter(peer, None);
            self.run(delay);
            let now = self.now;
            let accepted = self.home().accept(now, resource, &sdp);
            accepted.expect("the answer is good");
        } else {
            self.home()
                .accept(now, resource, &sdp)
                .expect("the answer is good");
            self.enter(peer, None);
        }
        let client = self.clients.last_mut().expect("it entered");
        client.receives_room = true;
    }
}
