/// Sender on a medium, with a queue there; counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StationId(pub u16);

/// Resource that stations share on a medium; counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChannelId(pub u16);
