/// Reason why bytes from the network could not be parsed. The sender is at
/// fault; drop the packet and count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The data ends within the named part.
    #[error("{what} is cut off")]
    Truncated {
        /// Part that did not fit.
        what: &'static str,
    },
    /// A field holds a value that its specification forbids.
    #[error("{what} is not valid")]
    Invalid {
        /// Invalid field, as named in its standard.
        what: &'static str,
    },
    /// The data expands beyond our limit.
    #[error("{what} exceeds the limit")]
    TooLarge {
        /// Part that is too large.
        what: &'static str,
    },
}
