//! Runtime of the HTTP side.

use crate::error::ServerError;
use tokio::runtime::{Builder, Runtime};

/// Starts the threads of the HTTP side.
pub(crate) fn start() -> Result<Runtime, ServerError> {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(2).thread_name("weft-http");
    builder.enable_all().build().map_err(system)
}

/// Returns the error for a resource that the system refused.
pub(crate) fn system(error: std::io::Error) -> ServerError {
    ServerError::System {
        reason: error.to_string(),
    }
}
