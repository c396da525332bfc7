//! `weft play` against our own server, against a WHEP server of Pion, and against servers
//! that answer nonsense.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use weft_testing::{skipped, where_the_machine_keeps_up};

use super::fixture::{Program, free_ports, server_at, weft};

/// First octets of a WebM file (EBML, RFC 8794 section 11.2.1).
const EBML: [u8; 4] = [0x1a, 0x45, 0xdf, 0xa3];

fn play_command(url: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command
        .args(["play", url, "--link", "127.0.0.1"])
        .args(more);
    command
}

fn play(url: &str, more: &[&str]) -> Program {
    Program::start(&mut play_command(url, more))
}

fn publish(port: u16) -> Program {
    let url = format!("http://127.0.0.1:{port}/whip/r?name=van");
    let media = ["--camera", "clip:360p", "--mic", "tone"];
    weft(&[&["publish", &url, "--link", "127.0.0.1"], &media[..]].concat())
}

fn begins_as_webm(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|content| content.starts_with(&EBML) && content.len() > 20_000)
}

#[test]
fn a_stream_of_our_server_is_recorded_counted_and_piped() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports();
        let _server = server_at(ports, &folder.path().join("none"));
        let url = format!("http://127.0.0.1:{}/whep/r/van", ports.0);
        // Started first; the stream is played once it begins.
        let file = folder.path().join("ride.webm");
        let path = file.to_str().expect("text");
        let mut early = play(&url, &["--output", path, "--seconds", "9"]);
        early.says("check the room and the participant");
        let _van = publish(ports.0);
        early.says("1 camera, sound; packets come over all links");

        let counted = play(&url, &["--stats", "/dev/stdout"]);
        let figures = counted.shows("frames and sound", |figures| {
            let stream = &figures["received"]["stream"];
            stream["frames"].as_u64() > Some(30) && stream["audio_packets"].as_u64() > Some(50)
        });
        let named = figures["peers"][0]["received"].as_array().expect("streams");
        let names: Vec<&str> = named.iter().filter_map(|s| s["stream"].as_str()).collect();
        assert_eq!(names, ["sound", "camera 1"]);
        assert!(figures["peers"][0]["received"][1]["frames"].as_u64() > Some(30));

        // A player that stops reading ends the program.
        let mut piped = play_command(&url, &["--output", "-"]);
        let piped = piped.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut piped = piped.spawn().expect("the program starts");
        let mut start = vec![0; 20_000];
        let mut pipe = piped.stdout.take().expect("it is piped");
        pipe.read_exact(&mut start).expect("a stream");
        assert!(start.starts_with(&EBML), "{:x?}", &start[..8]);
        drop(pipe);
        assert!(piped.wait().expect("it ends").success());

        assert_eq!(early.status(), Some(0));
        assert!(begins_as_webm(&file));
    });
}

#[test]
fn a_stream_that_comes_back_is_played_again() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports();
        let _server = server_at(ports, &folder.path().join("none"));
        let mut van = publish(ports.0);
        van.says("connected, publishing");
        let url = format!("http://127.0.0.1:{}/whep/r/van", ports.0);
        let eve = play(&url, &[]);
        eve.says("connected, playing");
        let figures = eve.told.recv_timeout(super::fixture::PATIENCE);
        assert!(figures.expect("a line").contains("pictures/s"));
        interrupt(&van);
        assert_eq!(van.status(), Some(0));
        eve.says("receiving failed");
        let _again = publish(ports.0);
        eve.says("connected, playing");
    });
}

/// Interrupts a program like Ctrl-C.
fn interrupt(program: &Program) {
    let pid = program.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("kill runs").success());
}

/// Starts Pion's WHEP server, or returns the reason why it cannot be built.
fn whep_server() -> Option<Program> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("whep");
    let built = BUILT.get_or_init(|| weft_testing::pion_program("./whep", program));
    match built {
        Ok(program) => Some(Program::start(&mut Command::new(program))),
        Err(reason) => {
            skipped(reason);
            None
        }
    }
}

fn line(program: &Program) -> String {
    let line = program.told.recv_timeout(super::fixture::PATIENCE);
    line.expect("a line of output")
}

