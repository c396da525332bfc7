//! Checks each application against its table over a small network: a byte queue, a rate,
//! a delay and random loss.

use std::collections::VecDeque;

use weft_units::{Bytes, Duration, Instant, Rate, Rng};

use crate::{App, Family, Model, Packet, Receiver, Report, Sender};

const DELAY: Duration = Duration::from_millis(25);

struct Net {
    model: Model,
    sender: Sender,
    receiver: Receiver,
    now: Instant,
    capacity: Rate,
    queue: Bytes,
    loss: f64,
    rng: Rng,
    /// Time at which the last packet has left the queue.
    free_at: Instant,
    coming: VecDeque<(Instant, Instant, Packet)>,
    reports: VecDeque<(Instant, Report)>,
    sent: Bytes,
    arrived: Bytes,
}

impl Net {
    fn of(app: App) -> Net {
        let Family::Model(model) = app.family() else {
            panic!("{app} is a call");
        };
        Net {
            sender: Sender::new(&model, Instant::ZERO, &Rng::new(3)),
            receiver: Receiver::new(&model, Instant::ZERO),
            model,
            now: Instant::ZERO,
            capacity: Rate::from_mbps(10),
            queue: Bytes(60_000),
            loss: 0.0,
            rng: Rng::new(4),
            free_at: Instant::ZERO,
            coming: VecDeque::new(),
            reports: VecDeque::new(),
            sent: Bytes(0),
            arrived: Bytes(0),
        }
    }

    /// Runs for this many seconds; returns the rates sent and received in that time.
    fn run(&mut self, seconds: f64) -> (Rate, Rate) {
        let time = Duration::from_secs_f64(seconds);
        let end = self.now + time;
        let (sent, arrived) = (self.sent, self.arrived);
        while let Some(at) = self.next().filter(|at| *at < end) {
            self.now = at;
            self.step();
        }
        self.now = end;
        ((self.sent - sent) / time, (self.arrived - arrived) / time)
    }

    fn next(&self) -> Option<Instant> {
        let own = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
        let own = own.into_iter().flatten().map(|deadline| deadline.at);
        let coming = self.coming.front().map(|(at, _, _)| *at);
        let reports = self.reports.front().map(|(at, _)| *at);
        own.chain(coming).chain(reports).min()
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some((_, sent_at, packet)) = self.coming.pop_front_if(|(at, ..)| *at <= now) {
            self.arrived += packet.size;
            self.receiver.handle_packet(now, sent_at, &packet);
        }
        if let Some(report) = self.receiver.poll_report(now) {
            self.reports.push_back((now + DELAY, report));
        }
        while let Some((_, report)) = self.reports.pop_front_if(|(at, _)| *at <= now) {
            self.sender.handle_report(now, &report);
        }
        self.sender.handle_timeout(now);
        while let Some(packet) = self.sender.poll_transmit() {
            self.sent += packet.size;
            self.enqueue(packet);
        }
    }

    fn enqueue(&mut self, packet: Packet) {
        let begin = self.free_at.max(self.now);
        let waiting = self.capacity * (begin - self.now);
        let is_full = waiting + packet.size > self.queue;
        let Some(time) = self.capacity.time_for(packet.size).filter(|_| !is_full) else {
            return;
        };
        self.free_at = begin + time;
        if !self.rng.chance(self.loss) {
            let arrival = self.free_at + DELAY;
            self.coming.push_back((arrival, self.now, packet));
        }
    }

    fn at(&mut self, kbps: u64) -> &mut Net {
        self.capacity = Rate::from_kbps(kbps);
        self
    }

    fn losing(&mut self, loss: f64) -> &mut Net {
        self.loss = loss;
        self
    }
}

fn assert_within(what: &str, rate: Rate, low: f64, high: f64) {
    let kbps = rate.as_kbps();
    assert!((low..=high).contains(&kbps), "{what}: {kbps} kbit/s");
}

#[test]
fn every_application_reaches_its_highest_rate_alone() {
    for app in App::ALL {
        let Family::Model(model) = app.family() else {
            continue;
        };
        let mut net = Net::of(app);
        net.run(40.0);
        // Zoom sometimes sends less and leaves a gap.
        let (sent, arrived) = net.run(120.0);
        // At this age of the call, a Zoom client has a higher limit.
        let highest = model.highest.as_kbps() * if app == App::ZoomClient { 1.4 } else { 1.0 };
        assert_within(app.name(), sent, 0.8 * highest, 1.05 * highest);
        assert_eq!(sent.as_kbps().round(), arrived.as_kbps().round(), "{app}");
    }
}

#[test]
fn another_highest_rate_is_kept_and_one_below_the_lowest_refused() {
    for app in App::ALL {
        let Family::Model(model) = app.family() else {
            continue;
        };
        let error = model.clone().with_highest(Rate::from_kbps(10));
        assert_eq!(error.unwrap_err().lowest, model.lowest, "{app}");
        let highest = model.highest.mul_f64(0.7);
        let model = model.with_highest(highest).unwrap();
        let mut net = Net::of(app);
        net.sender = Sender::new(&model, Instant::ZERO, &Rng::new(3));
        net.run(10.0);
        let (sent, _) = net.run(50.0);
        assert!(sent <= highest.mul_f64(1.15), "{app}: {sent:?}");
        assert!(sent >= highest.mul_f64(0.7), "{app}: {sent:?}");
    }
}

