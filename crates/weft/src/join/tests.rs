use super::loopback;

#[test]
fn a_server_on_this_machine_is_reached_at_the_address_that_its_url_has() {
    let of = |url| loopback(url).map(|ip| ip.to_string());
    assert_eq!(of("http://127.0.0.1:8080").as_deref(), Some("127.0.0.1"));
    assert_eq!(of("http://127.0.0.2").as_deref(), Some("127.0.0.2"));
    assert_eq!(of("https://[::1]:8443/").as_deref(), Some("::1"));
    assert_eq!(of("http://localhost:8080/x").as_deref(), Some("127.0.0.1"));
    for elsewhere in [
        "https://localhost.example.com",
        "https://192.0.2.1:8443",
        "https://[2001:db8::1]",
        "https://example.com/?next=//127.0.0.1",
        "nonsense",
    ] {
        assert_eq!(of(elsewhere), None, "{elsewhere}");
    }
}
