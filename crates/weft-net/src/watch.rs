//! Notifications of the system about changed interfaces and addresses.

use std::io;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// Multicast groups of rtnetlink (linux/rtnetlink.h: `RTMGRP_LINK`,
/// `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV6_IFADDR`).
const LINK: u32 = 0x1;
const IPV4_ADDRESS: u32 = 0x10;
const IPV6_ADDRESS: u32 = 0x100;

/// The system provides no notifications.
#[derive(Debug, thiserror::Error)]
#[error("the system does not report link changes (netlink): {0}; polling the interfaces instead")]
pub struct WatchError(#[from] io::Error);

/// Calls `changed` on a separate thread whenever an interface or an address
/// appears, disappears or changes, until it returns false. The callback must
/// look up the present state: a notification may be lost, and a change may
/// cause several.
///
/// # Errors
/// If the system provides no netlink socket or thread. Poll the links in that
/// case.
pub fn watch_links(mut changed: impl FnMut() -> bool + Send + 'static) -> Result<(), WatchError> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind(&SocketAddr::new(0, LINK | IPV4_ADDRESS | IPV6_ADDRESS))?;
    let run = move || {
        // The content does not matter; the system truncates it.
        let mut buffer = Vec::with_capacity(1024);
        loop {
            buffer.clear();
            match socket.recv(&mut buffer, 0) {
                // Lost notifications mean that something has changed, too.
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