mod skype {
    use super::*;

    #[test]
    fn follows_the_capacity_down_without_loss_and_up_again() {
        let mut net = Net::of(App::Skype);
        net.at(1000).run(20.0);
        for capacity in [680, 440, 200] {
            net.at(capacity).run(5.0);
            let (sent, arrived) = net.run(5.0);
            let capacity = capacity as f64;
            assert_within("falling", sent, 0.75 * capacity, 1.05 * capacity);
            assert_within("loss", arrived, 0.94 * sent.as_kbps(), 1.1 * sent.as_kbps());
        }
        net.at(1000).run(15.0);
        assert_within("back", net.run(5.0).0, 720.0, 840.0);
    }

    #[test]
    fn answers_a_little_loss_with_a_fifth_more() {
        let mut net = Net::of(App::Skype);
        net.run(20.0);
        let (before, _) = net.run(20.0);
        net.losing(0.01).run(10.0);
        let (during, _) = net.run(20.0);
        let more = during.as_kbps() / before.as_kbps();
        assert!((1.1..1.3).contains(&more), "{more}");
        net.losing(0.0).run(20.0);
        assert_within("after", net.run(10.0).0, 760.0, 840.0);
    }

    #[test]
    fn begins_gradually_where_packets_are_lost() {
        let reaches = |loss| {
            let mut net = Net::of(App::Skype);
            net.losing(loss);
            let mut seconds = 0;
            while net.run(1.0).0 < net.model.highest.mul_f64(0.9) {
                seconds += 1;
                assert!(seconds < 120, "never");
            }
            seconds
        };
        let (clean, lossy) = (reaches(0.0), reaches(0.01));
        assert!(clean <= 6, "{clean} s");
        assert!(lossy >= 3 * clean, "{lossy} s, {clean} s without loss");
    }

    #[test]
    fn hangs_up_where_not_even_sound_comes_through() {
        let mut net = Net::of(App::Skype);
        net.run(10.0);
        net.at(0).run(9.0);
        assert!(net.sender.poll_timeout().is_some(), "patience");
        net.run(10.0);
        assert!(net.sender.poll_timeout().is_none());
        assert_eq!(net.sender.rate(), Rate::ZERO);
    }
}

mod live_messenger {
    use super::*;

    #[test]
    fn falls_to_a_third_and_comes_back_within_nine_minutes() {
        let mut net = Net::of(App::LiveMessenger);
        net.run(10.0);
        net.losing(0.8).run(5.0);
        net.losing(0.0).run(12.0);
        assert_within("after heavy loss", net.run(5.0).0, 45.0, 233.0);
        net.run(270.0);
        assert_within("after five minutes", net.run(10.0).0, 350.0, 630.0);
        net.run(260.0);
        assert_within("after nine minutes", net.run(10.0).0, 660.0, 740.0);
    }

    #[test]
    fn comes_back_at_once_after_light_loss() {
        let mut net = Net::of(App::LiveMessenger);
        net.run(10.0);
        net.losing(0.3).run(2.5);
        net.losing(0.0).run(1.0);
        assert_within("fallen", net.run(1.0).0, 60.0, 450.0);
        net.run(15.0);
        assert_within("back", net.run(5.0).0, 660.0, 740.0);
    }

    #[test]
    fn keeps_its_rate_with_one_per_cent_and_its_sound_whatever_comes() {
        let mut net = Net::of(App::LiveMessenger);
        net.losing(0.005).run(10.0);
        assert_within("little loss", net.run(20.0).0, 660.0, 740.0);
        net.losing(0.5).run(20.0);
        assert_within("sound and its redundancy", net.run(10.0).0, 70.0, 80.0);
    }
}

mod x_lite {
    use super::*;

    #[test]
    fn goes_down_its_ladder_and_never_up() {
        let mut net = Net::of(App::XLite);
        net.run(10.0);
        net.at(100).run(60.0);
        let (down, _) = net.run(10.0);
        assert_within("down", down, 180.0, 360.0);
        net.at(1000).run(60.0);
        let (after, _) = net.run(10.0);
        // Without loss its sound packets do not change.
        assert!(after <= down.mul_f64(1.05), "{after:?} after {down:?}");
    }

    #[test]
    fn sends_180_kbit_where_everything_is_lost() {
        let mut net = Net::of(App::XLite);
        net.run(10.0);
        net.losing(1.0).run(60.0);
        // Sound packets are also twice as large.
        assert_within("lowest", net.run(10.0).0, 175.0, 220.0);
    }

