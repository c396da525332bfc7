//! Profiles, levels and packetization modes in session descriptions.

use super::*;
use crate::sdp;

fn form(parameters: &str) -> Option<Form> {
    Form::of(&sdp::Payload {
        codec: "h264".to_owned(),
        parameters: parameters.to_owned(),
        clock_rate: 90_000,
        ..sdp::Payload::default()
    })
}

fn profile(id: &str) -> Option<Profile> {
    form(&format!("packetization-mode=1;profile-level-id={id}")).map(|form| form.profile)
}

/// Rows of RFC 6184 table 5: `profile_idc`, the pattern of `profile-iop`, and the
/// profile.
const TABLE_5: [(u8, &str, Profile); 14] = [
    (0x42, "x1xx0000", Profile::ConstrainedBaseline),
    (0x4d, "1xxx0000", Profile::ConstrainedBaseline),
    (0x58, "11xx0000", Profile::ConstrainedBaseline),
    (0x42, "x0xx0000", Profile::Baseline),
    (0x58, "10xx0000", Profile::Baseline),
    (0x4d, "0x0x0000", Profile::Main),
    (0x58, "00xx0000", Profile::Extended),
    (0x64, "00000000", Profile::High),
    (0x6e, "00000000", Profile::High10),
    (0x7a, "00000000", Profile::High422),
    (0xf4, "00000000", Profile::High444),
    (0x6e, "00010000", Profile::High10Intra),
    (0x7a, "00010000", Profile::High422Intra),
    (0xf4, "00010000", Profile::High444Intra),
];

fn fits(pattern: &str, flags: u8) -> bool {
    let mut bits = pattern.bytes().enumerate();
    bits.all(|(bit, wanted)| wanted == b'x' || (wanted == b'1') == (flags & (0x80 >> bit) != 0))
}

#[test]
fn table_5_is_read_with_its_open_bits() {
    for (idc, pattern, expected) in TABLE_5 {
        for flags in (0..=u8::MAX).filter(|flags| fits(pattern, *flags)) {
            assert_eq!(Profile::of(idc, flags), Some(expected), "{idc:x} {flags:x}");
        }
    }
    assert_eq!(Profile::of(0x2c, 0x10), Some(Profile::Cavlc444Intra));
    assert_eq!(Profile::of(0x12, 0), None);
}

#[test]
fn forms_that_were_met_in_the_field() {
    use Profile::{Baseline, ConstrainedBaseline, ConstrainedHigh, High, Main};
    for (id, expected) in [
        ("42e01f", ConstrainedBaseline), // browsers
        ("42c01f", ConstrainedBaseline), // x264, OpenH264
        ("4de01f", ConstrainedBaseline), // Firefox on Android
        ("4D8034", ConstrainedBaseline),
        ("58c01f", ConstrainedBaseline),
        ("42001f", Baseline),
        ("588014", Baseline),
        ("4d001f", Main),
        ("4d4028", Main), // x264
        ("640c1f", ConstrainedHigh),
        ("640028", High),
    ] {
        assert_eq!(profile(id), Some(expected), "{id}");
    }
    for id in ["", "42e0", "42e01", "42e01f0", "+2e01f", "42e01g", "12001f"] {
        assert_eq!(profile(id), None, "{id}");
    }
}

#[test]
fn missing_parameters_mean_baseline_at_level_1_in_single_units() {
    let bare = Form {
        profile: Profile::Baseline,
        level: 10,
        packetization: Packetization::Unstated,
    };
    assert_eq!(form(""), Some(bare));
    assert_eq!(form("level-asymmetry-allowed=1"), Some(bare));
    let fragments = Form {
        packetization: Packetization::NonInterleaved,
        ..bare
    };
    assert_eq!(form("packetization-mode=1;"), Some(fragments));
    assert_eq!(form("packetization-mode=2"), None, "interleaved");
    assert_eq!(
        form("packetization-mode=1;profile-level-id=42e034")
            .unwrap()
            .level,
        52
    );
    assert_eq!(form(&Form::OURS.parameters()), Some(Form::OURS));
}

