/// Reason why bytes from the network could not be parsed. The sender is at
/// fault; drop the packet and count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The data ends before the named part does.
    #[error("{what} is cut off")]
    Truncated {
        /// The part that did not fit.
        what: &'static str,
    },
    /// A field holds a value that its specification forbids.
    #[error("{what} is not valid")]
    Invalid {
        /// The field that is wrong, in the words of its standard.
        what: &'static str,
    },
    /// The data expands beyond our limit.
    #[error("{what} exceeds the limit")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
    },
}
