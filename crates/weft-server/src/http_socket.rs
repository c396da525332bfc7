use crate::error::ServerError;
use std::net::{SocketAddr, TcpListener};

/// Socket on which HTTP listens.
pub(crate) struct HttpSocket {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl HttpSocket {
    pub(crate) fn bind(address: SocketAddr) -> Result<HttpSocket, ServerError> {
        let fail = |error| ServerError::listen(address, error);
        let listener = TcpListener::bind(address).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        Ok(HttpSocket { listener, address })
    }
}
