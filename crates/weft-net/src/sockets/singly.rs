use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Datagrams sent individually to a destination that refused a run, before the
/// next run is tried: its route may use another interface by then. Chosen by
/// us: a few seconds of video.
const UNTIL_RETRY: usize = 1_000;
/// Maximum number of remembered destinations. Chosen by us: forgetting one
/// costs a failed system call.
const MAX_DESTINATIONS: usize = 256;

/// Destinations that accept single datagrams but no runs, because their
/// interface cannot segment runs.
#[derive(Default)]
pub(super) struct Singly {
    /// Datagrams until the next try of a run, by destination.
    left: BTreeMap<SocketAddr, usize>,
}

impl Singly {
    pub(super) fn contains(&self, remote: SocketAddr) -> bool {
        self.left.contains_key(&remote)
    }

    /// Records that the destination refused a run and accepted its datagrams.
    pub(super) fn on_run_refused(&mut self, remote: SocketAddr) {
        if self.left.len() == MAX_DESTINATIONS {
            self.left.pop_first();
        }
        self.left.insert(remote, UNTIL_RETRY);
    }

    /// Records a datagram to the destination.
    pub(super) fn on_sent(&mut self, remote: SocketAddr) {
        if let Some(left) = self.left.get_mut(&remote) {
            *left -= 1;
            if *left == 0 {
                self.left.remove(&remote);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(port: usize) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port as u16))
    }

    #[test]
    fn a_run_is_tried_again_later_and_elsewhere_at_once() {
        let mut singly = Singly::default();
        singly.on_run_refused(to(1));
        for _ in 0..UNTIL_RETRY {
            assert!(singly.contains(to(1)) && !singly.contains(to(2)));
            singly.on_sent(to(1));
            singly.on_sent(to(2));
        }
        assert!(!singly.contains(to(1)));
    }

    #[test]
    fn it_remembers_a_bounded_number_of_destinations() {
        let mut singly = Singly::default();
        for port in 1..=2 * MAX_DESTINATIONS {
            singly.on_run_refused(to(port));
        }
        assert_eq!(singly.left.len(), MAX_DESTINATIONS);
        assert!(singly.contains(to(2 * MAX_DESTINATIONS)));
    }
}
