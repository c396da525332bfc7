use crate::Rate;

impl Rate {
    /// Returns the max-min fair level of this rate (Bertsekas and Gallager, Data
    /// Networks, section 6.5.2): the share of each participant whose bound is higher.
    /// Participants below the level get their bound, and the others share the rest. The
    /// last participant gets the rest, regardless of its bound. Rounded down.
    ///
    /// Defined in this crate because senders share among cameras in the same
    /// way as forwarders among tracks, and they have no other crate in common.
    #[must_use]
    pub fn fair_level(self, bounds: impl IntoIterator<Item = Option<Rate>>) -> Rate {
        let mut sharing = 0;
        let bounds = bounds.into_iter().inspect(|_| sharing += 1);
        let mut bounds: Vec<u64> = bounds.flatten().map(Rate::as_bps).collect();
        bounds.sort_unstable();
        let mut left = self.as_bps();
        for bound in bounds {
            if sharing > 1 && bound < left / sharing {
                left -= bound;
                sharing -= 1;
            }
        }
        Rate::from_bps(left / sharing.max(1))
    }
}
