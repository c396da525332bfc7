/// Our role in the DTLS handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DtlsRole {
    /// We open it: `a=setup:active`.
    Client,
    /// The peer opens it: `a=setup:passive`.
    Server,
}
