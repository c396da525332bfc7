//! RTP, RTCP, header extensions and the SDP subset: parse and emit.
