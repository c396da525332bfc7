/// Length of the fixed part of an RTCP header with the sender's SSRC, which SRTCP does
/// not encrypt (RFC 3711 section 3.4).
pub const RTCP_HEADER: usize = 8;

/// The SRTCP index: 31 bits after a flag (RFC 3711 section 3.4).
pub const RTCP_INDEX: RtcpIndex = RtcpIndex {
    len: 4,
    encrypted: 0x8000_0000,
};

pub struct RtcpIndex {
    pub len: usize,
    pub encrypted: u32,
}
