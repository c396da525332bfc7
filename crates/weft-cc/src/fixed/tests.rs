use super::*;
use weft_units::{Bytes, Ecn};

#[test]
fn the_rate_stays_within_the_limits_and_ignores_loss() {
    let limits = Limits {
        min: Rate::from_kbps(100),
        start: Rate::from_kbps(300),
        max: Rate::from_mbps(4),
    };
    for (asked, given) in [(10, 100), (2_000, 2_000), (9_000, 4_000)] {
        let mut fixed = Fixed::new(Rate::from_kbps(asked), limits);
        let lost = PacketResult {
            sent: SentPacket {
                number: 0,
                sent_at: Instant::ZERO,
                size: Bytes(1200),
                probe: None,
            },
            arrival: None,
            ecn: Ecn::NotEct,
            unmeasured_before: Bytes::ZERO,
        };
        fixed.on_feedback(Instant::ZERO, &[lost; 100], None);
        assert_eq!(fixed.target_rate(), Rate::from_kbps(given));
        // 1 - 0.99^100
        assert!((fixed.snapshot().loss - 0.634).abs() < 0.001);
    }
}
