use super::*;
use Indication::{Discardable, NotPresent, Required, Switch};
use weft_testing::octets;

/// First packet of a keyframe of two temporal layers (L1T2, section A.10.4's form): three
/// templates from id 62 on, two decode targets, one chain, 640 x 360.
fn keyframe() -> Vec<u8> {
    octets(concat!(
        // Start, no end, template 62, frame 0x1234; a structure and nothing else.
        "1 0 111110 0001001000110100 1 0 0 0 0",
        // Ids from 62, two targets; layers T0, T0, T1.
        "111110 00001 00 01 11",
        // Indications: SS, SS, -D.
        "10 10 10 10 00 01",
        // References: none, 2, 1.
        "0 1 0001 0 1 0000 0",
        // One chain (a number below 3), which protects both; distances 0, 2, 1.
        "10 0000 0010 0001",
        // 640 x 360.
        "1 0000001001111111 0000000101100111",
    ))
}

fn structure() -> Structure {
    Details::parse(&keyframe(), None)
        .unwrap()
        .structure
        .unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digits).collect()
}

/// Keyframe of Chromium 156 in VP9's `L3T3_KEY` at its start rate, which carries only the
/// lowest spatial layer.
const L3T3_KEY: &str = "c00001c0081485214eaaaaa8000600004000100002aa80a8000600004000100002a000a8\
    00060000400016d549241b5524906d54923157e001974ca864330e222396eca8655304224390eca87753013f00b3\
    027f016704ff02cf0380";

