//! Body of the fuzz target `rooms`, which a test also runs.

use std::collections::{BTreeMap, BTreeSet};

use weft_units::fuzz::records;
use weft_units::{Duration, Instant};

use crate::{
    Camera, Change, Hand, Join, LinkReport, LinkState, MAX_CHAT_TEXT, ParticipantKind, Proof,
    Publishing, Registry, RegistryLimits, Saying, Standing,
};

const LIMITS: RegistryLimits = RegistryLimits {
    rooms: 3,
    participants_per_room: 4,
    kept_for_hosts: 1,
};
/// Maximum stay of a participant without a hold.
const LONGEST_STAY: Duration = Duration::from_secs(10);

/// Lets participants join and leave as the bytes determine, under any names. Checks that
/// the announced changes match the registry, that the limits hold, and that participants
/// without a hold are gone at the end. Returns the number of calls.
pub fn fuzz_calls(data: &[u8]) -> usize {
    let (mut registry, mut now, mut calls) = (Registry::new(LIMITS), Instant::ZERO, 0);
    // View of the room's participants, from the announced changes.
    let mut told: BTreeMap<(String, String), u32> = BTreeMap::new();
    for (how, content) in records(data) {
        now += Duration::from_millis(u64::from(how >> 4) * 500);
        calls += 1;
        call(&mut registry, now, (how & 15, calls), content, &told);
        registry.handle_timeout(now);
        assert!(registry.poll_timeout().is_none_or(|d| d.at > now), "spins");
        while let Some(event) = registry.poll_output() {
            match event.change {
                Change::Joined(who) => {
                    let before = told.insert((event.room, who.id), 1);
                    assert_eq!(before, None, "came twice");
                }
                Change::Withdrawn { id } => panic!("{id} was shown at once"),
                Change::Settings(_) | Change::Waiting | Change::Admitted { .. } => {
                    panic!("nobody moderates")
                }
                Change::Left { id } => assert!(told.remove(&(event.room, id)).is_some()),
                Change::Changed(who) => assert!(told.contains_key(&(event.room, who.id))),
                Change::Said(message) => {
                    assert!(told.contains_key(&(event.room, message.from)));
                    assert!(message.text.chars().count() <= MAX_CHAT_TEXT);
                }
                Change::Links { id, .. } | Change::Reacted { id, .. } => {
                    assert!(told.contains_key(&(event.room, id)))
                }
            }
        }
        for room in registry.rooms() {
            let names = registry.participants(room).into_iter().map(|who| &who.name);
            let unique: BTreeSet<&String> = names.clone().collect();
            assert_eq!(unique.len(), names.count(), "two of one name");
        }
        let (rooms, there) = registry.count();
        assert!(rooms <= LIMITS.rooms && there <= rooms * LIMITS.participants_per_room);
        assert_eq!(there, told.len());
    }
    for (room, id) in told.keys() {
        (0..calls).for_each(|_| registry.release(now, room, id));
    }
    registry.handle_timeout(now + LONGEST_STAY);
    assert_eq!(registry.count(), (0, 0));
    calls
}

fn call(
    registry: &mut Registry,
    now: Instant,
    (what, number): (u8, usize),
    content: &[u8],
    told: &BTreeMap<(String, String), u32>,
) {
    let which = usize::from(content.first().copied().unwrap_or(0));
    let text = String::from_utf8_lossy(content.get(1..).unwrap_or(&[]));
    let nobody = ("r0".to_owned(), "nobody".to_owned());
    let known = told
        .keys()
        .nth(which % told.len().max(1))
        .unwrap_or(&nobody);
    let (room, id) = (known.0.as_str(), known.1.as_str());
    let (new_room, proof) = (format!("r{}", which % 4), Some(Proof([0; 32])));
    let fresh_id = format!("p{number}");
    let join = Join {
        room: &new_room,
        name: &text,
        kind: ParticipantKind::Native,
        standing: match which & 1 {
            0 => Standing::Host,
            _ => Standing::Guest,
        },
        id: None,
        proof: None,
        fresh: Proof([0; 32]),
        fresh_id: &fresh_id,
    };
    // A refused call changes nothing, which is checked after each call.
    match what {
        0..4 => drop(registry.join(join)),
        4 => drop(registry.join(Join {
            room: &text,
            ..join
        })),
        5 => drop(registry.join(Join {
            room,
            id: Some(id),
            proof,
            ..join
        })),
        6 => drop(registry.hold(room, id, proof)),
        7 => drop(registry.part(now, room, id, proof)),
        8 | 9 => registry.release(now, room, id),
        10 => registry.finish(now, room, id),
        11 => registry.leave(room, id),
        12 => {
            let camera = Camera {
                name: Some(text.into_owned()),
                screen: which & 2 == 0,
                off: which & 4 == 0,
            };
            let cameras = vec![camera; which % 5];
            let audio = which & 1 == 0;
            drop(registry.set_publishing(room, id, Publishing { cameras, audio }));
        }
        13 => {
            let link = LinkReport {
                name: text.into_owned(),
                state: LinkState::Up,
                rtt_ms: 1.0,
                sent_mbps: 1.0,
                target_mbps: 1.0,
                loss: 0.0,
                metered: false,
                backup: false,
                budget_left_mb: None,
                trouble: None,
            };
            drop(registry.set_links(now, room, id, vec![link; which % 32]));
        }
        14 => {
            let saying = Saying {
                text: &text,
                key: (which & 1 == 0).then_some("k"),
                at: 0,
            };
            drop(registry.say(now, (room, id), &saying));
            let hand = match which & 2 {
                0 => Hand::Raised,
                _ => Hand::Lowered,
            };
            registry.set_hand(room, id, hand);
            drop(registry.chat(now, room, Some(&text)));
        }
        _ => drop(registry.find(room, &text).map(|who| who.id.clone())),
    }
}

#[cfg(test)]
mod tests;
