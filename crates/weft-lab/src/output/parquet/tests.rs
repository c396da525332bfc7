use super::{Column, Values, file, levels};

#[test]
fn levels_are_runs_behind_their_length() {
    // Three present, two missing, one present: (3 << 1, 1), (2 << 1, 0), (1 << 1, 1).
    let bytes = levels([true, true, true, false, false, true].into_iter());
    assert_eq!(bytes, [6, 0, 0, 0, 6, 1, 4, 0, 2, 1]);
}

#[test]
fn a_file_is_pages_metadata_and_its_length() {
    let columns = [
        Column {
            name: "x".into(),
            values: Values::Numbers(vec![Some(1.5), None]),
        },
        Column {
            name: "s".into(),
            values: Values::Texts(vec!["a", "bc"]),
        },
    ];
    let bytes = file(&columns);
    assert_eq!(
        (&bytes[..4], &bytes[bytes.len() - 4..]),
        (&b"PAR1"[..], &b"PAR1"[..])
    );
    // Page header of x: data page, 4 + 4 + 8 bytes in both sizes, 2 values.
    let header = [
        0x15, 0, 0x15, 32, 0x15, 32, 0x2c, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0,
    ];
    assert_eq!(&bytes[4..21], header);
    assert_eq!(&bytes[21..29], [4, 0, 0, 0, 2, 1, 2, 0]);
    assert_eq!(bytes[29..37], 1.5_f64.to_le_bytes());
    let length = &bytes[bytes.len() - 8..bytes.len() - 4];
    let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
    let metadata = &bytes[bytes.len() - 8 - length..bytes.len() - 8];
    // Version 2, then a list of three schema elements.
    assert_eq!(&metadata[..4], [0x15, 4, 0x19, 0x3c]);
    assert_eq!(metadata.last(), Some(&0));
}
