//! Configuration of a running server, reloaded on SIGHUP.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use weft_server::{Log, Reconfiguration, ServerError, ServerEvent};

use super::args::LogArgs;
use super::configuration::Configuration;
use super::log;

/// Configuration in effect.
pub struct Running {
    configuration: Mutex<Configuration>,
    /// Log options of the configuration, shared because events come from every thread.
    log_args: Arc<Mutex<LogArgs>>,
    log: Log,
}

impl Running {
    pub fn new(configuration: Configuration) -> Running {
        let log_args = Arc::new(Mutex::new(configuration.args.log.clone()));
        Running {
            configuration: Mutex::new(configuration),
            log: log::log(Arc::clone(&log_args)),
            log_args,
        }
    }

    pub fn log(&self) -> Log {
        self.log.clone()
    }

    /// Returns the maximum time to wait for participants at the end.
    pub fn drain(&self) -> Duration {
        lock(&self.configuration).args.drain
    }

    /// Reloads the configuration, and logs which options have changed. If it is invalid,
    /// the previous one remains in effect.
    pub fn reload(&self, reconfigure: impl Fn(Reconfiguration) -> Result<(), ServerError>) {
        let read = Configuration::load(std::env::args_os().collect());
        let applied =
            read.map_err(|failure| failure.to_string())
                .and_then(|read| match reconfigure(read.reconfiguration()) {
                    Ok(()) => Ok(read),
                    Err(error) => Err(format!("{error}. {}", error.remedy())),
                });
        match applied {
            Ok(read) => self.replace(read),
            Err(error) => self
                .log
                .emit(|| ServerEvent::ConfigurationNotRead { error }),
        }
    }

    fn replace(&self, new: Configuration) {
        let mut running = lock(&self.configuration);
        let changes = running.changes(&new);
        *lock(&self.log_args) = new.args.log.clone();
        running.take_over(new);
        self.log.emit(|| ServerEvent::ConfigurationRead {
            changed: changes.changed,
            restart: changes.restart,
        });
    }
}

/// Ignores poisoning: no code panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
