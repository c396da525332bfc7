weft_units::named! {
    /// Fault that a call avoids first if its links cannot carry everything: freezes or
    /// coarse pictures.
    ///
    /// For schedulers that handle late packets
    /// ([`SchedulerKind::Weft`](crate::SchedulerKind::Weft)), on several paths.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Preference: "preference" {
        /// Fewest freezes, at a rate that the best link alone has carried without danger
        /// on this call.
        Calm = "calm",
        /// Rate that the links have carried without danger recently, with copies for a
        /// while after a link was in danger.
        #[default]
        Balanced = "balanced",
        /// Highest rate that the links carry now, without copies.
        Pixels = "pixels",
    }
}

#[cfg(test)]
mod tests;
