use super::library;
use super::request::widen_transcript;
use aws_lc_rs::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, UnparsedPublicKey,
};
use dimpl::crypto::{HashAlgorithm, SignatureAlgorithm, SignatureVerifier};
use dimpl::{CryptoError, CryptoOperation};
use std::ops::RangeInclusive;
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Reader, SliceReader};

/// rsaEncryption (RFC 8017 appendix A.1).
const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// Length of the modulus in bytes: at least 2,048 bits (RFC 9325 section 4.5), and at
/// most the 8,192 that the cryptographic library verifies.
const MODULUS: RangeInclusive<usize> = 256..=1024;

/// Verifier of a client's signature over the widened transcript: checks RSA itself, and
/// leaves everything else to the library.
#[derive(Debug)]
pub(super) struct Verifier;

impl SignatureVerifier for Verifier {
    fn verify_signature(
        &self,
        certificate: &[u8],
        data: &[u8],
        signature: &[u8],
        hash: HashAlgorithm,
        algorithm: SignatureAlgorithm,
    ) -> Result<(), CryptoError> {
        let data = &widen_transcript(data);
        if algorithm == SignatureAlgorithm::RSA {
            verify_rsa(certificate, data, signature, hash)
        } else {
            let library = library::provider().signature_verification;
            library.verify_signature(certificate, data, signature, hash, algorithm)
        }
    }
}

/// Checks a PKCS #1 v1.5 signature with the key of an X.509 certificate.
///
/// # Errors
/// `CertificateParseFailed`: not a certificate; `UnsupportedPublicKeyAlgorithm`: not an RSA key;
/// `InvalidSubjectPublicKey`: a malformed key, or one of a refused size;
/// `UnsupportedSignatureAlgorithm`: another hash; `OperationFailed`: the signature is wrong.
fn verify_rsa(
    certificate: &[u8],
    data: &[u8],
    signature: &[u8],
    hash: HashAlgorithm,
) -> Result<(), CryptoError> {
    let certificate =
        Certificate::from_der(certificate).map_err(|_| CryptoError::CertificateParseFailed)?;
    let info = certificate.tbs_certificate().subject_public_key_info();
    if info.algorithm.oid != RSA_ENCRYPTION {
        return Err(CryptoError::UnsupportedPublicKeyAlgorithm);
    }
    let key = info.subject_public_key.as_bytes();
    let key = key.filter(|key| modulus_len(key).is_some_and(|len| MODULUS.contains(&len)));
    let key = key.ok_or(CryptoError::InvalidSubjectPublicKey)?;
    let scheme = match hash {
        HashAlgorithm::SHA256 => &RSA_PKCS1_2048_8192_SHA256,
        HashAlgorithm::SHA384 => &RSA_PKCS1_2048_8192_SHA384,
        _ => {
            return Err(CryptoError::UnsupportedSignatureAlgorithm(
                SignatureAlgorithm::RSA,
            ));
        }
    };
    UnparsedPublicKey::new(scheme, key)
        .verify(data, signature)
        .map_err(|_| CryptoError::OperationFailed(CryptoOperation::VerifySignature))
}

/// Length in bytes of the modulus of an `RSAPublicKey` (RFC 8017 appendix A.1.1).
fn modulus_len(key: &[u8]) -> Option<usize> {
    let mut reader = SliceReader::new(key).ok()?;
    let modulus = reader.sequence(|fields| {
        let modulus = UintRef::decode(fields)?;
        UintRef::decode(fields)?;
        Ok::<_, x509_cert::der::Error>(modulus)
    });
    modulus.ok().map(|modulus| modulus.as_bytes().len())
}
