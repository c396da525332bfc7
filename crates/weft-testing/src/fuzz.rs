//! Fuzz targets with a budget per input: exceeding it is a finding like a
//! panic.
//!
//! The bodies are in the crates. The targets in `fuzz/` run them with inputs that libFuzzer
//! finds; `cargo test` runs them with the inputs in `fuzz/seeds` and some derived from them. Both
//! measure with [`allocation`](crate::allocation) and install its allocator.

use std::fs;
use std::path::Path;
use std::time::Duration;

use weft_units::Rng;

use crate::allocation::measure;
use crate::processor_time;

/// Fuzz target with the budget of one input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// File name of the target.
    pub name: &'static str,
    /// Bytes allocated, and processor time of a development build, before the
    /// first step.
    begin: (u64, Duration),
    /// Bytes and time for each step.
    step: (u64, Duration),
}

/// Slowdown of a fuzz target's build compared with a test build: it checks every memory
/// access and counts every branch. Chosen by us.
pub const SANITIZED: u32 = 8;

/// Attempts at an input that takes too long: other programs may use the machine, and
/// caches are cold at first.
const TRIES: usize = 4;

/// Maximum length of derived inputs.
const MOST: usize = 4096;

impl Target {
    /// Decrypted packets into a session. Its logs of arrivals take up to 700 KB once, when
    /// numbers jump for the first time.
    pub const SESSION: Target = Target::new("session", (1_024, 5_000), (40, 60));
    /// Datagrams to peers that share a socket.
    pub const PEERS: Target = Target::new("peers", (512, 5_000), (32, 100));
    /// SCTP packets into data channels. A message of 64 KB is reassembled, copied and
    /// answered in one step.
    pub const DATA: Target = Target::new("data", (1_024, 5_000), (512, 500));
    /// Packets to subscribers.
    pub const ROUTER: Target = Target::new("router", (64, 2_000), (16, 50));
    /// Arrivals and departures.
    pub const ROOMS: Target = Target::new("rooms", (64, 2_000), (16, 50));
    /// HTTP requests with their bodies.
    pub const HTTP: Target = Target::new("http", (1_024, 10_000), (1_024, 4_000));
    /// Messages of a TURN client.
    pub const TURN: Target = Target::new("turn", (256, 5_000), (64, 500));
    /// Inputs of a server's media plane.
    pub const PLANE: Target = Target::new("plane", (2_048, 10_000), (64, 150));

    /// Recordings of calls. A compressed file has a thousand times its size, and a recording
    /// of a day has rows of its whole time for each of its quantities.
    pub const IMPORTS: Target = Target::new("imports", (64 << 10, 200_000), (64, 50));
    /// Repair packets.
    pub const FLEXFEC: Target = Target::parser("flexfec");
    /// H.264 payloads.
    pub const H264: Target = Target::parser("h264");
    /// Datagrams to an ICE agent; a step is a byte, as for the next ones.
    pub const ICE: Target = Target::parser("ice");
    /// Payloads of any codec.
    pub const PAYLOAD: Target = Target::parser("payload");
    /// RTCP, where a few bytes can describe as many entries as a message allows.
    pub const RTCP: Target = Target {
        begin: (8 << 20, Duration::from_millis(20)),
        ..Target::parser("rtcp")
    };
    /// RTP packets.
    pub const RTP: Target = Target::parser("rtp");
    /// Session descriptions.
    pub const SDP: Target = Target {
        begin: (1 << 20, Duration::from_millis(10)),
        ..Target::parser("sdp")
    };
    /// Datagrams to an association.
    pub const SECURE: Target = Target {
        begin: (512 << 10, Duration::from_millis(20)),
        ..Target::parser("secure")
    };
    /// Payloads of VP8.
    pub const VP8: Target = Target::parser("vp8");

    /// Target whose steps are the bytes of its input: the cost must not grow faster than
    /// the input. Chosen by us, as below.
    const fn parser(name: &'static str) -> Target {
        Target {
            name,
            begin: (64 << 10, Duration::from_millis(2)),
            step: (1 << 10, Duration::from_micros(5)),
        }
    }

