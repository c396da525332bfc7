use super::*;

/// 2500 bytes: 0.1 * 8 * 2500 * 30 = 60 kbps; a twentieth of the reference
/// rate is 100 kbps.
#[test]
fn a_full_buffer_slows_the_encoder_and_speeds_the_sender_up() {
    let mut nada = Nada::new(Limits {
        min: Rate::from_kbps(150),
        start: Rate::from_kbps(2000),
        max: Rate::from_mbps(4),
    });
    nada.set_backlog(Bytes(2500));
    assert_eq!(nada.target_rate(), Rate::from_kbps(1940));
    assert_eq!(nada.pacing_rate(), Rate::from_kbps(2060));
    nada.set_backlog(Bytes(100_000));
    assert_eq!(nada.target_rate(), Rate::from_kbps(1900));
    assert_eq!(nada.pacing_rate(), Rate::from_kbps(2100));
    nada.set_backlog(Bytes::ZERO);
    assert_eq!(nada.target_rate(), Rate::from_kbps(2000));
}
