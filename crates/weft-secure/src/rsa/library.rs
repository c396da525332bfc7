use dimpl::crypto::{CryptoProvider, aws_lc_rs};

/// Returns the provider that this process has installed, or else the library's own.
pub(super) fn provider() -> CryptoProvider {
    CryptoProvider::get_default().map_or_else(aws_lc_rs::default_provider, Clone::clone)
}