#[test]
fn pion_is_played_with_either_side_offering_and_learns_of_the_end() {
    where_the_machine_keeps_up(|| {
        let Some(server) = whep_server() else {
            return;
        };
        let port = line(&server);
        for (path, requests) in [
            ("answer", &["POST true"][..]),
            ("counter", &["POST true", "PATCH true"]),
            ("empty", &["POST true", "POST false", "PATCH true"]),
        ] {
            let url = format!("http://127.0.0.1:{port}/{path}");
            let about = ["--token", "open-sesame", "--stats", "/dev/stdout"];
            let mut eve = play(&url, &about);
            eve.says("connected, playing");
            eve.shows("frames", |figures| {
                figures["received"]["stream"]["frames"].as_u64() > Some(30)
            });
            interrupt(&eve);
            assert_eq!(eve.status(), Some(0), "{path}");
            let words = |line: String| {
                let mut words = line.split(' ');
                let (method, body) = (words.next(), words.nth(1));
                format!(
                    "{} {}",
                    method.unwrap_or_default(),
                    body.unwrap_or_default()
                )
            };
            for request in requests {
                assert_eq!(&words(line(&server)), request, "{path}");
            }
            assert_eq!(words(line(&server)), "DELETE false", "{path}");
        }
    });
}

#[test]
fn a_stream_that_has_not_begun_is_awaited_and_a_wrong_token_is_not() {
    where_the_machine_keeps_up(|| {
        let Some(server) = whep_server() else {
            return;
        };
        let url = format!("http://127.0.0.1:{}/later", line(&server));
        let mut stranger = play(&url, &[]);
        stranger.says("give it with --token or in WEFT_TOKEN");
        assert_eq!(stranger.status(), Some(2));
        let eve = play(&url, &["--token", "open-sesame"]);
        eve.says("does anybody publish there?; retrying");
        // The server sets the time; the first pause would be shorter.
        let waited = eve.says("connected, playing");
        assert!(waited.as_secs_f64() > 1.8, "{waited:?}");
    });
}

/// Returns the address of a server that gives this response to every request.
fn answering(head: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let url = format!("http://{}/whep", listener.local_addr().expect("bound"));
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 16 << 10];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// Returns an answer whose two media sections have this direction and codec.
fn answer(port: u16, direction: &str, codec: &str) -> String {
    let mut sdp = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n".to_owned();
    for (kind, mid) in [("audio", 0), ("video", 1)] {
        sdp += &format!(
            "m={kind} {port} UDP/TLS/RTP/SAVPF 120\r\nc=IN IP4 0.0.0.0\r\na=mid:{mid}\r\n\
             a={direction}\r\na=rtcp-mux\r\na=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\n\
             a=fingerprint:sha-256 {}\r\na=setup:passive\r\na=rtpmap:120 {codec}/90000\r\n",
            ["AB"; 32].join(":")
        );
    }
    sdp
}

#[test]
fn answers_that_are_none_end_it_with_what_to_do() {
    const CREATED: &str = "201 Created\r\ncontent-type: application/sdp\r\nlocation: /1";
    let no_location = "201 Created\r\ncontent-type: application/sdp";
    let elsewhere = "307 Temporary Redirect\r\nlocation: http://other.example/whep";
    let foreign =
        "201 Created\r\ncontent-type: application/sdp\r\nlocation: http://other.example/1";
    let cases = [
        (
            no_location,
            answer(9, "sendonly", "VP8"),
            "has no Location; is http://",
        ),
        (
            "200 OK",
            String::new(),
            "(HTTP status 200), but its answer has no Location",
        ),
        (elsewhere, String::new(), "name that server if you trust it"),
        (
            foreign,
            answer(9, "sendonly", "VP8"),
            "name the other one if you trust it",
        ),
        (
            CREATED,
            answer(9, "sendonly", "AV1"),
            "does anybody publish there, in one of these codecs?",
        ),
        (
            CREATED,
            answer(9, "inactive", "VP8"),
            "does anybody publish there",
        ),
        (
            CREATED,
            answer(0, "sendonly", "VP8"),
            "does anybody publish there",
        ),
        (CREATED, "no description".to_owned(), "cannot be read"),
    ];
    for (head, body, words) in cases {
        let mut eve = play(&answering(head, &body), &[]);
        eve.says(words);
        assert_eq!(eve.status(), Some(1), "{head}");
    }
}

#[test]
fn a_web_page_and_a_missing_stream_are_asked_again() {
    let page = "200 OK\r\ncontent-type: text/html";
    for (head, words) in [
        (
            page,
            "correct the address if it is that of a web page; retrying",
        ),
        ("404 Not Found", "does anybody publish there?; retrying"),
        (
            "503 Busy",
            "HTTP status 503; the fault is at the server, whose log may say more; retrying",
        ),
    ] {
        let mut eve = play(&answering(head, "<p>"), &["--seconds", "2"]);
        eve.says(words);
        assert_eq!(eve.status(), Some(1), "{head}");
    }
}
