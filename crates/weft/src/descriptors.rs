//! Limit of file descriptors of this process.

/// Raises the soft limit to the hard limit. A server has a socket for each connection,
/// and the usual limit of 1,024 exists only for programs that use select(2). On failure
/// the limit does not change.
pub fn raise_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is valid for writing.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    if known == 0 && limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the structure is valid for reading.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_as_high_as_it_may_be() {
        raise_limit();
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the structure is valid for writing.
        let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
        assert_eq!((known, limit.rlim_cur), (0, limit.rlim_max));
    }
}
