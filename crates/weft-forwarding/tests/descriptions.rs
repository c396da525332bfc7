//! Cost of descriptions as long as HTTP allows, written to be expensive.

use weft_forwarding::{MediaError, Plane, Publisher, ResourceId, Settings};
use weft_peer::{Entropy, TimeOrigin};
use weft_secure::testing;
use weft_testing::allocation::{Cost, Counting, measure};
use weft_testing::processor_time;
use weft_units::{Instant, Rng};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Maximum body of a request.
const LONGEST: usize = 64 << 10;
const HEAD: &str = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n\
a=ice-ufrag:abcd\r\na=ice-pwd:aaaaaaaaaaaaaaaaaaaaaa\r\na=setup:actpass\r\n";
const CAMERA: &str = "m=video 9 UDP/TLS/RTP/SAVPF 96 97\r\na=mid:v\r\na=sendonly\r\na=rtcp-mux\r\n\
a=rtpmap:96 VP8/90000\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n";

fn sound(number: usize) -> String {
    format!(
        "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:{number}\r\na=sendonly\r\na=rtcp-mux\r\n\
a=rtpmap:111 opus/48000/2\r\n"
    )
}

/// A camera with this line of many numbers, repeated until the body is full.
fn full(line: impl Fn(usize) -> String) -> String {
    let mut all = CAMERA.to_owned();
    for number in 0.. {
        let next = line(number);
        if HEAD.len() + all.len() + next.len() + 200 > LONGEST {
            return all;
        }
        all += &next;
    }
    all
}

fn publish(sections: &str) -> (Result<usize, MediaError>, Cost, std::time::Duration) {
    testing::repeat();
    let certificate = testing::certificate();
    // The only real clock here: the DTLS library needs an origin, and any value works.
    #[allow(clippy::disallowed_methods)]
    let std = std::time::Instant::now();
    let server = ([10, 0, 0, 1], 1).into();
    let settings = Settings::new(TimeOrigin { std, ntp: 0 }, certificate, &[server]);
    let mut plane = Plane::new(settings);
    let fingerprint = testing::certificate().fingerprint();
    let offer = format!("{HEAD}a=fingerprint:{fingerprint}\r\n{sections}");
    let entropy = Entropy::repeating(Rng::new(1));
    let publisher = Publisher {
        room: "r".to_owned(),
        participant: "p".to_owned(),
    };
    let begun = processor_time();
    let (agreed, cost) = measure(|| {
        let id = ResourceId("1".to_owned());
        plane.publish(Instant::ZERO, id, publisher, &offer, &entropy)
    });
    let time = processor_time().saturating_sub(begun);
    (agreed.map(|agreed| agreed.sdp.len()), cost, time)
}

#[test]
fn a_description_written_to_cost_much_takes_four_megabytes_at_most() {
    let offers = [
        ("one camera", CAMERA.to_owned()),
        (
            "sounds",
            CAMERA.to_owned() + &(0..63).map(sound).collect::<String>(),
        ),
        (
            "candidates",
            full(|n| {
                format!(
                    "a=candidate:1 1 udp 1 10.{}.{}.{} 9 typ host\r\n",
                    n >> 16,
                    n >> 8 & 255,
                    n & 255
                )
            }),
        ),
        (
            "payloads",
            full(|n| format!("a=rtpmap:{} VP8/90000\r\n", n % 128)),
        ),
        ("ssrcs", full(|n| format!("a=ssrc:{n} cname:x\r\n"))),
        (
            "groups",
            full(|n| format!("a=ssrc-group:FID {n} {}\r\n", n + 1)),
        ),
        (
            "extensions",
            full(|n| format!("a=extmap:{} urn:x\r\n", n % 256)),
        ),
        ("formats", full(|n| format!("a=fmtp:96 x={n}\r\n"))),
        ("feedback", full(|n| format!("a=rtcp-fb:96 x{n}\r\n"))),
        ("mids", full(|n| format!("a=mid:{n}\r\n"))),
        (
            "sections",
            full(|n| format!("m=video 9 UDP/TLS/RTP/SAVPF {n}\r\n")),
        ),
    ];
    for (name, offer) in offers {
        let (agreed, cost, time) = publish(&offer);
        let length = offer.len();
        println!("{name}: {length} bytes, {time:?}, {cost:?}, {agreed:?}");
        // Sixty-three streams of sound need the most memory.
        assert!(cost.taken < 4 << 20, "{name}: {cost:?}");
        assert!(cost.calls < 10_000, "{name}: {cost:?}");
    }
}
