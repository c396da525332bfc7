//! TUN devices. Each read returns an IP packet that the kernel sends on the device; each
//! write delivers one to it.

use rustix::fs::{Mode, OFlags, open};
use rustix::ioctl;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// Path of the TUN driver.
pub(crate) const TUN: &str = "/dev/net/tun";

/// Largest size of a packet: the default of TUN and Ethernet.
pub const MTU: usize = 1500;

/// `TUNSETIFF`, `IFF_TUN` and `IFF_NO_PI` of Linux's `if_tun.h`.
const TUNSETIFF: ioctl::Opcode = ioctl::opcode::write::<libc::c_int>(b'T', 202);
const FLAGS: i16 = 0x0001 | 0x1000;

/// `struct ifreq` with the flags in its union.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: i16,
    rest: [u8; 22],
}

/// Open device. Dropping it removes the device.
pub(crate) struct Tun {
    file: File,
}

impl Tun {
    /// Creates a device in the calling thread's network namespace. `name` has at most 15
    /// bytes.
    pub fn open(name: &str) -> io::Result<Tun> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(TUN, flags, Mode::empty())?);
        let mut request = InterfaceRequest {
            name: [0; libc::IFNAMSIZ],
            flags: FLAGS,
            rest: [0; 22],
        };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: TUNSETIFF takes a pointer to a `struct ifreq`, whose layout
        // and size `InterfaceRequest` has.
        unsafe { ioctl::ioctl(&file, ioctl::Setter::<TUNSETIFF, _>::new(request)) }?;
        Ok(Tun { file })
    }

    /// Reads the next packet; `None` if none is available.
    pub fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(into) {
            Ok(length) => Ok(Some(length)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
