mod openssl;

use super::request::widen_transcript;
use super::*;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaEncoding};
use dimpl::CryptoError;
use dimpl::CryptoOperation::VerifySignature;
use dimpl::crypto::{SignatureAlgorithm, SignatureVerifier};
use proptest::prelude::*;

/// Unfragmented handshake message, the third of its side.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let [_, len @ ..] = (body.len() as u32).to_be_bytes();
    [&[kind], &len[..], &[0, 3, 0, 0, 0], &len, body].concat()
}

fn record(epoch: u8, body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u16).to_be_bytes();
    let header = [22, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 7];
    [&header[..], &len, body].concat()
}

/// Body of a request for ECDSA (64) with SHA-256 and SHA-384, without authorities.
const NARROW: &[u8] = &[1, 64, 0, 4, 4, 3, 5, 3, 0, 0];
/// Lists of a widened request, with RSA (1).
const WIDE: &[u8] = &[2, 64, 1, 0, 8, 4, 3, 5, 3, 4, 1, 5, 1, 0, 0];

#[test]
fn the_request_of_a_flight_lists_rsa_too() {
    let (hello, done) = (
        record(0, &message(2, b"hello")),
        record(0, &message(14, b"")),
    );
    let flight = |request: &[u8]| [&hello[..], &record(0, &message(13, request)), &done].concat();
    assert_eq!(*widen_request(&flight(NARROW)), flight(WIDE));
    // Two messages in one record.
    let packed = |request: &[u8]| record(0, &[message(2, b"hello"), message(13, request)].concat());
    assert_eq!(*widen_request(&packed(NARROW)), packed(WIDE));
}

#[test]
fn all_else_leaves_unchanged() {
    let mut fragment = message(13, NARROW);
    fragment[11] -= 1;
    fragment.pop();
    for datagram in [
        record(0, &message(11, b"certificate")),
        record(1, &message(13, NARROW)),
        record(0, &fragment),
        record(0, &message(13, &NARROW[..5])),
        record(0, &message(13, NARROW))[..30].to_vec(),
        vec![],
    ] {
        assert!(matches!(
            widen_request(&datagram),
            std::borrow::Cow::Borrowed(_)
        ));
        assert_eq!(*widen_request(&datagram), datagram);
    }
}

#[test]
fn the_transcript_is_the_one_that_the_client_saw() {
    let transcript = |request: &[u8]| {
        let [mut hello, request] = [message(1, b"hello"), message(13, request)];
        hello[5] = 0;
        [hello, request, message(16, b"exchange")].concat()
    };
    assert_eq!(*widen_transcript(&transcript(NARROW)), transcript(WIDE));
    let ours = hash(provider().hash_provider, &transcript(NARROW));
    assert_eq!(
        ours,
        hash(library::provider().hash_provider, &transcript(WIDE))
    );
    // The transcript of DTLS 1.3 has a ClientHello without sequence number and fragment.
    let hello = [&[1, 0, 0, 40, 0xfe, 0xfd][..], &[0; 38]].concat();
    let newer = [hello, message(13, NARROW)].concat();
    assert_eq!(*widen_transcript(&newer), newer);
}

fn hash(provider: &dyn HashProvider, data: &[u8]) -> Vec<u8> {
    let mut hash = provider.create_hash(HashAlgorithm::SHA256);
    hash.update(data);
    let mut out = Buf::new();
    hash.clone_and_finalize(&mut out);
    out.to_vec()
}

/// Returns a certificate with an RSA key of 2,048 bits, and a signature by it.
fn signed(data: &[u8], how: &'static dyn RsaEncoding) -> (Vec<u8>, Vec<u8>) {
    let key = KeyPair::generate(KeySize::Rsa2048).expect("key");
    let mut signature = vec![0; key.public_modulus_len()];
    let random = aws_lc_rs::rand::SystemRandom::new();
    key.sign(how, &random, data, &mut signature).expect("signs");
    let pkcs8 = aws_lc_rs::encoding::AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&key);
    let pkcs8 = pkcs8.expect("encodes");
    let key = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(
        &pkcs8.as_ref().into(),
        &rcgen::PKCS_RSA_SHA256,
    );
    let certificate = rcgen::CertificateParams::default().self_signed(&key.expect("key"));
    (certificate.expect("certificate").der().to_vec(), signature)
}

fn verify(
    certificate: &[u8],
    data: &[u8],
    signature: &[u8],
    hash: HashAlgorithm,
) -> Result<(), CryptoError> {
    Verifier.verify_signature(certificate, data, signature, hash, SignatureAlgorithm::RSA)
}

#[test]
fn rsa_signatures_are_verified() {
    let (sha256, sha384) = (HashAlgorithm::SHA256, HashAlgorithm::SHA384);
    let wrong = Err(CryptoError::OperationFailed(VerifySignature));
    for (how, hash, other) in [
        (&RSA_PKCS1_SHA256 as &dyn RsaEncoding, sha256, sha384),
        (&RSA_PKCS1_SHA384, sha384, sha256),
    ] {
        let (certificate, signature) = signed(b"transcript", how);
        assert_eq!(
            verify(&certificate, b"transcript", &signature, hash),
            Ok(())
        );
        assert_eq!(verify(&certificate, b"another", &signature, hash), wrong);
        assert_eq!(
            verify(&certificate, b"transcript", &signature, other),
            wrong
        );
        assert_eq!(
            verify(&certificate, b"transcript", &signature[1..], hash),
            wrong
        );
        let (another, _) = signed(b"", how);
        assert_eq!(verify(&another, b"transcript", &signature, hash), wrong);
    }
}

#[test]
fn signatures_that_cannot_be_verified_are_refused_with_the_reason() {
    let (sha256, sha512) = (HashAlgorithm::SHA256, HashAlgorithm::SHA512);
    let (certificate, signature) = signed(b"transcript", &RSA_PKCS1_SHA512);
    assert_eq!(
        verify(&certificate, b"transcript", &signature, sha512),
        Err(CryptoError::UnsupportedSignatureAlgorithm(
            SignatureAlgorithm::RSA
        ))
    );
    assert_eq!(
        verify(&certificate[..300], b"transcript", &signature, sha256),
        Err(CryptoError::CertificateParseFailed)
    );
    assert_eq!(
        verify(
            include_bytes!("tests/short.der"),
            b"transcript",
            &signature[..128],
            sha256
        ),
        Err(CryptoError::InvalidSubjectPublicKey)
    );
    let elliptic = dimpl::certificate::generate_self_signed_certificate().expect("certificate");
    assert_eq!(
        verify(&elliptic.certificate, b"transcript", &signature, sha256),
        Err(CryptoError::UnsupportedPublicKeyAlgorithm)
    );
}

#[test]
fn damaged_certificates_and_transcripts_do_no_harm() {
    let (certificate, signature) = signed(b"transcript", &RSA_PKCS1_SHA256);
    let place = (0..certificate.len(), any::<u8>(), 0..=certificate.len());
    proptest!(|((at, byte, len) in place, data: Vec<u8>)| {
        let mut damaged = certificate.clone();
        damaged[at] = byte;
        damaged.truncate(len);
        let verified = verify(&damaged, b"transcript", &signature, HashAlgorithm::SHA256);
        // Only the certificate's key matters, not its own signature or names.
        prop_assert!(verified.is_err() || damaged.len() == certificate.len());
        prop_assert!(verify(&damaged, b"another", &signature, HashAlgorithm::SHA256).is_err());
        prop_assert_eq!(&*widen_request(&data), &data[..]);
        prop_assert_eq!(&*widen_transcript(&data), &data[..]);
    });
}
