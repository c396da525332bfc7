use std::net::{IpAddr, SocketAddr};

/// Returns the addresses that peers are offered for TCP connections: the HTTP port at each media
/// address on which HTTP listens, or at the public address of the same family that represents it.
pub(super) fn addresses(
    http: SocketAddr,
    media: &[SocketAddr],
    public: &[IpAddr],
) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    for ip in media.iter().map(SocketAddr::ip) {
        let listens = match http.ip() {
            IpAddr::V4(any) if any.is_unspecified() => ip.is_ipv4(),
            IpAddr::V6(any) if any.is_unspecified() => true,
            only => only == ip,
        };
        let mut public = public.iter();
        let public = public.find(|public| public.is_ipv4() == ip.is_ipv4());
        let known = SocketAddr::new(*public.unwrap_or(&ip), http.port());
        if listens && !found.contains(&known) {
            found.push(known);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(http: &str, public: &[&str]) -> Vec<String> {
        let media = ["10.0.0.1:5", "10.0.1.1:5", "[2001:db8::1]:5"];
        let media = media.map(|text| text.parse().unwrap());
        let public: Vec<IpAddr> = public.iter().map(|text| text.parse().unwrap()).collect();
        let found = addresses(http.parse().unwrap(), &media, &public);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_addresses_on_which_http_listens_are_offered() {
        let ipv4 = ["10.0.0.1:443", "10.0.1.1:443"];
        assert_eq!(all("0.0.0.0:443", &[]), ipv4);
        assert_eq!(
            all("[::]:443", &[]),
            [&ipv4[..], &["[2001:db8::1]:443"]].concat()
        );
        assert_eq!(all("10.0.1.1:443", &[]), ["10.0.1.1:443"]);
        // A proxy on this machine.
        assert_eq!(all("127.0.0.1:8080", &["192.0.2.1"]), [""; 0]);
    }

    #[test]
    fn a_public_address_stands_for_all_of_its_family() {
        assert_eq!(all("0.0.0.0:443", &["192.0.2.1"]), ["192.0.2.1:443"]);
        assert_eq!(
            all("[::]:443", &["192.0.2.1"]),
            ["192.0.2.1:443", "[2001:db8::1]:443"]
        );
    }
}
