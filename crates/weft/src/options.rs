//! Messages of the endpoint, with the command-line options that implement their
//! advice.

use weft_endpoint::connect::ConnectError;
use weft_endpoint::links::ChoiceError;
use weft_endpoint::signalling::{CertificateFault, SignallingError, UrlPart, with_remedy};
use weft_endpoint::sources::cameras::CamerasError;
use weft_endpoint::{Notice, StartError};

/// Advice for a missing token.
const TOKEN: &str = "give it with --token or in WEFT_TOKEN";
/// Advice for a wrong token.
const WHOLE: &str = "give all of it with --token or in WEFT_TOKEN, or ask for another one";
/// Advice for an expired or revoked token.
const NEW_TOKEN: &str = "ask the person who runs the server for a new one (`weft token --room ROOM \
                         --hours 2` makes it), and give it with --token or in WEFT_TOKEN";

pub fn of_start(error: &StartError) -> String {
    match error {
        StartError::Server(error) => of_signalling(error),
        StartError::Choice(ChoiceError::SameName(name)) => {
            format!(
                "two links have the name `{name}`; give one of them another name: --link NAME=INTERFACE"
            )
        }
        StartError::Choice(ChoiceError::NoInterface) => {
            "no network interface has an address; connect one, or name a --link".to_owned()
        }
        StartError::Cameras(CamerasError::SameDevice { .. }) => format!("--camera {error}"),
        StartError::Cameras(CamerasError::SameName(name)) => {
            format!("--camera {name}=…: another camera already has this name; choose another one")
        }
        error => error.to_string(),
    }
}

pub fn of_notice(notice: &Notice) -> String {
    match notice {
        Notice::RecordingOfSound { path } => format!(
            "{}: the sender uses H.264, which WebM cannot hold; only the sound is recorded \
             (pictures need a sender with VP8: weft join --codec vp8)",
            path.display()
        ),
        Notice::TooSlow { .. } => with_smaller(notice, "--camera /dev/video0:360p"),
        notice => notice.to_string(),
    }
}

/// Notice that the machine is too slow, with the option for smaller pictures.
pub fn with_smaller(notice: &Notice, option: &str) -> String {
    format!("{notice}: {option}")
}

pub fn of_connect(error: &ConnectError) -> String {
    match error {
        ConnectError::Signalling(error) => of_signalling(error),
        error => error.to_string(),
    }
}

pub fn of_signalling(error: &SignallingError) -> String {
    match error {
        SignallingError::UrlParts { url, part } => {
            let remedy = match part {
                UrlPart::Query => {
                    "remove the part from `?` or `#` on, and give a token with --token or in \
                     WEFT_TOKEN"
                }
                UrlPart::Room => "remove the part from `/r/` on, and name the room with --room",
            };
            format!("`{url}` has more than the server's address: {remedy}")
        }
        SignallingError::Authority { .. } => format!("--ca {error}"),
        SignallingError::Certificate {
            url,
            error,
            fault: CertificateFault::Unknown,
        } => format!(
            "{url} does not prove who it is: {error}; if the server's certificate is \
             self-signed, copy the certificate file from the server and name it with --ca, or use \
             --insecure to accept any certificate"
        ),
        SignallingError::Refused {
            what,
            status: 401,
            error,
            kind,
            ..
        } => {
            let remedy = match kind.as_deref() {
                Some("token_expired" | "token_revoked") => NEW_TOKEN,
                Some("token_wrong") => WHOLE,
                _ => TOKEN,
            };
            format!("the server refuses {what}: {}", with_remedy(error, remedy))
        }
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use weft_endpoint::signalling::{Room, Server, Trust};

    use super::*;

    fn error_at(url: &str, trust: Trust) -> SignallingError {
        let server = Server {
            url: url.to_owned(),
            trust,
            ..Server::default()
        };
        Room::new(&server, Vec::new(), "r").err().expect(url)
    }

    #[test]
    fn an_address_out_of_a_browser_is_refused_with_the_option_that_does_it() {
        for (url, option) in [
            ("https://host/?token=abc", "--token"),
            ("https://host:8443/#x", "--token"),
            ("https://host/r/ride", "--room"),
        ] {
            let error = error_at(url, Trust::Anybody);
            let words = of_signalling(&error);
            assert!(words.contains(option), "{words}");
            assert!(!error.is_passing(), "{error}");
        }
    }

    #[test]
    fn a_certificate_for_other_names_is_not_mended_with_a_copy_of_it() {
        let of = |fault| {
            let (url, error) = ("https://h".to_owned(), "no".to_owned());
            of_signalling(&SignallingError::Certificate { url, error, fault })
        };
        let strange = of(CertificateFault::Unknown);
        assert!(strange.contains("--ca"), "{strange}");
        let other = of(CertificateFault::OtherNames);
        assert!(
            !other.contains("--ca") && other.contains("certificate.pem"),
            "{other}"
        );
    }

    #[test]
    fn a_file_without_certificate_is_refused_with_its_option() {
        let error = error_at("https://h", Trust::File("/nowhere.pem".into()));
        let words = of_signalling(&error);
        assert!(words.starts_with("--ca /nowhere.pem: "), "{words}");
    }

    #[test]
    fn a_refused_token_comes_with_the_option_or_the_command_that_helps() {
        let refused = |kind: Option<&str>| {
            of_signalling(&SignallingError::Refused {
                what: "to join",
                status: 401,
                error: "A token is needed.".to_owned(),
                remedy: "Open the page with it.".to_owned(),
                kind: kind.map(str::to_owned),
                retry_after: None,
            })
        };
        let words = refused(None);
        assert!(
            words.ends_with("needed; give it with --token or in WEFT_TOKEN"),
            "{words}"
        );
        for kind in ["token_expired", "token_revoked"] {
            let words = refused(Some(kind));
            assert!(words.contains("`weft token --room"), "{words}");
        }
        let words = refused(Some("token_wrong"));
        assert!(words.contains("give all of it with --token"), "{words}");
    }
}
