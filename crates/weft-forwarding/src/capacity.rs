use crate::error::MediaError;
use weft_units::Rate;

/// The share of its time that a plane may be at work before it takes no more
/// connections: those that there are keep what they have. Chosen by us: packets
/// begin to wait for each other beyond it, and publishers send more than at
/// first.
const MOST_BUSY: f64 = 0.9;
/// The share of what may be sent beyond which it takes no more connections. A
/// newcomer would lower what those get who are there. Chosen by us: less than
/// what media may take of it.
const MOST_SENT: f64 = 0.85;

/// Capacity of a plane's machine.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Capacity {
    /// Most that it sends, all players together, so that its own link has no
    /// queue. Default none: that of the link is not known.
    pub egress: Option<Rate>,
}

impl Capacity {
    /// Whether there is room for another connection: before it costs the others
    /// anything. `busy` is the share of a processor that the plane used in the
    /// last second, `sent` what it sent in it.
    ///
    /// # Errors
    /// [`MediaError::Busy`] if there is none.
    pub fn admit(&self, busy: f64, sent: Rate) -> Result<(), MediaError> {
        let full = self
            .egress
            .is_some_and(|most| sent >= most.mul_f64(MOST_SENT));
        match busy >= MOST_BUSY || full {
            true => Err(MediaError::Busy),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newcomers_do_not_harm_those_present() {
        let mbps = Rate::from_mbps;
        let any = Capacity::default();
        assert_eq!(any.admit(0.5, mbps(10_000)), Ok(()));
        assert_eq!(any.admit(0.95, mbps(1)), Err(MediaError::Busy));
        let egress = Some(mbps(100));
        let bounded = Capacity { egress };
        assert_eq!(bounded.admit(0.5, mbps(84)), Ok(()));
        assert_eq!(bounded.admit(0.5, mbps(85)), Err(MediaError::Busy));
    }
}
