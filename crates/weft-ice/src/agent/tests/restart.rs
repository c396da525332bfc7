//! Restarts (RFC 8445 section 9).

use super::*;

/// Sets new credentials on both sides; A, which restarts, gets B's after
/// `later`.
fn restart(net: &mut Net, later: u64) {
    let [a, b] = [11, 12].map(|seed| agent(IceRole::Controlling, 0, seed).credentials().clone());
    let now = net.now;
    net.side(Side::B).restart(now, b.clone(), &a, &[]);
    net.run_for(later);
    let now = net.now;
    net.side(Side::A).restart(now, a, &b, &[]);
    net.run_for(0);
}

#[test]
fn paths_stay_through_a_restart_and_are_checked_in_the_new_session() {
    let mut net = two_links(10, 30);
    let begun = net.now;
    restart(&mut net, 100);
    net.run_for(60_000);
    for side in [Side::A, Side::B] {
        assert_eq!(
            net.side(side)
                .paths()
                .filter(|p| p.state.is_valid())
                .count(),
            2
        );
    }
    assert_eq!(downs(&net.events_since(Side::B, begun)), []);
    let remote = net.a.remote_credentials();
    assert_eq!(remote, Some(net.b.credentials()));
}

/// The peer uses the old credentials until it has our answer.
#[test]
fn checks_of_the_session_before_are_answered_until_the_new_one_is_used() {
    let mut net = two_links(10, 30);
    let before = net.side(Side::B).counters().dropped(DropReason::Username);
    restart(&mut net, 4_000);
    assert_eq!(
        net.side(Side::B).counters().dropped(DropReason::Username),
        before
    );
    assert!(net.side(Side::A).paths().all(|p| p.state.is_valid()));
    net.run_for(5_000);
    assert!(net.side(Side::B).local.previous.is_none());
}
