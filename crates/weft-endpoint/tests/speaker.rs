//! Sound of a room on a loudspeaker, with a real server on loopback.

#[allow(dead_code)]
mod common;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use weft_endpoint::{Call, CallConfig, EchoCancellation, Event, Notice, Receiving};
use weft_media::{
    AudioFrame, Microphone, MicrophoneError, Pace, SoundBlock, Speaker, SpeakerError,
};
use weft_server::ServerHandle;
use weft_testing::where_the_machine_keeps_up;

use common::server;

/// Limit for all waits, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);
/// Samples of all channels in 10 ms.
const BLOCK: usize = 960;

fn config(server: &ServerHandle, room: &str, name: &str) -> CallConfig {
    let mut config = CallConfig::new(&*server.url, room);
    config.send.name = name.to_owned();
    config.send.links = vec!["127.0.0.1".parse().expect("a link")];
    config
}

/// Microphone that a function fills, in blocks of 10 ms.
struct Source<F>(F);

impl<F: FnMut(&mut [i16]) + Send> Microphone for Source<F> {
    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn read(&mut self) -> Result<AudioFrame, MicrophoneError> {
        let mut frame = [0; 2 * BLOCK];
        frame.chunks_exact_mut(BLOCK).for_each(&mut self.0);
        Ok(frame)
    }
}

/// Loudspeaker whose blocks go to a function.
struct Sink<F>(F);

impl<F: FnMut(&SoundBlock) + Send> Speaker for Sink<F> {
    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn write(&mut self, block: &SoundBlock) -> Result<(), SpeakerError> {
        (self.0)(block);
        Ok(())
    }
}

/// Sets the loudspeaker of a call, which is opened once.
fn listen(config: &mut CallConfig, hear: impl FnMut(&SoundBlock) + Send + 'static) {
    let mut speaker: Option<Box<dyn Speaker>> = Some(Box::new(Sink(hear)));
    config.speaker = Some(Box::new(move || {
        Ok(speaker.take().expect("it never fails"))
    }));
}

fn energy(sound: &[i16]) -> f64 {
    sound.iter().map(|s| f64::from(*s).powi(2)).sum()
}

/// Measures the time of a click from the microphone to the loudspeaker. A real microphone
/// also takes the 20 ms of a frame, and a real loudspeaker the 40 ms of its buffer; both
/// are added.
#[test]
fn mouth_to_ear_takes_less_than_150_ms() {
    where_the_machine_keeps_up(|| {
        let server = server();
        let clicks = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::new(Mutex::new(Vec::<Instant>::new()));
        let mut speaks = config(&server, "r", "Mouth");
        speaks.receiving = Receiving::Nobody;
        let (mut blocks, said) = (0, Arc::clone(&clicks));
        speaks.send.own.microphone = Some(Box::new(Source(move |block: &mut [i16]| {
            blocks += 1;
            if blocks % 50 == 1 {
                said.lock().expect("no panic").push(Instant::now());
            }
            if blocks % 50 <= 2 {
                let wave = |n: usize| match (n / 48).is_multiple_of(2) {
                    true => 12_000,
                    false => -12_000,
                };
                block.iter_mut().enumerate().for_each(|(n, s)| *s = wave(n));
            }
        })));
        let mut listens = config(&server, "r", "Ear");
        let (mut quiet, ear) = (0, Arc::clone(&heard));
        listen(&mut listens, move |block| {
            let Some(onset) = block.iter().position(|s| s.abs() > 2_000) else {
                quiet += 1;
                return;
            };
            if std::mem::take(&mut quiet) > 20 {
                let offset = Duration::from_micros(onset as u64 / 2 * 1_000 / 48);
                ear.lock().expect("no panic").push(Instant::now() + offset);
            }
        });
        let listens = Call::start(listens).expect("a call");
        let speaks = Call::start(speaks).expect("a call");
        let began = Instant::now();
        while heard.lock().expect("no panic").len() < 20 {
            assert!(began.elapsed() < PATIENCE, "the clicks are not heard");
            thread::sleep(Duration::from_millis(50));
        }
        let (clicks, heard) = (clicks.lock().expect("it"), heard.lock().expect("it"));
        let delay = |at: &Instant| {
            let said = clicks.iter().rfind(|said| *said < at).expect("a click");
            *at - *said + Duration::from_millis(20 + 40)
        };
        let mut delays: Vec<Duration> = heard[5..].iter().map(delay).collect();
        delays.sort();
        let median = delays[delays.len() / 2];
        println!("mouth to ear: {median:?}, of {delays:?}");
        assert!(median < Duration::from_millis(150), "{delays:?}");
        assert!(median > Duration::from_millis(65), "{delays:?}");
        drop((clicks, heard));
        for call in [speaks, listens] {
            call.leave().expect("it was connected");
        }
        server.shutdown();
    });
}

