/// Packs a string of `0` and `1`, the notation of the standards, into octets. Spaces are
/// ignored; zeros fill the last octet.
#[must_use]
pub fn octets(bits: &str) -> Vec<u8> {
    let bits: Vec<u8> = bits
        .bytes()
        .filter(|b| *b != b' ')
        .map(|b| b - b'0')
        .collect();
    let octet = |bits: &[u8]| (0..8).fold(0, |all, i| all << 1 | bits.get(i).unwrap_or(&0));
    bits.chunks(8).map(octet).collect()
}
