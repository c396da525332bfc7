//! Minimal HTTP client for the tests.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Error of a problem, which must have a remedy.
    pub(crate) fn error(&self) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).expect("a JSON problem");
        assert!(body["remedy"].as_str().is_some_and(|r| !r.is_empty()));
        body["error"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn request(to: SocketAddr, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(to).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    exchange(&mut stream, line, headers, body)
}

pub(crate) fn exchange(
    stream: &mut (impl Read + Write),
    line: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    stream
        .write_all(head(line, headers, body.len()).as_bytes())
        .unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let (status, headers) = read_head(&mut reader);
    let length: usize = headers
        .get("content-length")
        .map_or(0, |l| l.parse().unwrap());
    let mut body = vec![0; length];
    if !line.starts_with("HEAD") {
        reader.read_exact(&mut body).unwrap();
    }
    Answer {
        status,
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}

fn head(line: &str, headers: &[(&str, &str)], length: usize) -> String {
    let mut head = format!("{line} HTTP/1.1\r\ncontent-length: {length}\r\n");
    if headers.iter().all(|(name, _)| *name != "host") {
        head.push_str("host: localhost\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head + "\r\n"
}

fn read_head(reader: &mut impl BufRead) -> (u16, BTreeMap<String, String>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines[1..].iter().filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(n, v)| (n.to_ascii_lowercase(), v.to_owned()));
    (status, headers.collect())
}

/// Open event stream; dropping it closes the connection.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    pub(crate) fn open(to: SocketAddr, path: &str) -> Events {
        Events::open_with(to, path, &[])
    }

    pub(crate) fn open_with(to: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Events {
        let mut stream = TcpStream::connect(to).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        stream
            .write_all(head(&format!("GET {path}"), headers, 0).as_bytes())
            .unwrap();
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        assert_eq!(status, 200);
        assert_eq!(headers["content-type"], "text/event-stream");
        Events(reader)
    }

    /// Returns the next event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<(String, serde_json::Value)> {
        let mut event = None;
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The last chunk is empty (RFC 9112 section 7.1).
            if line == "0\r\n" {
                return None;
            }
            if let Some(name) = line.strip_prefix("event: ") {
                event = Some(name.trim_end().to_owned());
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some((event.unwrap(), serde_json::from_str(data).unwrap()));
            }
        }
    }

    /// Returns the data of the next event, which must have this name.
    pub(crate) fn expect(&mut self, name: &str) -> serde_json::Value {
        let (event, data) = self.next().expect("the stream continues");
        assert_eq!(event, name, "{data}");
        data
    }

    /// Skips events until one of this name; returns its data.
    pub(crate) fn until(&mut self, name: &str) -> serde_json::Value {
        loop {
            let (event, data) = self.next().expect("the stream continues");
            if event == name {
                return data;
            }
        }
    }
}
