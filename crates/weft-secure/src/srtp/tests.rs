use super::gcm::Gcm;
use super::kdf::{Label, derive};
use super::replay::{ReplayWindow, WINDOW};
use super::*;
use proptest::prelude::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16).map(|d| d as u8))
        .collect();
    digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect()
}

const MASTER_KEY: &str = "E1F97A0D3E018BE0D64FA32C06DE4139";
const MASTER_SALT: &str = "0EC675AD498AFEEBB6960B3AABE6";

fn rtp(sequence: u16, ssrc: u32) -> Vec<u8> {
    let mut packet = vec![0x80, 96];
    packet.extend_from_slice(&sequence.to_be_bytes());
    packet.extend_from_slice(&[0, 0, 0, 1]);
    packet.extend_from_slice(&ssrc.to_be_bytes());
    packet.extend_from_slice(b"some payload");
    packet
}

fn rtcp(ssrc: u32) -> Vec<u8> {
    let mut packet = vec![0x80, 201, 0, 1];
    packet.extend_from_slice(&ssrc.to_be_bytes());
    packet
}

const PROFILES: [Profile; 3] = [
    Profile::Aes128CmSha1_80,
    Profile::AeadAes128Gcm,
    Profile::AeadAes256Gcm,
];

/// Returns client and server with the same keying material.
fn pair(profile: Profile) -> (Srtp, Srtp) {
    let (key, salt) = profile.lengths();
    let material: Vec<u8> = (0..2 * (key + salt)).map(|i| (i * 7 + 3) as u8).collect();
    let side = |side| Srtp::new(profile, &material, side).expect("material fits");
    (side(DtlsRole::Client), side(DtlsRole::Server))
}

fn protected(srtp: &mut Srtp, mut packet: Vec<u8>) -> Vec<u8> {
    srtp.protect_rtp(&mut packet, &[]).expect("protects");
    packet
}

#[test]
fn keys_are_derived_as_in_rfc_3711_b_3() {
    let provider = str0m_aws_lc_rs::default_provider().srtp_provider;
    let (key, salt) = (hex(MASTER_KEY), hex(MASTER_SALT));
    let encryption: [u8; 16] = derive(provider, &key, &salt, Label::RtpEncryption);
    let session_salt: [u8; 14] = derive(provider, &key, &salt, Label::RtpSalt);
    let authentication: [u8; 94] = derive(provider, &key, &salt, Label::RtpAuthentication);
    assert_eq!(encryption[..], hex("C61E7A93744F39EE10734AFE3FF7A087"));
    assert_eq!(session_salt[..], hex("30CBBC08863D8C85D49DB34A9AE1"));
    let expected = "CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE
        E049646C43D9327AD175578EF7227098 6371C10C9A369AC2F94A8C5FBCDDDC25
        6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2";
    assert_eq!(authentication[..], hex(expected));
}

