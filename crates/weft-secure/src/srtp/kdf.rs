use str0m_proto::crypto::SrtpProvider;

/// Use of a derived key (RFC 3711 section 4.3.1 and 4.3.2).
#[derive(Clone, Copy)]
pub(super) enum Label {
    RtpEncryption = 0,
    RtpAuthentication = 1,
    RtpSalt = 2,
    RtcpEncryption = 3,
    RtcpAuthentication = 4,
    RtcpSalt = 5,
}

/// Derives a session key from a master key of 16 or 32 bytes and a master
/// salt of at most 14, key derivation rate zero (RFC 3711 section 4.3.1). The
/// 12-byte salts of AEAD are padded with zeros (RFC 7714 section 11).
pub(super) fn derive<const N: usize>(
    provider: &dyn SrtpProvider,
    master_key: &[u8],
    master_salt: &[u8],
    label: Label,
) -> [u8; N] {
    let mut x = [0; 16];
    x[..master_salt.len()].copy_from_slice(master_salt);
    x[7] ^= label as u8;
    let mut out = [0; N];
    for (counter, chunk) in (0_u16..).zip(out.chunks_mut(16)) {
        x[14..].copy_from_slice(&counter.to_be_bytes());
        // The provider pads, so it writes two blocks.
        let mut block = [0; 32];
        match master_key.len() {
            16 => provider.srtp_aes_128_ecb_round(master_key, &x, &mut block),
            32 => provider.srtp_aes_256_ecb_round(master_key, &x, &mut block),
            n => unreachable!("no profile has master keys of {n} bytes"),
        }
        chunk.copy_from_slice(&block[..chunk.len()]);
    }
    out
}