#[test]
fn a_decoder_takes_the_profiles_that_its_own_contains() {
    use Profile::{Baseline, ConstrainedBaseline, ConstrainedHigh, Extended, High, High10, Main};
    for (decoder, decoded) in [
        (ConstrainedBaseline, &[][..]),
        (Baseline, &[]),
        (Extended, &[Extended]),
        (Main, &[Main]),
        (ConstrainedHigh, &[ConstrainedHigh]),
        (High, &[Main, ConstrainedHigh, High]),
        (High10, &[Main, ConstrainedHigh, High, High10]),
    ] {
        for stream in [
            ConstrainedBaseline,
            Baseline,
            Extended,
            Main,
            ConstrainedHigh,
            High,
            High10,
        ] {
            let everywhere = matches!(stream, ConstrainedBaseline | Baseline);
            let expected = everywhere || decoded.contains(&stream);
            assert_eq!(decoder.decodes(stream), expected, "{decoder} {stream}");
        }
    }
    let high = form("packetization-mode=0;profile-level-id=64001f").unwrap();
    let single = Form {
        packetization: Packetization::SingleUnit,
        ..Form::OURS
    };
    assert!(!high.decodes(Form::OURS), "fragments");
    assert!(high.decodes(single));
    let bare = form("").unwrap();
    assert!(bare.decodes(Form::OURS) && bare.decodes(single));
    assert!(single.decodes(bare) && bare.preference() < Form::OURS.preference());
}

/// The form that most receivers decode, from the list of Chromium 156.
#[test]
fn fragments_are_preferred_and_then_the_common_profile() {
    let ids = [
        "1;profile-level-id=42e01f",
        "1;profile-level-id=42001f",
        "1;profile-level-id=4d001f",
        "1;profile-level-id=64001f",
        "0;profile-level-id=42e01f",
        "0;profile-level-id=64001f",
    ];
    let ranks = ids.map(|id| {
        form(&format!("packetization-mode={id}"))
            .unwrap()
            .preference()
    });
    assert!(ranks.windows(2).all(|pair| pair[0] > pair[1]), "{ranks:?}");
}

proptest! {
    #[test]
    fn any_profile_level_id_is_a_known_profile_or_none(idc: u8, flags: u8, level: u8) {
        let id = format!("{idc:02x}{flags:02X}{level:02x}");
        let read = form(&format!("packetization-mode=1;profile-level-id={id}"));
        prop_assert_eq!(read.map(|form| form.profile), Profile::of(idc, flags));
        let Some(read) = read else { return Ok(()) };
        prop_assert_eq!(read.level, level);
        prop_assert!(read.decodes(read));
        // Every decoder decodes our streams, except those for intra pictures only.
        let is_intra = read.profile > Profile::High444;
        prop_assert_eq!(read.decodes(Form::OURS), !is_intra);
        let again = form(&read.parameters()).unwrap();
        prop_assert!(again.decodes(read) && read.decodes(again));
        prop_assert!(again.level >= 31);
    }

    #[test]
    fn decoding_is_transitive(a in 0..13_usize, b in 0..13_usize, c in 0..13_usize) {
        const ALL: [(u8, u8); 13] = [(0x42, 0x40), (0x42, 0), (0x64, 0xc), (0x4d, 0), (0x64, 0),
            (0x58, 0), (0x6e, 0), (0x7a, 0), (0xf4, 0), (0x6e, 16), (0x7a, 16), (0xf4, 16), (0x2c, 16)];
        let [a, b, c] = [a, b, c].map(|i| Profile::of(ALL[i].0, ALL[i].1).unwrap());
        prop_assert!(!(a.decodes(b) && b.decodes(c)) || a.decodes(c));
        let alike = |p| matches!(p, Profile::ConstrainedBaseline | Profile::Baseline);
        prop_assert!(!(a.decodes(b) && b.decodes(a)) || a == b || alike(a) && alike(b));
    }

    #[test]
    fn any_parameters_are_read(parameters in "[ -~]{0,60}") {
        let _ = form(&parameters);
    }
}