#[test]
fn counter_mode_gives_the_packet_of_libsrtp() {
    // libsrtp, test/srtp_driver.c, srtp_validate(): master key and salt of
    // RFC 3711 B.3, one packet.
    let material = [MASTER_KEY, MASTER_KEY, MASTER_SALT, MASTER_SALT].map(hex);
    let material = material.concat();
    let profile = Profile::Aes128CmSha1_80;
    let mut client = Srtp::new(profile, &material, DtlsRole::Client).expect("material fits");
    let packet = hex("800f1234decafbadcafebabe abababababababababababababababab");
    let expected = hex("800f1234decafbadcafebabe 4e55dc4ce79978d88ca4d215949d2402
        b78d6acc99ea179b8dbb");
    assert_eq!(protected(&mut client, packet), expected);
}

#[test]
fn the_end_of_a_payload_is_protected_wherever_it_is() {
    for profile in PROFILES {
        let plain = rtp(7, 1);
        let whole = protected(&mut pair(profile).0, plain.clone());
        for begun in [12, 18] {
            let (mut client, _) = pair(profile);
            let mut packet = plain[..begun].to_vec();
            let protected = client.protect_rtp(&mut packet, &plain[begun..]);
            protected.expect("protects");
            assert_eq!(packet, whole);
        }
    }
}

#[cfg(feature = "simulation")]
#[test]
fn packets_without_a_cipher_have_the_size_of_encrypted_ones() {
    let (mut encrypting, _) = pair(Profile::AeadAes128Gcm);
    let [mut sender, mut receiver] = [(); 2].map(|()| Srtp::plain());
    let sent = protected(&mut sender, rtp(7, 1));
    assert_eq!(sent.len(), protected(&mut encrypting, rtp(7, 1)).len());
    let new = Unprotected::New(&rtp(7, 1)[..]);
    assert_eq!(receiver.unprotect_rtp(&sent), Ok(new));
    let again = Unprotected::Again(&rtp(7, 1)[..]);
    assert_eq!(receiver.unprotect_rtp(&sent), Ok(again));
    let cut = receiver.unprotect_rtp(&sent[..sent.len() - 17]);
    assert_eq!(cut, Err(DropReason::Authentication));

    let [mut report, mut other] = [(); 2].map(|()| rtcp(1));
    sender.protect_rtcp(&mut report).expect("protects");
    encrypting.protect_rtcp(&mut other).expect("protects");
    assert_eq!(report.len(), other.len());
    assert_eq!(receiver.unprotect_rtcp(&report), Ok(&rtcp(1)[..]));
    let again = receiver.unprotect_rtcp(&report);
    assert_eq!(again, Err(DropReason::Replayed));
}

/// Session keys and salt of RFC 7714 section 16.
fn rfc_7714(key: usize) -> Gcm {
    let key: Vec<u8> = (0..key as u8).collect();
    Gcm::from_session_keys(&key, b"Quid pro quo")
}

#[test]
fn aead_gives_the_rtp_packets_of_rfc_7714() {
    let plain = hex("8040f17b8041f8d35501a0b2 47616c6c696120657374206f6d6e6973
        206469766973612069 6e207061727465732074726573");
    for (key, expected) in [
        // Section 16.1.1
        (
            16,
            "8040f17b8041f8d35501a0b2 f24de3a3fb34de6cacba861c9d7e4bca
            be633bd50d294e6f42a5f47a51c7d19b 36de3adf8833899d7f27beb16a9152cf 765ee4390cce",
        ),
        // Section 16.2.1
        (
            32,
            "8040f17b8041f8d35501a0b2 32b1de78a822fe12ef9f78fa332e33aa
            b18012389a58e2f3b50b2a0276ffae0f 1ba63799b87b7aa3db36dfffd6b0f9bb 7878d7a76c13",
        ),
    ] {
        let id = (0x5501_a0b2, 0xf17b);
        let mut packet = plain.clone();
        rfc_7714(key).protect_rtp(&mut packet, 12, id);
        assert_eq!(packet, hex(expected));
        let mut out = Vec::new();
        assert!(rfc_7714(key).unprotect_rtp(&packet, 12, id, &mut out));
        assert_eq!(out, plain);
    }
}

#[test]
fn aead_gives_the_rtcp_packet_of_rfc_7714_17_1() {
    let plain = hex(
        "81c8000d4d617273 4e5450314e545032 525450200000042a 0000e9304c756e61
        deadbeefdeadbeef deadbeefdeadbeef deadbeef",
    );
    let expected = hex(
        "81c8000d4d617273 63e94885dcdab67c a727d7662f6b7e99 7ff5c0f76c06f32d
        c676a5f1730d6fda 4ce09b4686303ded 0bb9275bc84aa458 96cf4d2fc5abf872 45d9eade800005d4",
    );
    let mut packet = plain.clone();
    let ssrc = 0x4d61_7273;
    rfc_7714(16).protect_rtcp(&mut packet, (ssrc, 0x5d4));
    assert_eq!(packet, expected);
    let mut out = Vec::new();
    assert!(rfc_7714(16).unprotect_rtcp(&packet, (ssrc, 0x8000_05d4), &mut out));
    assert_eq!(out, plain);
}

#[test]
fn rtp_and_rtcp_do_not_share_keys() {
    let provider = str0m_aws_lc_rs::default_provider().srtp_provider;
    let (key, salt) = (hex(MASTER_KEY), hex(MASTER_SALT));
    let all = [
        Label::RtpEncryption,
        Label::RtpAuthentication,
        Label::RtpSalt,
        Label::RtcpEncryption,
        Label::RtcpAuthentication,
        Label::RtcpSalt,
    ]
    .map(|label| derive::<14>(provider, &key, &salt, label));
    for (i, a) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|b| a != b), "label {i} repeats a key");
    }
}

#[test]
fn only_the_peer_reads_protected_packets() {
    for profile in PROFILES {
        let (mut client, mut server) = pair(profile);
        let mut third = Srtp::new(
            profile,
            &vec![9; 2 * (profile.lengths().0 + profile.lengths().1)],
            DtlsRole::Server,
        )
        .expect("material fits");
        let packet = protected(&mut client, rtp(5, 1));
        assert_eq!(
            server.unprotect_rtp(&packet),
            Ok(Unprotected::New(&rtp(5, 1)))
        );
        assert_eq!(
            client.unprotect_rtp(&packet),
            Err(DropReason::Authentication)
        );
        assert_eq!(
            third.unprotect_rtp(&packet),
            Err(DropReason::Authentication)
        );
        let mut report = rtcp(1);
        client.protect_rtcp(&mut report).expect("protects");
        assert_eq!(server.unprotect_rtcp(&report), Ok(&rtcp(1)[..]));
        assert_eq!(server.unprotect_rtcp(&report), Err(DropReason::Replayed));
        assert_eq!(
            client.unprotect_rtcp(&report),
            Err(DropReason::Authentication)
        );
    }
}

