use super::*;
use axum::http::HeaderValue;
use std::collections::BTreeMap;

/// Cookies that a browser stores for one host, whatever the port.
#[derive(Default)]
struct Browser(BTreeMap<(u32, String), String>, u32);

impl Browser {
    /// Headers of a request to this authority.
    fn headers(&self, host: &str) -> HeaderMap {
        let pairs: Vec<String> = self
            .0
            .iter()
            .map(|((_, name), value)| format!("{name}={value}"))
            .collect();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        let cookies = HeaderValue::from_str(&pairs.join("; ")).unwrap();
        headers.insert(header::COOKIE, cookies);
        headers
    }

    fn store(&mut self, set: Vec<String>) {
        for line in set {
            let (pair, attributes) = line.split_once("; ").unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.0.retain(|(_, other), _| other != name);
            if !attributes.contains("Max-Age=0") {
                self.1 += 1;
                self.0.insert((self.1, name.to_owned()), value.to_owned());
            }
        }
    }

    /// Opens the page of a room with a token for this room, or for all of them.
    fn open(&mut self, host: &str, page: &str, room: Option<&str>, token: &str) {
        let headers = self.headers(host);
        let set = Cookies::new(&headers, false).set(Some(page), room, token);
        self.store(set);
    }

    fn token(&self, host: &str, room: Option<&str>) -> Option<String> {
        Cookies::new(&self.headers(host), false).token(room)
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn rooms_and_ports_of_a_host_have_tokens_of_their_own() {
    let mut browser = Browser::default();
    browser.open("calls.example:8443", "one", Some("one"), "first");
    browser.open("calls.example:8443", "two", Some("two"), "second");
    browser.open("calls.example:9443", "one", Some("one"), "elsewhere");
    browser.open("calls.example", "one", None, "operator");
    let token = |host, room| browser.token(host, Some(room));
    assert_eq!(token("calls.example:8443", "one"), text("first"));
    assert_eq!(token("calls.example:8443", "two"), text("second"));
    assert_eq!(token("calls.example:9443", "one"), text("elsewhere"));
    assert_eq!(token("calls.example:9443", "two"), None);
    assert_eq!(token("calls.example", "any"), text("operator"));
    assert_eq!(token("calls.example:80", "any"), text("operator"));
    assert_eq!(browser.token("calls.example", None), text("operator"));
    assert_eq!(browser.token("calls.example:8443", None), None);
}

#[test]
fn the_token_that_came_last_counts() {
    let host = "calls.example:8443";
    let mut browser = Browser::default();
    browser.open(host, "one", None, "operator");
    browser.open(host, "one", Some("one"), "guest");
    browser.open(host, "two", Some("two"), "guest of two");
    assert_eq!(browser.token(host, Some("one")), text("guest"));
    assert_eq!(browser.token(host, Some("three")), text("operator"));
    browser.open(host, "one", None, "operator's new one");
    for room in ["one", "two", "three"] {
        let own = browser.token(host, Some(room));
        assert_eq!(own, text("operator's new one"), "{room}");
    }
    // Browsers send no cookies with the request of a link on another site.
    browser.open(host, "one", Some("one"), "guest");
    let headers = Browser::default().headers(host);
    browser.store(Cookies::new(&headers, false).set(Some("one"), None, "operator"));
    assert_eq!(browser.token(host, Some("one")), text("operator"));
}

#[test]
fn a_browser_forgets_the_tokens_of_one_server() {
    let host = "calls.example:8443";
    let mut browser = Browser::default();
    browser.open(host, "one", None, "operator");
    browser.open(host, "one", Some("one"), "guest");
    browser.open("calls.example", "one", Some("one"), "elsewhere");
    let headers = browser.headers(host);
    browser.store(Cookies::new(&headers, false).clear_all(None));
    assert_eq!(browser.token(host, Some("one")), None);
    let elsewhere = browser.token("calls.example", Some("one"));
    assert_eq!(elsewhere, text("elsewhere"));
}

#[test]
fn a_browser_stores_a_bounded_number_of_tokens() {
    let host = "calls.example:8443";
    let mut browser = Browser::default();
    browser.open(host, "r", None, "operator");
    for room in 0..100 {
        let room = format!("room{room}");
        browser.open(host, &room, Some(&room), "guest");
    }
    assert_eq!(browser.0.len(), 1 + MAX_ROOMS);
    assert_eq!(browser.token(host, Some("room99")), text("guest"));
    assert_eq!(browser.token(host, Some("room83")), text("operator"));
    browser.open(host, "room90", Some("room90"), "another");
    assert_eq!(browser.0.len(), 1 + MAX_ROOMS, "one was replaced");
}

#[test]
fn names_and_values_are_valid_in_a_header() {
    let host = "calls.example:8443";
    let mut browser = Browser::default();
    for (room, token) in [("größe", "a+b/c=="), ("a_b.c-d", "two words; päß\"%20")] {
        browser.open(host, room, Some(room), token);
        assert_eq!(browser.token(host, Some(room)), text(token));
    }
    let headers = browser.headers(host);
    assert!(headers[header::COOKIE].to_str().is_ok(), "ASCII only");
}

#[test]
fn over_tls_only_the_host_itself_sets_a_cookie() {
    let mut headers = Browser::default().headers("calls.example");
    let set = Cookies::new(&headers, true).set(Some("r"), Some("r"), "guest");
    let attributes = "Path=/; HttpOnly; SameSite=Strict; Secure";
    assert_eq!(
        set,
        [format!("__Host-weft_token_443_r=guest; {attributes}")]
    );
    let planted = "weft_token_443_r=planted; weft_token_443=planted";
    headers.insert(header::COOKIE, planted.parse().unwrap());
    assert_eq!(Cookies::new(&headers, true).token(Some("r")), None);
}
