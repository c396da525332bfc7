use super::*;

#[test]
fn a_fingerprint_reads_as_it_is_written() {
    let fingerprint = Certificate::generate().expect("certificate").fingerprint();
    assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
    let in_sdp = weft_wire::sdp::Fingerprint::from(fingerprint);
    assert_eq!(Fingerprint::try_from(&in_sdp), Ok(fingerprint));
}

#[test]
fn the_fingerprint_is_the_hash_of_the_certificate() {
    // SHA-256 of "abc", FIPS 180-2 appendix B.1.
    let expected = "sha-256 BA:78:16:BF:8F:01:CF:EA:41:41:40:DE:5D:AE:22:23:\
                    B0:03:61:A3:96:17:7A:9C:B4:10:FF:61:F2:00:15:AD";
    assert_eq!(Fingerprint::of(b"abc").to_string(), expected);
}

#[test]
fn other_hashes_and_lengths_are_refused() {
    let other = FingerprintError::Algorithm("sha-1".to_owned());
    assert_eq!(Fingerprint::new("sha-1", &[0; 20]), Err(other));
    for bad in ["", "sha-256", "sha-256 00", "sha-256 0:0", "sha-256 +1:02"] {
        assert_eq!(bad.parse::<Fingerprint>(), Err(FingerprintError::Format));
    }
    assert!(Fingerprint::new("SHA-256", &[0; 32]).is_ok());
}

#[test]
fn two_certificates_differ() {
    let [a, b] = [(), ()].map(|()| Certificate::generate().expect("certificate"));
    assert_ne!(a.fingerprint(), b.fingerprint());
}
