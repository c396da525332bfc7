use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};

/// Stream of octets, with or without TLS.
pub(crate) type Stream = Pin<Box<dyn Octets>>;

pub(crate) trait Octets: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Octets for T {}
