use super::kdf::{Label, derive};
use super::rtcp::{RTCP_HEADER, RTCP_INDEX};
use str0m_proto::crypto::{Aes128CmSha1_80, Aes128CmSha1_80Cipher, Sha1HmacProvider, SrtpProvider};

const TAG: usize = Aes128CmSha1_80::HMAC_TAG_LEN;

/// AES in counter mode with an HMAC-SHA1 tag of 80 bits, one direction (RFC 3711).
/// Chromium's ClientHello lists it first.
pub(super) struct Cm {
    rtp: Box<dyn Aes128CmSha1_80Cipher>,
    rtp_auth: [u8; 20],
    rtp_salt: [u8; 14],
    rtcp: Box<dyn Aes128CmSha1_80Cipher>,
    rtcp_auth: [u8; 20],
    rtcp_salt: [u8; 14],
    hmac: &'static dyn Sha1HmacProvider,
}

impl Cm {
    /// Derives the session keys of a master key of 16 bytes and a master salt of 14.
    pub fn new(
        provider: &dyn SrtpProvider,
        hmac: &'static dyn Sha1HmacProvider,
        key: &[u8],
        salt: &[u8],
        encrypt: bool,
    ) -> Cm {
        let cipher = |label| {
            provider
                .aes_128_cm_sha1_80()
                .create_cipher(derive(provider, key, salt, label), encrypt)
        };
        Cm {
            rtp: cipher(Label::RtpEncryption),
            rtp_auth: derive(provider, key, salt, Label::RtpAuthentication),
            rtp_salt: derive(provider, key, salt, Label::RtpSalt),
            rtcp: cipher(Label::RtcpEncryption),
            rtcp_auth: derive(provider, key, salt, Label::RtcpAuthentication),
            rtcp_salt: derive(provider, key, salt, Label::RtcpSalt),
            hmac,
        }
    }

    pub fn protect_rtp(
        &mut self,
        packet: &mut Vec<u8>,
        header: usize,
        (ssrc, index): (u32, u64),
        scratch: &mut Vec<u8>,
    ) {
        scratch.clear();
        scratch.extend_from_slice(&packet[header..]);
        let iv = Aes128CmSha1_80::rtp_iv(self.rtp_salt, ssrc, index);
        self.rtp
            .encrypt(&iv, scratch, &mut packet[header..])
            .expect("counter mode takes every packet");
        let end = packet.len();
        packet.resize(end + TAG, 0);
        let hmac = self.hmac;
        Aes128CmSha1_80::rtp_hmac(
            |k, p| hmac.sha1_hmac(k, p),
            &self.rtp_auth,
            packet,
            index,
            end,
        );
    }

    /// Writes header and decrypted payload to `out`; `false` if the tag is wrong.
    pub fn unprotect_rtp(
        &mut self,
        packet: &[u8],
        header: usize,
        (ssrc, index): (u32, u64),
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(end) = packet.len().checked_sub(TAG).filter(|&n| n >= header) else {
            return false;
        };
        let (signed, tag) = packet.split_at(end);
        let hmac = self.hmac;
        let sha1 = |k: &[u8], p: &[&[u8]]| hmac.sha1_hmac(k, p);
        if !Aes128CmSha1_80::rtp_verify(sha1, &self.rtp_auth, signed, index, tag) {
            return false;
        }
        out.resize(end, 0);
        out[..header].copy_from_slice(&signed[..header]);
        let iv = Aes128CmSha1_80::rtp_iv(self.rtp_salt, ssrc, index);
        self.rtp
            .decrypt(&iv, &signed[header..], &mut out[header..])
            .is_ok()
    }

    pub fn protect_rtcp(
        &mut self,
        packet: &mut Vec<u8>,
        (ssrc, index): (u32, u32),
        scratch: &mut Vec<u8>,
    ) {
        scratch.clear();
        scratch.extend_from_slice(&packet[RTCP_HEADER..]);
        let iv = Aes128CmSha1_80::rtp_iv(self.rtcp_salt, ssrc, u64::from(index));
        self.rtcp
            .encrypt(&iv, scratch, &mut packet[RTCP_HEADER..])
            .expect("counter mode takes every packet");
        packet.extend_from_slice(&(index | RTCP_INDEX.encrypted).to_be_bytes());
        let end = packet.len();
        packet.resize(end + TAG, 0);
        let hmac = self.hmac;
        Aes128CmSha1_80::rtcp_hmac(|k, p| hmac.sha1_hmac(k, p), &self.rtcp_auth, packet, end);
    }

    /// Like [`Cm::unprotect_rtp`]; `index` as in the packet.
    pub fn unprotect_rtcp(
        &mut self,
        packet: &[u8],
        (ssrc, index): (u32, u32),
        out: &mut Vec<u8>,
    ) -> bool {
        let overhead = RTCP_HEADER + RTCP_INDEX.len + TAG;
        if packet.len() < overhead {
            return false;
        }
        let (signed, tag) = packet.split_at(packet.len() - TAG);
        let hmac = self.hmac;
        let sha1 = |k: &[u8], p: &[&[u8]]| hmac.sha1_hmac(k, p);
        if !Aes128CmSha1_80::rtcp_verify(sha1, &self.rtcp_auth, signed, tag) {
            return false;
        }
        let end = signed.len() - RTCP_INDEX.len;
        out.resize(end, 0);
        out[..RTCP_HEADER].copy_from_slice(&signed[..RTCP_HEADER]);
        let index = u64::from(index & !RTCP_INDEX.encrypted);
        let iv = Aes128CmSha1_80::rtp_iv(self.rtcp_salt, ssrc, index);
        self.rtcp
            .decrypt(&iv, &signed[RTCP_HEADER..end], &mut out[RTCP_HEADER..])
            .is_ok()
    }

    /// Offset of the index of an SRTCP packet: before the tag (RFC 3711 section 3.4).
    pub fn rtcp_index_at(len: usize) -> Option<usize> {
        len.checked_sub(RTCP_INDEX.len + TAG)
    }
}
