/// Most bytes of header, extensions and descriptor in a packet: 12 of fixed
/// header, 4 + 16 of extensions, 6 of VP8 descriptor, 2 of RTX.
pub(crate) const HEADROOM: usize = 40;