    #[test]
    fn does_not_answer_light_loss() {
        let mut net = Net::of(App::XLite);
        net.losing(0.01).run(30.0);
        assert_within("1 %", net.run(30.0).0, 475.0, 525.0);
    }
}

mod eyebeam {
    use super::*;

    #[test]
    fn falls_late_and_for_ever() {
        let mut net = Net::of(App::Eyebeam);
        net.run(10.0);
        net.at(200).run(10.0);
        net.at(2000).run(5.0);
        assert_within("not yet", net.run(5.0).0, 420.0, 780.0);
        net.run(15.0);
        assert_within("down", net.run(30.0).0, 250.0, 350.0);
        net.run(120.0);
        assert_within("for ever", net.run(30.0).0, 250.0, 350.0);
    }
}

mod whatsapp {
    use super::*;

    #[test]
    fn falls_to_what_arrives_and_rises_slowly_behind_a_short_queue() {
        let mut net = Net::of(App::WhatsApp);
        net.queue = Bytes(10_000);
        net.at(3000).run(60.0);
        net.at(300).run(30.0);
        let (sent, _) = net.run(30.0);
        assert_within("at 0.3 Mbit/s", sent, 240.0, 335.0);
        net.at(3000).run(170.0);
        let (after, _) = net.run(10.0);
        assert!(after < net.model.highest.mul_f64(0.97), "{after:?}");
    }

    #[test]
    fn is_back_within_a_minute_behind_a_long_queue() {
        let mut net = Net::of(App::WhatsApp);
        net.queue = Bytes(187_500);
        net.at(3000).run(60.0);
        net.at(300).run(60.0);
        net.at(3000).run(60.0);
        assert_within("back", net.run(10.0).0, 430.0, 470.0);
    }

    #[test]
    fn answers_light_loss_with_more() {
        let mut net = Net::of(App::WhatsApp);
        net.losing(0.03).run(20.0);
        assert_within("3 %", net.run(20.0).0, 470.0, 500.0);
    }

    #[test]
    fn keeps_its_rate_however_long_packets_wait() {
        let mut net = Net::of(App::WhatsApp);
        net.queue = Bytes(1_000_000);
        net.at(440).run(60.0);
        assert_within("beside a queue", net.run(20.0).0, 430.0, 460.0);
    }
}

mod zoom {
    use super::*;

    #[test]
    fn keeps_its_old_rate_for_half_a_minute() {
        let mut net = Net::of(App::ZoomBackend);
        net.queue = Bytes(250_000);
        net.at(4000).run(60.0);
        net.at(500).run(5.0);
        assert_within("after the fall", net.run(20.0).0, 3000.0, 4100.0);
        net.run(7.0);
        let (overshoot, _) = net.run(8.0);
        assert_within("four times", overshoot, 1000.0, 2500.0);
        net.run(5.0);
        assert_within("then", net.run(20.0).0, 350.0, 650.0);
    }

    #[test]
    fn a_client_comes_back_later_than_the_server() {
        let back = |app| {
            let mut net = Net::of(app);
            net.queue = Bytes(250_000);
            net.at(4000).run(60.0);
            net.at(500).run(120.0);
            net.at(4000);
            let mut seconds = 0;
            while net.run(5.0).0 < net.model.highest.mul_f64(0.9) {
                seconds += 5;
                assert!(seconds < 400, "{app} never comes back");
            }
            seconds
        };
        let (server, client) = (back(App::ZoomBackend), back(App::ZoomClient));
        assert!((10..200).contains(&server), "{server} s");
        assert!(client > server, "{client} s, the server {server} s");
    }

    /// Table 2 counts packets per minute: 3784 at 23.9 % loss, and 3368 at 15.3 % in the
    /// column that was not used for fitting.
    #[test]
    fn sends_more_and_smaller_packets_the_more_is_lost() {
        for (loss, packets, size) in [(0.239, 3784, 639), (0.153, 3368, 818)] {
            let mut sender = Net::of(App::ZoomBackend).sender;
            let mut before = (0, Bytes(0));
            for tenth in 1..1201 {
                let now = Instant::ZERO + Duration::from_millis(100 * tenth);
                sender.handle_timeout(now);
                let made: Vec<Packet> = std::iter::from_fn(|| sender.poll_transmit()).collect();
                let Some(last) = made.last() else { continue };
                let sent = last.number;
                let came = (sent as f64 * (1.0 - loss)) as u64;
                let report = Report {
                    at: now,
                    highest: sent,
                    sent: last.sent,
                    packets: came,
                    received: Bytes((last.sent.0 as f64 * (1.0 - loss)) as u64),
                    transit: Some(0),
                };
                sender.handle_report(now, &report);
                if tenth == 600 {
                    before = (sent, last.sent);
                }
                if tenth == 1200 {
                    let count = sent - before.0;
                    assert!(
                        count.abs_diff(packets) < packets / 25,
                        "{count} of {packets}"
                    );
                    let mean = (last.sent - before.1).0 / count;
                    assert!(mean.abs_diff(size) < size / 25, "{mean} of {size} B");
                }
            }
        }
    }
}
