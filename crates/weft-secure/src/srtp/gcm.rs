use super::kdf::{Label, derive};
use super::rtcp::{RTCP_HEADER, RTCP_INDEX};
use str0m_proto::crypto::{AeadAes128GcmCipher, AeadAes256GcmCipher, CryptoError, SrtpProvider};

/// Authentication tag (RFC 7714 section 13.1).
const TAG: usize = 16;

/// The AEAD ciphers of one direction (RFC 7714).
pub(super) struct Gcm {
    rtp: Cipher,
    rtp_salt: [u8; 12],
    rtcp: Cipher,
    rtcp_salt: [u8; 12],
}

enum Cipher {
    Aes128(Box<dyn AeadAes128GcmCipher>),
    Aes256(Box<dyn AeadAes256GcmCipher>),
}

impl Gcm {
    /// From a master key of 16 or 32 bytes and a master salt of 12.
    pub fn new(provider: &dyn SrtpProvider, key: &[u8], salt: &[u8], encrypt: bool) -> Gcm {
        let cipher = |label| {
            if key.len() == 16 {
                Cipher::aes_128(provider, derive(provider, key, salt, label), encrypt)
            } else {
                Cipher::aes_256(provider, derive(provider, key, salt, label), encrypt)
            }
        };
        Gcm {
            rtp: cipher(Label::RtpEncryption),
            rtp_salt: derive(provider, key, salt, Label::RtpSalt),
            rtcp: cipher(Label::RtcpEncryption),
            rtcp_salt: derive(provider, key, salt, Label::RtcpSalt),
        }
    }

    /// The RFC's test vectors give session keys, the same for RTP and RTCP.
    #[cfg(test)]
    pub fn from_session_keys(provider: &dyn SrtpProvider, key: &[u8], salt: &[u8; 12]) -> Gcm {
        let cipher = || match key.len() {
            16 => Cipher::aes_128(provider, key.try_into().expect("16 bytes"), true),
            _ => Cipher::aes_256(provider, key.try_into().expect("32 bytes"), true),
        };
        Gcm {
            rtp: cipher(),
            rtp_salt: *salt,
            rtcp: cipher(),
            rtcp_salt: *salt,
        }
    }

    pub fn protect_rtp(
        &mut self,
        packet: &mut Vec<u8>,
        header: usize,
        (ssrc, index): (u32, u64),
        scratch: &mut Vec<u8>,
    ) {
        let iv = iv(&self.rtp_salt, ssrc, index);
        replace(scratch, &packet[header..]);
        packet.resize(packet.len() + TAG, 0);
        let (aad, body) = packet.split_at_mut(header);
        self.rtp.seal(&iv, aad, scratch, body);
    }

    /// Writes header and plain payload to `out`; `false` if the tag is wrong.
    pub fn unprotect_rtp(
        &mut self,
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
        self.rtp.open(&iv, aad, body, &mut out[header..])
    }

    pub fn protect_rtcp(
        &mut self,
        packet: &mut Vec<u8>,
        (ssrc, index): (u32, u32),
        scratch: &mut Vec<u8>,
    ) {
        let iv = iv(
            &self.rtcp_salt,
            ssrc,
            u64::from(index & !RTCP_INDEX.encrypted),
        );
        let index = (index | RTCP_INDEX.encrypted).to_be_bytes();
        let aad = rtcp_aad(packet, index);
        replace(scratch, &packet[RTCP_HEADER..]);
        packet.resize(packet.len() + TAG, 0);
        self.rtcp
            .seal(&iv, &aad, scratch, &mut packet[RTCP_HEADER..]);
        packet.extend_from_slice(&index);
    }

    /// As [`Gcm::unprotect_rtp`]; `index` as it stands in the packet.
    pub fn unprotect_rtcp(
        &mut self,
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
        self.rtcp.open(&iv, &aad, body, &mut out[RTCP_HEADER..])
    }

    /// Where the index of an SRTCP packet begins: behind the tag
    /// (RFC 7714 section 9.2).
    pub fn rtcp_index_at(len: usize) -> Option<usize> {
        len.checked_sub(RTCP_INDEX.len)
    }
}

impl Cipher {
    fn aes_128(provider: &dyn SrtpProvider, key: [u8; 16], encrypt: bool) -> Cipher {
        Cipher::Aes128(provider.aead_aes_128_gcm().create_cipher(key, encrypt))
    }

    fn aes_256(provider: &dyn SrtpProvider, key: [u8; 32], encrypt: bool) -> Cipher {
        Cipher::Aes256(provider.aead_aes_256_gcm().create_cipher(key, encrypt))
    }

    fn seal(&mut self, iv: &[u8; 12], aad: &[u8], input: &[u8], out: &mut [u8]) {
        // AES-GCM only fails on inputs of 64 GiB (NIST SP 800-38D section 5.2.1.1).
        match self {
            Cipher::Aes128(c) => c.encrypt(iv, aad, input, out),
            Cipher::Aes256(c) => c.encrypt(iv, aad, input, out),
        }
        .expect("a packet fits into one AEAD call");
    }

    fn open(&mut self, iv: &[u8; 12], aad: &[u8], input: &[u8], out: &mut [u8]) -> bool {
        let opened: Result<usize, CryptoError> = match self {
            Cipher::Aes128(c) => c.decrypt(iv, &[aad], input, out),
            Cipher::Aes256(c) => c.decrypt(iv, &[aad], input, out),
        };
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

fn replace(scratch: &mut Vec<u8>, with: &[u8]) {
    scratch.clear();
    scratch.extend_from_slice(with);
}