/// Returns the energy of its own echo that the far side hears in three seconds, after the
/// first five.
fn echo(server: &ServerHandle, room: &str, echo: EchoCancellation) -> f64 {
    let mut near = config(server, room, "Near");
    near.echo = echo;
    // 60 ms of air delay, at less than half the level.
    let air = Arc::new(Mutex::new(VecDeque::from(vec![0; 6 * BLOCK])));
    let out = Arc::clone(&air);
    listen(&mut near, move |block| {
        let mut air = out.lock().expect("no panic");
        air.extend(block.iter().map(|s| s * 2 / 5));
        // Nothing is recorded while the call starts.
        let much = air.len().saturating_sub(20 * BLOCK);
        air.drain(..much);
    });
    near.send.own.microphone = Some(Box::new(Source(move |block: &mut [i16]| {
        let mut air = air.lock().expect("no panic");
        block.fill_with(|| air.pop_front().unwrap_or(0));
    })));

    let mut far = config(server, room, "Far");
    let (mut random, mut low, mut number) = (weft_units::Rng::new(7), 0.0, 0_u32);
    far.send.own.microphone = Some(Box::new(Source(move |block: &mut [i16]| {
        number += 1;
        let loudness = [9_000.0, 14_000.0, 6_000.0, 0.0][(number / 12) as usize % 4];
        for pair in block.chunks_exact_mut(2) {
            low += 0.4 * (2.0 * random.unit() - 1.0 - low);
            pair.fill((low * loudness) as i16);
        }
    })));
    let heard = Arc::new(Mutex::new(0.0));
    let sum = Arc::clone(&heard);
    listen(&mut far, move |block| {
        *sum.lock().expect("no panic") += energy(block)
    });
    let calls = [near, far].map(|config| Call::start(config).expect("a call"));
    let wait = |from: f64| {
        let began = Instant::now();
        while *heard.lock().expect("no panic") <= from {
            assert!(began.elapsed() < PATIENCE, "nothing is heard");
            thread::sleep(Duration::from_millis(20));
        }
    };
    wait(0.0);
    thread::sleep(Duration::from_secs(5));
    let before = *heard.lock().expect("no panic");
    thread::sleep(Duration::from_secs(3));
    let after = *heard.lock().expect("no panic");
    for call in calls {
        call.leave().expect("it was connected");
    }
    after - before
}

#[test]
fn the_far_side_does_not_hear_itself_unless_echo_cancellation_is_off() {
    where_the_machine_keeps_up(|| {
        let server = server();
        let (on, off) = thread::scope(|scope| {
            let on = scope.spawn(|| echo(&server, "on", EchoCancellation::On));
            let off = echo(&server, "off", EchoCancellation::Off);
            (on.join().expect("a figure"), off)
        });
        let less = 10.0 * (off / on.max(1.0)).log10();
        println!("{less:.1} dB less echo");
        assert!(less >= 20.0, "only {less:.1} dB less");
        server.shutdown();
    });
}

#[test]
fn a_loudspeaker_that_disappears_is_reported_and_comes_back() {
    /// Loudspeaker that is unplugged after this many blocks.
    struct Weak(u32);
    impl Speaker for Weak {
        fn pace(&self) -> Pace {
            Pace::Caller
        }

        fn write(&mut self, _: &SoundBlock) -> Result<(), SpeakerError> {
            self.0 = self.0.checked_sub(1).ok_or_else(|| SpeakerError::Lost {
                name: "alsa:usb".to_owned(),
                reason: "No such device".to_owned(),
                remedy: "check its connection",
            })?;
            Ok(())
        }
    }
    let server = server();
    let mut config = config(&server, "r", "Ear");
    let mut opened = 0;
    config.speaker = Some(Box::new(move || {
        opened += 1;
        match opened {
            1 => Ok(Box::new(Weak(20))),
            2 => Err(SpeakerError::Open {
                name: "alsa:usb".to_owned(),
                reason: "the device does not exist".to_owned(),
                remedy: "see the names that exist with `aplay -L`",
            }),
            _ => Ok(Box::new(Weak(u32::MAX))),
        }
    }));
    let call = Call::start(config).expect("a call");
    let mut notices = Vec::new();
    let began = Instant::now();
    while notices.len() < 2 {
        assert!(began.elapsed() < PATIENCE, "only {notices:?}");
        if let Ok(Event::Notice(notice)) = call.next_event(Duration::from_secs(1)) {
            notices.push(notice.to_string());
            let speaker = matches!(notice, Notice::SpeakerLost(_) | Notice::SpeakerBack);
            assert!(speaker, "{notice}");
        }
    }
    assert!(notices[0].contains("check its connection"), "{notices:?}");
    assert!(notices[0].contains("trying again"), "{notices:?}");
    assert!(notices[1].contains("plays again"), "{notices:?}");
    call.leave().expect("it was connected");
    server.shutdown();
}
