use super::rtcp::{RTCP_HEADER, RTCP_INDEX};

/// Bytes instead of the tag: packets have the same size as with AES-GCM (RFC 7714 section 13.1).
const TAG: [u8; 16] = [0; 16];

/// No cipher, for simulated networks. Nothing is secret or authentic.
pub(super) struct Plain;

impl Plain {
    /// Appends the tag.
    pub fn protect_rtp(packet: &mut Vec<u8>) {
        packet.extend_from_slice(&TAG);
    }

    /// Writes the packet without its tag to `out`; `false` if it has none.
    pub fn unprotect_rtp(packet: &[u8], header: usize, out: &mut Vec<u8>) -> bool {
        let content = packet.strip_suffix(&TAG);
        copy(content.filter(|content| content.len() >= header), out)
    }

    /// Appends tag and index.
    pub fn protect_rtcp(packet: &mut Vec<u8>, index: u32) {
        packet.extend_from_slice(&TAG);
        packet.extend_from_slice(&(index | RTCP_INDEX.encrypted).to_be_bytes());
    }

    /// Writes the packet without tag and index to `out`; `false` if it has none.
    pub fn unprotect_rtcp(packet: &[u8], out: &mut Vec<u8>) -> bool {
        let (tagged, _) = packet.split_at(packet.len().saturating_sub(RTCP_INDEX.len));
        let content = tagged.strip_suffix(&TAG);
        copy(content.filter(|content| content.len() >= RTCP_HEADER), out)
    }
}

fn copy(content: Option<&[u8]>, out: &mut Vec<u8>) -> bool {
    let Some(content) = content else {
        return false;
    };
    out.clear();
    out.extend_from_slice(content);
    true
}
