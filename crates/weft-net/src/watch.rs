//! Changes of interfaces and addresses, as the system tells them.

use std::io;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// Multicast groups of rtnetlink (linux/rtnetlink.h: `RTMGRP_LINK`,
/// `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV6_IFADDR`).
const LINK: u32 = 0x1;
const IPV4_ADDRESS: u32 = 0x10;
const IPV6_ADDRESS: u32 = 0x100;

/// The system does not tell of changes.
#[derive(Debug, thiserror::Error)]
#[error("the system does not report link changes (netlink): {0}; polling the interfaces instead")]
pub struct WatchError(#[from] io::Error);

/// Calls `changed` on a thread of its own whenever an interface or an address
/// came, went or changed, until it returns false. What there is now is for the
/// caller to look up: a message may be lost, and many may come for one change.
///
/// # Errors
/// If the system refuses netlink or a thread. Links can be looked up from time
/// to time then.
pub fn watch_links(mut changed: impl FnMut() -> bool + Send + 'static) -> Result<(), WatchError> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind(&SocketAddr::new(0, LINK | IPV4_ADDRESS | IPV6_ADDRESS))?;
    let run = move || {
        // The contents do not matter; the system cuts what does not fit.
        let mut buffer = Vec::with_capacity(1024);
        loop {
            buffer.clear();
            match socket.recv(&mut buffer, 0) {
                // Too many to be told of: then something has changed, too.
                Err(error) if error.raw_os_error() == Some(ENOBUFS) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
                Ok(_) => {}
            }
            if !changed() {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("links".to_owned());
    thread.spawn(run)?;
    Ok(())
}

/// No buffer space (linux/asm-generic/errno.h).
const ENOBUFS: i32 = 105;