    /// Budgets in kibibytes and microseconds. Chosen by us: several times the values
    /// measured with ordinary inputs.
    const fn new(name: &'static str, begin: (u64, u64), step: (u64, u64)) -> Target {
        Target {
            name,
            begin: (begin.0 << 10, Duration::from_micros(begin.1)),
            step: (step.0 << 10, Duration::from_micros(step.1)),
        }
    }

    /// Runs the work, which returns its number of steps.
    ///
    /// # Panics
    /// If it exceeds the budget. `slack` multiplies the processor time where
    /// the build is slower than that of tests.
    pub fn hold(&self, slack: u32, work: impl Fn() -> usize) {
        for attempt in 1..=TRIES {
            let begun = processor_time();
            let (steps, cost) = measure(&work);
            let time = processor_time().saturating_sub(begun);
            let most = self.begin.0 + self.step.0 * steps as u64;
            assert!(
                cost.taken <= most,
                "{} bytes for {steps} steps of {}, and {most} are allowed",
                cost.taken,
                self.name
            );
            let most = (self.begin.1 + self.step.1 * steps as u32) * slack;
            if time <= most {
                return;
            }
            assert!(
                attempt < TRIES,
                "{time:?} for {steps} steps of {}, and {most:?} are allowed",
                self.name
            );
        }
    }

    /// Runs a parser whose steps are the bytes of its input.
    ///
    /// # Panics
    /// Like [`Target::hold`].
    pub fn parse(&self, slack: u32, data: &[u8], body: impl Fn(&[u8])) {
        self.hold(slack, || {
            body(data);
            data.len()
        });
    }

    /// [`Target::try_all`] for a parser.
    ///
    /// # Panics
    /// Like [`Target::try_all`].
    pub fn try_parser(&self, others: u32, body: impl Fn(&[u8])) {
        self.try_all(others, |data| {
            body(data);
            data.len()
        });
    }

    /// Tries the inputs in `fuzz/seeds`, and `others` inputs derived from them.
    ///
    /// # Panics
    /// If an input exceeds the budget, or the body panics; the message names a
    /// file with the input for `fuzz`.
    pub fn try_all(&self, others: u32, body: impl Fn(&[u8]) -> usize) {
        let seeds = self.seeds();
        for (name, seed) in &seeds {
            println!("{name}");
            self.hold(1, || body(seed));
        }
        let mut rng = Rng::new(1).stream(self.name);
        for number in 0..others {
            let input = made(&seeds, &mut rng);
            println!("number {number}: {input:02x?}");
            self.hold(1, || body(&input));
        }
    }

    fn seeds(&self) -> Vec<(String, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
        let files = fs::read_dir(folder.join(self.name)).expect("a target has seeds");
        let mut seeds: Vec<_> = files
            .map(|file| {
                let path = file.expect("a folder can be read").path();
                let seed = fs::read(&path).expect("a seed can be read");
                (path.display().to_string(), seed)
            })
            .collect();
        seeds.sort();
        seeds
    }
}

/// Random input, or a seed with some changes.
fn made(seeds: &[(String, Vec<u8>)], rng: &mut Rng) -> Vec<u8> {
    let below = |rng: &mut Rng, most: usize| rng.below(most.max(1) as u64) as usize;
    if seeds.is_empty() || rng.chance(0.2) {
        let mut noise = vec![0; below(rng, MOST)];
        rng.fill(&mut noise);
        return noise;
    }
    let mut input = seeds[below(rng, seeds.len())].1.clone();
    for _ in 0..1 + rng.below(8) {
        let place = below(rng, input.len() + 1);
        match rng.below(4) {
            0 => input.insert(place, rng.next_u32() as u8),
            1 if place < input.len() => input[place] = rng.next_u32() as u8,
            2 if place < input.len() => {
                input.remove(place);
            }
            // Append the end of another seed.
            _ => {
                let other = &seeds[below(rng, seeds.len())].1;
                input.truncate(place);
                input.extend_from_slice(&other[below(rng, other.len())..]);
            }
        }
    }
    input.truncate(MOST);
    input
}
