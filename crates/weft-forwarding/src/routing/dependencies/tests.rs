use super::*;
use weft_testing::octets;

/// First packet of a keyframe with this many layers, of which the upper ones contain the
/// lower ones, without chains and sizes.
fn keyframe(spatial: u8, temporal: u8, number: u16) -> Vec<u8> {
    let layers = || (0..spatial).flat_map(move |s| (0..temporal).map(move |t| (s, t)));
    let targets = usize::from(spatial * temporal);
    let mut bits = format!("11000000{number:016b}10000000000{:05b}", targets - 1);
    for (s, t) in layers() {
        bits += match (s + 1 < spatial, t + 1 < temporal) {
            (_, true) => "01",
            (true, false) => "10",
            (false, false) => "11",
        };
    }
    for (s, t) in layers() {
        for (own_s, own_t) in layers() {
            bits += if s <= own_s && t <= own_t { "10" } else { "00" };
        }
    }
    bits += &"0".repeat(targets);
    // Zero chains: a number up to the number of targets.
    bits += &"0".repeat((targets + 1).ilog2() as usize);
    bits += "0";
    octets(&bits)
}

fn read(all: &mut Dependencies, timestamp: u32, dependency: &[u8]) -> Dependency {
    let packet = MediaPacket {
        sequence: 1,
        timestamp,
        marker: false,
        audio_level: None,
        dependency: dependency.into(),
        payload: [1].into(),
    };
    assert!(all.read(Codec::Vp8, &packet).is_none());
    all.read(Codec::Av1, &packet).unwrap()
}

fn ladder(spatial: u8, temporal: u8) -> Arc<Ladder> {
    let first = read(
        &mut Dependencies::default(),
        0,
        &keyframe(spatial, temporal, 1),
    );
    first.frame.unwrap().ladder
}

#[test]
fn pictures_a_second_come_first_and_resolution_after() {
    let layers = |spatial, temporal| {
        let ladder = ladder(spatial, temporal);
        let layers = |target: &u8| ladder.structure.layers_of(*target);
        ladder.rungs.iter().map(layers).collect::<Vec<_>>()
    };
    assert_eq!(layers(1, 3), [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(layers(3, 1), [(0, 0), (1, 0), (2, 0)]);
    assert_eq!(layers(2, 3), [(0, 0), (0, 1), (0, 2), (1, 2)]);
    // Only as many as a subscriber chooses among.
    assert_eq!(layers(3, 3), [(0, 0), (0, 2), (1, 2), (2, 2)]);
}

#[test]
fn only_a_structure_with_several_sizes_has_spatial_layers() {
    let has = |spatial, temporal| {
        let mut all = Dependencies::default();
        let _ = read(&mut all, 0, &keyframe(spatial, temporal, 1));
        all.has_spatial_layers()
    };
    assert!(!Dependencies::default().has_spatial_layers() && !has(1, 3));
    assert!(has(2, 1) && has(3, 3));
}

#[test]
fn rates_leave_out_rare_keyframes_of_several_sizes_only() {
    let uncounted = |spatial, numbers: &[u16]| {
        let mut all = Dependencies::default();
        let mut read = |number: &u16| {
            let keyframe = keyframe(spatial, 1, *number);
            let read = read(&mut all, u32::from(*number), &keyframe);
            read.frame.unwrap().uncounted
        };
        numbers.iter().map(&mut read).collect::<Vec<_>>()
    };
    // The repeated keyframe is the earlier one.
    let far = uncounted(3, &[1, 101, 101, 200, 300]);
    assert_eq!(far, [true, true, true, false, true]);
    assert_eq!(uncounted(1, &[1, 200]), [false; 2]);
}

#[test]
fn a_target_that_is_not_sent_gives_way_to_the_next_lower_one() {
    let ladder = ladder(3, 1);
    assert_eq!(ladder.target(3, 0b111), 2);
    assert_eq!(ladder.target(3, 0b011), 1);
    assert_eq!(ladder.target(1, 0b101), 0);
    assert_eq!(ladder.target(0, 0b110), 1, "the lowest that there is");
    assert_eq!(ladder.target(2, 0), 0);
    assert_eq!((ladder.within(0), ladder.within(2)), (0b001, 0b111));
}

#[test]
fn a_keyframe_and_its_number_are_known_from_descriptors() {
    let mut all = Dependencies::default();
    let first = read(&mut all, 5, &keyframe(1, 2, 0xffff)).frame.unwrap();
    assert!(first.begins && first.keyframe);
    // Template 0 is the base layer.
    let same = read(&mut all, 5, &[0x40, 0xff, 0xff]).frame.unwrap();
    assert!(!same.begins && same.keyframe, "of the keyframe's picture");
    let next = read(&mut all, 6, &[0xc1, 0, 0]);
    assert_eq!(next.number & 0xffff, 0);
    assert!(next.number > 0xffff);
    let next = next.frame.unwrap();
    assert!(!next.keyframe && !next.frame.indications.has(0) && next.frame.indications.has(1));
    assert!(
        read(&mut all, 7, &[0xc2, 0, 1]).frame.is_none(),
        "another structure's"
    );
    // A retransmitted keyframe does not replace the newer structure.
    let _ = read(&mut all, 8, &keyframe(3, 1, 9));
    let _ = read(&mut all, 5, &keyframe(1, 2, 0xffff));
    let newest = read(&mut all, 8, &[0xc2, 0, 11]).frame.unwrap();
    assert_eq!(newest.frame.spatial, 2);
}