#[test]
fn a_changed_or_shortened_packet_is_refused() {
    for profile in PROFILES {
        let (mut client, mut server) = pair(profile);
        let packet = protected(&mut client, rtp(5, 1));
        for i in 0..packet.len() {
            let mut bad = packet.clone();
            bad[i] ^= 1;
            assert!(
                server.unprotect_rtp(&bad).is_err(),
                "byte {i} is not covered"
            );
            assert!(server.unprotect_rtp(&packet[..i]).is_err(), "length {i}");
        }
        let mut report = rtcp(1);
        client.protect_rtcp(&mut report).expect("protects");
        for i in 0..report.len() {
            let mut bad = report.clone();
            bad[i] ^= 1;
            assert!(
                server.unprotect_rtcp(&bad).is_err(),
                "byte {i} is not covered"
            );
            assert!(server.unprotect_rtcp(&report[..i]).is_err(), "length {i}");
        }
        assert!(
            server.unprotect_rtp(&packet).is_ok(),
            "the refused left a mark"
        );
        assert!(
            server.unprotect_rtcp(&report).is_ok(),
            "the refused left a mark"
        );
    }
}

#[test]
fn an_index_is_protected_once() {
    for profile in PROFILES {
        let (mut client, _) = pair(profile);
        protected(&mut client, rtp(5, 1));
        protected(&mut client, rtp(5, 2));
        protected(&mut client, rtp(4, 1));
        // Nor with another header extension.
        let mut again = rtp(5, 1);
        again[0] |= 0x10;
        again.splice(12..12, [0xbe, 0xde, 0, 0]);
        let before = again.clone();
        let reused = ProtectError::Reused {
            ssrc: Ssrc(1),
            sequence: 5,
        };
        assert_eq!(client.protect_rtp(&mut again, &[]), Err(reused));
        assert_eq!(again, before);
    }
}

#[test]
fn far_back() {
    for profile in PROFILES {
        let (mut client, mut server) = pair(profile);
        let old = protected(&mut client, rtp(100, 1));
        let older = protected(&mut client, rtp(99, 1));
        let newest = protected(&mut client, rtp(100 + WINDOW as u16 - 1, 1));
        assert!(server.unprotect_rtp(&newest).is_ok());
        assert!(server.unprotect_rtp(&old).is_ok());
        let again = Ok(Unprotected::Again(&rtp(100, 1)[..]));
        assert_eq!(server.unprotect_rtp(&old), again);
        assert_eq!(server.unprotect_rtp(&older), Err(DropReason::TooOld));
    }
}

#[test]
fn the_rollover_counter_is_the_streams_own() {
    for profile in PROFILES {
        let (mut client, mut server) = pair(profile);
        for ssrc in [1, 2] {
            for index in (30_000..150_000_u32).step_by(10_000) {
                let packet = protected(&mut client, rtp(index as u16, ssrc));
                assert_eq!(
                    server.unprotect_rtp(&packet),
                    Ok(Unprotected::New(&rtp(index as u16, ssrc))),
                    "{profile}, index {index}"
                );
            }
        }
        // Across the wrap in both orders: 65535 and 0 of a stream at index 65530.
        protected(&mut client, rtp(65_530, 3));
        let first = protected(&mut client, rtp(65_530, 4));
        let last = protected(&mut client, rtp(65_535, 4));
        let wrapped = protected(&mut client, rtp(0, 4));
        for packet in [first, wrapped, last] {
            assert!(server.unprotect_rtp(&packet).is_ok());
        }
    }
}

#[test]
fn nothing_lies_before_the_first_index() {
    let (mut client, mut server) = pair(Profile::AeadAes128Gcm);
    let first = protected(&mut client, rtp(2, 1));
    assert!(server.unprotect_rtp(&first).is_ok());
    let too_old = ProtectError::TooOld {
        ssrc: Ssrc(1),
        sequence: 65_535,
    };
    assert_eq!(client.protect_rtp(&mut rtp(65_535, 1), &[]), Err(too_old));
    let early = [rtp(65_535, 1), vec![0; 16]].concat();
    let refused = server.unprotect_rtp(&early);
    assert_eq!(refused, Err(DropReason::Authentication));
}

