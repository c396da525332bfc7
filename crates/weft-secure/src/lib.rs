//! Sans-IO association: ICE with many valid pairs, DTLS, SRTP.
