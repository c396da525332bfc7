use super::kdf::{Label, derive};
use super::rtcp::{RTCP_HEADER, RTCP_INDEX};
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use str0m_proto::crypto::SrtpProvider;

/// Length of the authentication tag in bytes (RFC 7714 section 13.1).
const TAG: usize = 16;

/// AEAD ciphers of one direction (RFC 7714).
pub(super) struct Gcm {
    rtp: Cipher,
    rtp_salt: [u8; 12],
    rtcp: Cipher,
    rtcp_salt: [u8; 12],
}

/// AES-GCM key; the caller uses each SRTP nonce once.
struct Cipher(LessSafeKey);

impl Gcm {
    /// Derives the session keys of a master key of 16 or 32 bytes and a master
    /// salt of 12.
    pub fn new(provider: &dyn SrtpProvider, key: &[u8], salt: &[u8]) -> Gcm {
        let cipher = |label| match key.len() {
            16 => Cipher::new(&derive::<16>(provider, key, salt, label)),
            _ => Cipher::new(&derive::<32>(provider, key, salt, label)),
        };
        Gcm {
            rtp: cipher(Label::RtpEncryption),
            rtp_salt: derive(provider, key, salt, Label::RtpSalt),
            rtcp: cipher(Label::RtcpEncryption),
            rtcp_salt: derive(provider, key, salt, Label::RtcpSalt),
        }
    }

    /// Creates ciphers from session keys, the same for RTP and RTCP, as in the RFC's test
    /// vectors.
    #[cfg(test)]
    pub fn from_session_keys(key: &[u8], salt: &[u8; 12]) -> Gcm {
        Gcm {
            rtp: Cipher::new(key),
            rtp_salt: *salt,
            rtcp: Cipher::new(key),
            rtcp_salt: *salt,
        }
    }

    /// Encrypts a packet in place and appends the tag.
    pub fn protect_rtp(&self, packet: &mut Vec<u8>, header: usize, (ssrc, index): (u32, u64)) {
        let iv = iv(&self.rtp_salt, ssrc, index);
        let (aad, body) = packet.split_at_mut(header);
        let tag = self.rtp.seal(iv, aad, body);
        packet.extend_from_slice(&tag);
    }

    /// Writes header and decrypted payload to `out`; `false` if the tag is wrong.
    pub fn unprotect_rtp(
        &self,
        packet: &[u8],
        header: usize,
        (ssrc, index): (u32, u64),
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(plain) = packet.len().checked_sub(TAG).filter(|&n| n >= header) else {
            return false;
        };
        let iv = iv(&self.rtp_salt, ssrc, index);
        let (aad, body) = packet.split_at(header);
        out.resize(plain, 0);
        out[..header].copy_from_slice(aad);
        self.rtp.open(iv, aad, body, &mut out[header..])
    }

    /// Encrypts a compound packet and appends tag and index.
    pub fn protect_rtcp(&self, packet: &mut Vec<u8>, (ssrc, index): (u32, u32)) {
        let iv = iv(
            &self.rtcp_salt,
            ssrc,
            u64::from(index & !RTCP_INDEX.encrypted),
        );
        let index = (index | RTCP_INDEX.encrypted).to_be_bytes();
        let aad = rtcp_aad(packet, index);
        let tag = self.rtcp.seal(iv, &aad, &mut packet[RTCP_HEADER..]);
        packet.extend_from_slice(&tag);
        packet.extend_from_slice(&index);
    }

    /// Like [`Gcm::unprotect_rtp`]; `index` as in the packet.
    pub fn unprotect_rtcp(
        &self,
        packet: &[u8],
        (ssrc, index): (u32, u32),
        out: &mut Vec<u8>,
    ) -> bool {
        let overhead = RTCP_HEADER + TAG + RTCP_INDEX.len;
        if packet.len() < overhead {
            return false;
        }
        let iv = iv(
            &self.rtcp_salt,
            ssrc,
            u64::from(index & !RTCP_INDEX.encrypted),
        );
        let aad = rtcp_aad(packet, index.to_be_bytes());
        let body = &packet[RTCP_HEADER..packet.len() - RTCP_INDEX.len];
        out.resize(packet.len() - TAG - RTCP_INDEX.len, 0);
        out[..RTCP_HEADER].copy_from_slice(&packet[..RTCP_HEADER]);
        self.rtcp.open(iv, &aad, body, &mut out[RTCP_HEADER..])
    }

    /// Offset of the index of an SRTCP packet: after the tag (RFC 7714 section 9.2).
    pub fn rtcp_index_at(len: usize) -> Option<usize> {
        len.checked_sub(RTCP_INDEX.len)
    }
}

impl Cipher {
    /// Creates the cipher; `key` has 16 or 32 bytes.
    fn new(key: &[u8]) -> Cipher {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            _ => &AES_256_GCM,
        };
        let key = UnboundKey::new(algorithm, key);
        Cipher(LessSafeKey::new(key.expect("16 or 32 bytes")))
    }

    /// Encrypts `body` in place; returns the tag.
    fn seal(&self, iv: [u8; 12], aad: &[u8], body: &mut [u8]) -> [u8; TAG] {
        let mut tag = [0; TAG];
        let nonce = Nonce::assume_unique_for_key(iv);
        let aad = Aad::from(aad);
        let sealed = self
            .0
            .seal_in_place_scatter(nonce, aad, body, &[], &mut tag);
        // AES-GCM only fails on inputs of 64 GiB (NIST SP 800-38D section 5.2.1.1).
        sealed.expect("a packet fits into one AEAD call");
        tag
    }

    /// Decrypts `sealed`, which ends with the tag; false if the tag is wrong.
    fn open(&self, iv: [u8; 12], aad: &[u8], sealed: &[u8], out: &mut [u8]) -> bool {
        let nonce = Nonce::assume_unique_for_key(iv);
        let Some((sealed, tag)) = sealed.split_last_chunk::<TAG>() else {
            return false;
        };
        let opened = self
            .0
            .open_separate_gather(nonce, Aad::from(aad), sealed, tag, out);
        opened.is_ok()
    }
}

/// RFC 7714 sections 8.1 and 9.1: the RTP index has 48 bits, the RTCP index 31.
fn iv(salt: &[u8; 12], ssrc: u32, index: u64) -> [u8; 12] {
    let mut iv = [0; 12];
    iv[2..6].copy_from_slice(&ssrc.to_be_bytes());
    iv[6..].copy_from_slice(&index.to_be_bytes()[2..]);
    for (byte, salt) in iv.iter_mut().zip(salt) {
        *byte ^= salt;
    }
    iv
}

/// RFC 7714 section 9.2: the fixed header, then the index with its flag.
fn rtcp_aad(packet: &[u8], index: [u8; 4]) -> [u8; 12] {
    let mut aad = [0; 12];
    aad[..RTCP_HEADER].copy_from_slice(&packet[..RTCP_HEADER]);
    aad[RTCP_HEADER..].copy_from_slice(&index);
    aad
}
