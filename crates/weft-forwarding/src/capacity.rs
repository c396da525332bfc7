use crate::error::MediaError;
use weft_units::Rate;

/// Maximum share of a plane's time in use for it to accept new connections; existing ones
/// are not affected. Chosen by us: above it, packets start to wait for each other, and
/// publishers send more at first.
const MOST_BUSY: f64 = 0.9;
/// Maximum share of the sending bound in use for it to accept new connections: another one would
/// reduce the rates of the existing ones. Chosen by us: less than the share available to media.
const MOST_SENT: f64 = 0.85;

/// Capacity of a plane's machine.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Capacity {
    /// Maximum sending rate to all players together, so that the server's own link has no
    /// queue. Default none, because the rate of the link is not known.
    pub egress: Option<Rate>,
}

impl Capacity {
    /// Checks whether there is room for another connection, before it affects the others.
    /// `busy` is the share of a processor that the plane used in the last second; `sent`
    /// is its sending rate in that second.
    ///
    /// # Errors
    /// [`MediaError::Busy`] if there is no room.
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
