use crate::Rate;

impl Rate {
    /// Max-min fair (Bertsekas and Gallager, Data Networks, section 6.5.2): what
    /// each of several gets of this rate who wants more than that, when nobody
    /// gets more than their bound; what those leave who are at theirs, the others
    /// share. Who is last gets what is left, whatever their bound. Rounded down.
    ///
    /// It stands here because senders share among cameras as forwarders do among
    /// tracks, and share no other crate.
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
