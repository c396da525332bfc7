weft_units::named! {
    /// Fault that a call avoids first where its links cannot give everything:
    /// freezes or coarse pictures.
    ///
    /// For schedulers that look after late packets
    /// ([`SchedulerKind::Weft`](crate::SchedulerKind::Weft)) on several paths.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Preference: "preference" {
        /// As few still pictures as possible, at a rate that the best link alone
        /// has carried without danger on this call.
        Calm = "calm",
        /// A rate that the links have carried without danger lately, and copies
        /// for a while after one was in danger.
        #[default]
        Balanced = "balanced",
        /// All that the links carry now, and no copies.
        Pixels = "pixels",
    }
}

#[cfg(test)]
mod tests;
