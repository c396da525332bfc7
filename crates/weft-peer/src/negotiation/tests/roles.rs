//! DTLS roles in offers and answers.

use super::*;

#[test]
fn the_handshake_is_left_to_a_peer_whose_certificate_may_be_rsa() {
    let send = AnswerPolicy {
        receive: None,
        send: vec![MediaKind::Audio.into()],
    };
    for (offered, expected) in [
        ("actpass", Setup::Passive),
        ("active", Setup::Passive),
        // The answer follows the offer's choice.
        ("passive", Setup::Active),
    ] {
        let setup = format!("a=setup:{offered}");
        let offer = samples::CHROMIUM.replace("a=setup:actpass", &setup);
        for policy in [&send, &RECEIVE] {
            let (_, answer) = answer_to(&offer, policy).expect("it is usable");
            assert_eq!(answer.media[0].setup, Some(expected), "{offered}");
        }
    }
}
