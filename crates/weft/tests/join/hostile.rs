//! Malicious servers against `weft join`, which must limit its memory and exit on a
//! signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use weft_testing::where_the_machine_keeps_up;

/// Maximum memory at any time.
const MOST_KIB: u64 = 64 << 10;

/// Length of each attack.
const ATTACK: Duration = Duration::from_secs(3);

/// Starts a server that calls `answer` for each connection, after the first line of its
/// request.
fn serving(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            thread::spawn(move || {
                let mut line = String::new();
                let Ok(copy) = stream.try_clone() else { return };
                if BufReader::new(copy).read_line(&mut line).is_ok() {
                    answer(&line, &mut stream);
                }
            });
        }
    });
    url
}

/// Sends until the other side closes the connection.
fn send_all(stream: &mut TcpStream, mut next: impl FnMut(u64) -> String) {
    let mut number = 0;
    while stream.write_all(next(number).as_bytes()).is_ok() {
        number += 1;
    }
}

/// Holds the connection until the other side closes it.
fn hold(stream: &mut TcpStream) {
    while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const WELCOME: &str =
    "event: welcome\ndata: {\"id\":\"1\",\"secret\":\"s\",\"participants\":[]}\n\n";

/// Participant with four cameras and sound, with this number.
fn publisher(number: u64) -> String {
    format!(
        "{{\"id\":\"p{number}\",\"name\":\"\\u001b[2J{number}\",\"publishing\":{{\"audio\":true,\
         \"cameras\":[{{}},{{}},{{}},{{}}]}}}}"
    )
}

/// Sends a welcome, and then endless new participants.
fn crowd(stream: &mut TcpStream) {
    let _ = stream.write_all((STREAM.to_owned() + WELCOME).as_bytes());
    send_all(stream, |n| {
        format!("event: joined\ndata: {}\n\n", publisher(n))
    });
}

/// Sends a welcome, and then endless changes of the caller's own state: muted or not,
/// with or without a publication.
fn flip(stream: &mut TcpStream) {
    let _ = stream.write_all((STREAM.to_owned() + WELCOME).as_bytes());
    send_all(stream, |n| {
        let muted = n % 4 == 0;
        let audio = n % 2 == 0;
        format!(
            "event: changed\ndata: {{\"id\":\"1\",\"name\":\"n\",\"muted\":{muted},\
             \"publishing\":{{\"audio\":{audio},\"cameras\":[]}}}}\n\n"
        )
    });
}

fn join(url: &str, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["join", url, "--room", "r", "--link", "127.0.0.1"]);
    command.args(["--mic", "tone"]).args(more);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Returns a value from the status of the process, in KiB; `None` after it has exited.
fn status(child: &Child, name: &str) -> Option<u64> {
    let file = format!("/proc/{}/status", child.id());
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':')
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Returns the time until the process exits by itself.
fn end_of(child: &mut Child) -> Duration {
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
        thread::sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

/// Returns the complete output of the program.
fn words(child: &mut Child) -> String {
    let mut said = Vec::new();
    let errors = child.stderr.as_mut().expect("its errors");
    errors.read_to_end(&mut said).expect("its words");
    String::from_utf8(said).expect("UTF-8")
}

/// Attacks a call for a while, then sends it this signal.
fn attack(name: &str, url: &str, signal: &str) {
    let mut child = join(url, &[]);
    let begun = Instant::now();
    let mut most = 0;
    while begun.elapsed() < ATTACK {
        most = status(&child, "VmHWM").unwrap_or(most);
        thread::sleep(Duration::from_millis(20));
    }
    assert!(most < MOST_KIB, "{name}: {most} KiB");
    let id = child.id().to_string();
    let _ = Command::new("kill").args([signal, &id]).status();
    let took = end_of(&mut child);
    assert!(took < Duration::from_secs(1), "{name}: {took:?}");
    let words = words(&mut child);
    assert!(
        words.lines().count() < 300,
        "{name}: {} lines",
        words.lines().count()
    );
    let odd = |c: char| c.is_control() && c != '\n';
    assert!(!words.contains(odd), "{name}: {words:?}");
    println!("{name}: {most} KiB, ended after {took:?}");
}

#[test]
fn no_server_owns_a_caller() {
    where_the_machine_keeps_up(|| {
        let refused = "HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n";
        let attacks: [(&str, String); 7] = [
            ("silence", serving(|_, stream| hold(stream))),
            (
                "a crowd whom nobody may play",
                serving(move |line, stream| match line.contains("/events") {
                    true => crowd(stream),
                    false => drop(stream.write_all(refused.as_bytes())),
                }),
            ),
            (
                "a crowd behind requests that hang",
                serving(|line, stream| match line.contains("/events") {
                    true => crowd(stream),
                    false => hold(stream),
                }),
            ),
            (
                "welcomes of thousands",
                serving(|line, stream| {
                    if !line.contains("/events") {
                        return hold(stream);
                    }
                    let _ = stream.write_all(STREAM.as_bytes());
                    send_all(stream, |n| {
                        let all: Vec<String> = (0..7_000).map(|m| publisher(n + m)).collect();
                        let all = all.join(",");
                        let own = "\"id\":\"1\",\"secret\":\"s\"";
                        format!("event: welcome\ndata: {{{own},\"participants\":[{all}]}}\n\n")
                    });
                }),
            ),
            (
                "mutes without end",
                serving(|line, stream| match line.contains("/events") {
                    true => flip(stream),
                    false => hold(stream),
                }),
            ),
            (
                "a line without end",
                serving(|_, stream| {
                    let _ = stream.write_all((STREAM.to_owned() + WELCOME).as_bytes());
                    send_all(stream, |_| "x".repeat(1 << 20));
                }),
            ),
            (
                "headers without end",
                serving(|_, stream| {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
                    send_all(stream, |_| "x: y\r\n".repeat(10_000));
                }),
            ),
        ];
        let all = attacks.into_iter().enumerate().map(|(n, (name, url))| {
            let signal = if n % 2 == 0 { "-TERM" } else { "-INT" };
            thread::spawn(move || attack(name, &url, signal))
        });
        // Two at a time, because each uses part of the machine.
        let mut all = all;
        loop {
            let pair: Vec<_> = all.by_ref().take(2).collect();
            if pair.is_empty() {
                break;
            }
            for one in pair {
                one.join().expect("it stays small and ends");
            }
        }
    });
}

#[test]
fn a_call_ends_when_its_time_is_over_whatever_the_server_does() {
    where_the_machine_keeps_up(|| {
        let url = serving(|line, stream| match line.contains("/events") {
            true => crowd(stream),
            false => hold(stream),
        });
        let mut child = join(&url, &["--seconds", "2"]);
        let took = end_of(&mut child);
        let bounds = Duration::from_secs(2)..Duration::from_millis(3_500);
        assert!(bounds.contains(&took), "{took:?}");
    });
}

/// Otherwise a server could use its callers against itself or against others.
#[test]
fn no_server_makes_a_caller_send_requests_all_the_time() {
    where_the_machine_keeps_up(|| {
        let offers = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&offers);
        let flips = serving(move |line, stream| match line.contains("/events") {
            true => flip(stream),
            false => drop(counted.fetch_add(1, Ordering::Relaxed)),
        });
        let mut child = join(&flips, &["--seconds", "3"]);
        end_of(&mut child);
        // One a second, as many receptions, and two attempts for each without an answer.
        let offers = offers.load(Ordering::Relaxed);
        assert!((2..=20).contains(&offers), "{offers} offers");

        // Servers that redirect to each other.
        let streams = Arc::new(AtomicUsize::new(0));
        let urls = Arc::new(OnceLock::<[String; 2]>::new());
        let server = |to: usize| {
            let (urls, streams) = (Arc::clone(&urls), Arc::clone(&streams));
            serving(move |line, stream| {
                if !line.contains("/events") {
                    return hold(stream);
                }
                streams.fetch_add(1, Ordering::Relaxed);
                let url = &urls.get().expect("both have started")[to];
                let _ = stream.write_all((STREAM.to_owned() + WELCOME).as_bytes());
                send_all(stream, |_| {
                    format!("event: move\ndata: {{\"url\":\"{url}\",\"node\":\"n\"}}\n\n")
                });
            })
        };
        let both = [server(1), server(0)];
        let first = both[0].clone();
        urls.set(both).expect("the first time");
        let mut child = join(&first, &["--seconds", "3"]);
        end_of(&mut child);
        let streams = streams.load(Ordering::Relaxed);
        assert!((2..=3).contains(&streams), "{streams} event streams");
    });
}
