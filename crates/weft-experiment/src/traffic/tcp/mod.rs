//! TCP connections.

mod record;
mod setup;

pub use record::{TcpRecord, TcpSample, Transfer};
pub use setup::{Application, CongestionKind, EcnMode, TcpSetup};

#[cfg(test)]
mod tests;
