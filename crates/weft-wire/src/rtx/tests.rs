#[test]
fn the_original_sequence_number_precedes_the_payload() {
    let mut out = Vec::new();
    super::write(0x1234, &[0xaa, 0xbb], &mut out);
    assert_eq!(out, [0x12, 0x34, 0xaa, 0xbb]);
    assert_eq!(super::parse(&out), Ok((0x1234, &[0xaa, 0xbb][..])));
    assert!(super::parse(&[0x12]).is_err());
}