/// Janus numbers a viewer's packets from 1. If the packet before the first one arrives
/// late, it becomes 65535; libsrtp protects it with rollover counter zero, and later
/// packets with counter one.
#[test]
fn a_stream_that_libsrtp_numbered_back_from_its_start_is_read() {
    const NUMBERED: [u64; 4] = [1, 65_535, 65_536 + 2, 65_536 + 3];
    for profile in PROFILES {
        for lost in [None, Some(65_535), Some(1)] {
            let (mut client, mut server) = pair(profile);
            for index in NUMBERED.into_iter().filter(|index| Some(*index) != lost) {
                let plain = rtp(index as u16, 1);
                let packet = protected_as(&mut client, &plain, index);
                let read = server.unprotect_rtp(&packet);
                assert_eq!(read, Ok(Unprotected::New(&plain)), "{index}, {lost:?}");
                let again = server.unprotect_rtp(&packet);
                assert_eq!(again, Ok(Unprotected::Again(&plain)), "{index}");
            }
        }
    }
}

#[test]
fn a_stream_is_read_on_after_a_gap_of_more_than_half_the_numbers() {
    for profile in PROFILES {
        for gap in [33_000_u64, 50_000, 65_535] {
            let (mut client, mut server) = pair(profile);
            for index in [10_000, 10_000 + gap, 10_001 + gap] {
                let plain = rtp(index as u16, 1);
                let packet = protected_as(&mut client, &plain, index);
                let read = server.unprotect_rtp(&packet);
                assert_eq!(read, Ok(Unprotected::New(&plain)), "{index}, {gap}");
            }
        }
    }
}

/// Returns the packet protected with this index, whatever was protected before.
fn protected_as(srtp: &mut Srtp, packet: &[u8], index: u64) -> Vec<u8> {
    let mut window = ReplayWindow::new();
    window.accept(index - 1);
    let ssrc = u32::from_be_bytes(*packet[8..].first_chunk().expect("a header"));
    srtp.send.streams.insert(ssrc, window);
    protected(srtp, packet.to_vec())
}

#[test]
fn streams_are_bounded() {
    let (mut client, mut server) = pair(Profile::AeadAes128Gcm);
    for ssrc in 0..MAX_STREAMS as u32 {
        let packet = protected(&mut client, rtp(1, ssrc));
        assert!(server.unprotect_rtp(&packet).is_ok());
    }
    let more = MAX_STREAMS as u32;
    let refused = client.protect_rtp(&mut rtp(1, more), &[]);
    assert_eq!(refused, Err(ProtectError::TooManyStreams));
    // The same streams continue.
    protected(&mut client, rtp(2, 0));
    // Another sender with the same keys creates a packet of one more SSRC.
    let packet = protected(&mut pair(Profile::AeadAes128Gcm).0, rtp(1, more));
    assert_eq!(
        server.unprotect_rtp(&packet),
        Err(DropReason::TooManyStreams)
    );
}

proptest! {
    /// Compares with the set of all indices seen.
    #[test]
    fn the_window_accepts_each_index_once(
        steps in prop::collection::vec((0_u64..40_000, 0_u64..9_000), 1..300)
    ) {
        let mut window = ReplayWindow::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut highest = 0;
        for (jump, back) in steps {
            // One step in four advances the highest index.
            let base: u64 = if jump % 4 == 0 { highest + jump } else { highest };
            let index = base.saturating_sub(back);
            let expected = if seen.is_empty() || index > highest {
                Ok(())
            } else if highest - index >= WINDOW {
                Err(Refused::TooOld)
            } else if seen.contains(&index) {
                Err(Refused::Seen)
            } else {
                Ok(())
            };
            prop_assert_eq!(window.check(index), expected);
            if expected.is_ok() {
                window.accept(index);
                highest = if seen.is_empty() { index } else { highest.max(index) };
                seen.insert(index);
            }
        }
    }

    #[test]
    fn the_nearest_index_is_taken(highest in 0_u64..1 << 40, offset in -32_000_i64..32_000) {
        let mut window = ReplayWindow::new();
        window.accept(highest);
        let index = highest.checked_add_signed(offset);
        prop_assume!(index.is_some());
        prop_assert_eq!(window.extend(index.unwrap_or(0) as u16), index);
    }

    #[test]
    fn random_bytes_never_pass(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for profile in PROFILES {
            let (_, mut server) = pair(profile);
            prop_assert!(server.unprotect_rtp(&bytes).is_err());
            prop_assert!(server.unprotect_rtcp(&bytes).is_err());
        }
    }
}
