/// What header, extensions and the descriptor take of a packet at most: 12
/// bytes of fixed header, 4 + 16 of extensions, 6 of VP8 descriptor, 2 of RTX.
pub(crate) const HEADROOM: usize = 40;