#[test]
fn descriptors_of_chromium_are_read() {
    let first = Details::parse(&hex(L3T3_KEY), None).unwrap();
    assert_eq!(first.active, Some(0b111));
    let structure = first.structure.unwrap();
    assert_eq!(structure.targets(), 9);
    let layers: Vec<_> = (0..9).map(|target| structure.layers_of(target)).collect();
    let all = (0..3).flat_map(|spatial| (0..3).map(move |temporal| (spatial, temporal)));
    assert!(all.eq(layers));
    assert!(structure.is_within(6, 8) && !structure.is_within(2, 8));
    for (descriptor, layers, target, indication, references) in [
        ("c300021a00080000", (0, 2), 2, Discardable, &[1][..]),
        ("c50004", (1, 0), 8, Switch, &[1]),
        ("c30006", (0, 2), 8, NotPresent, &[3]),
        ("c80007", (1, 2), 5, Discardable, &[3]),
    ] {
        let frame = Details::parse(&hex(descriptor), Some(&structure))
            .unwrap()
            .frame;
        assert_eq!((frame.spatial, frame.temporal), layers, "{descriptor}");
        assert_eq!(frame.indications.of(target), indication, "{descriptor}");
        assert_eq!(frame.references.differences(), references, "{descriptor}");
    }
    // Two packets of one frame.
    let [first, last] = ["8a0005", "4a0005"].map(|text| Mandatory::parse(&hex(text)).unwrap());
    assert_eq!((first.start_of_frame, first.end_of_frame), (true, false));
    assert_eq!((last.start_of_frame, last.end_of_frame), (false, true));
    // AV1 in L1T3.
    let first = Details::parse(&hex("c00001800214eaa860414d1410208427013f00b3"), None).unwrap();
    let structure = first.structure.unwrap();
    let layers = [0, 1, 2].map(|target| structure.layers_of(target));
    assert_eq!(layers, [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(first.active, Some(0b111));
}

#[test]
fn a_structure_says_layers_and_references_of_all_templates() {
    let mandatory = Mandatory::parse(&keyframe()).unwrap();
    assert!(mandatory.start_of_frame && !mandatory.end_of_frame);
    assert_eq!(mandatory.number, 0x1234);
    let details = Details::parse(&keyframe(), None).unwrap();
    assert_eq!(details.active, Some(0b11));
    assert_eq!(details.frame.references.differences(), [0_u16; 0]);
    let structure = details.structure.unwrap();
    assert_eq!((structure.targets(), structure.all_targets()), (2, 0b11));
    assert_eq!(
        [0, 1].map(|target| structure.layers_of(target)),
        [(0, 0), (0, 1)]
    );
    assert!(structure.is_within(0, 1) && !structure.is_within(1, 0));
}

#[test]
fn a_frame_has_the_values_of_its_template() {
    let structure = structure();
    // Template ids continue with 0 after 63.
    let upper = Details::parse(&[0xc0, 0, 9], Some(&structure)).unwrap();
    assert_eq!((upper.frame.spatial, upper.frame.temporal), (0, 1));
    let indications = [0, 1].map(|target| upper.frame.indications.of(target));
    assert_eq!(indications, [NotPresent, Discardable]);
    assert_eq!(upper.frame.references.differences(), [1]);
    assert_eq!((upper.structure, upper.active), (None, None));
    let base = Details::parse(&[0xff, 0, 9], Some(&structure)).unwrap();
    assert_eq!(base.frame.indications.of(1), Switch);
    assert_eq!(base.frame.references.differences(), [2]);
    assert!(Details::parse(&[0xc1, 0, 9], Some(&structure)).is_err());
    assert!(Details::parse(&[0xc0, 0, 9], None).is_err());
}

#[test]
fn a_frame_can_differ_from_its_template() {
    let own = octets(concat!(
        "1 1 111111 0000000000001001 0 1 1 1 1",
        // Only the first target is sent; RD; references 17 and 4,096; the chain's distance 3.
        "01 11 01 10 00010000 11 111111111111 00 00000011",
    ));
    let details = Details::parse(&own, Some(&structure())).unwrap();
    assert_eq!(details.active, Some(0b01));
    let indications = [0, 1].map(|target| details.frame.indications.of(target));
    assert_eq!(indications, [Required, Discardable]);
    assert_eq!(details.frame.references.differences(), [17, 4096]);
    for length in 3..own.len() {
        let cut = Details::parse(&own[..length], Some(&structure()));
        // Three octets alone are a complete descriptor.
        assert_eq!(cut.is_ok(), length == 3, "{length} octets");
    }
}

#[test]
fn other_decode_targets_replace_or_join_the_old_ones() {
    let structure = structure();
    let short = rewritten(&[0xff, 0, 9], 0x0102, Some((0b01, 2)));
    // The flag of the list is followed by the other flags and two bits.
    assert_eq!(short[..], [0xff, 1, 2, 0b0100_0010]);
    let details = Details::parse(&short, Some(&structure)).unwrap();
    assert_eq!(details.active, Some(0b01));
    let replaced = rewritten(&short, 3, Some((0b11, 2)));
    assert_eq!(replaced[..], [0xff, 0, 3, 0b0100_0110]);
    let begins = rewritten(&keyframe(), 7, Some((0b01, 2)));
    let details = Details::parse(&begins, None).unwrap();
    assert_eq!(details.active, Some(0b01));
    assert_eq!(details.structure.as_ref(), Some(&structure));
    assert_eq!(Mandatory::parse(&begins).unwrap().number, 7);
    assert_eq!(rewritten(&[0xff, 0, 9], 5, None)[..], [0xff, 0, 5]);
    assert_eq!(rewritten(&[1], 5, Some((1, 1)))[..], [1], "unreadable");
}

#[test]
fn numbers_below_a_bound_have_the_fewest_bits() {
    // f(0); two bits of 3: 0, 10, 11.
    assert_eq!(Bits::new(&[]).below(1), Ok(0));
    for (bits, value) in [("0", 0), ("10", 1), ("11", 2)] {
        assert_eq!(Bits::new(&octets(bits)).below(3), Ok(value));
    }
}

#[test]
fn a_structure_cannot_have_more_templates_than_ids_or_references_than_codecs() {
    // The same layer forever.
    let endless = [
        &octets("1 1 000000 0000000000000000 10000 000000 00000")[..],
        &[0; 99],
    ]
    .concat();
    let error = Details::parse(&endless, None).unwrap_err();
    assert_eq!(
        error,
        ParseError::TooLarge {
            what: "list of templates"
        }
    );
    let greedy = [
        &octets("1 1 000000 0000000000000000 10000 000000 00000 11 10 1111")[..],
        &[0xff; 99],
    ]
    .concat();
    let error = Details::parse(&greedy, None).unwrap_err();
    assert_eq!(
        error,
        ParseError::TooLarge {
            what: "list of frame differences"
        }
    );
}
