//! Metrics of single rooms. Their number is bounded, because each is a series in Prometheus.

use crate::report::RoomFigures;
use std::fmt::Write as _;

/// Label of all rooms without their own metrics: no room can have this name.
const OTHERS: &str = "(others)";

/// Writes the metrics of the rooms with the most participants, up to `most`, and those of
/// all others together.
pub(super) fn write_rooms(text: &mut String, mut rooms: Vec<RoomFigures>, most: usize) {
    if most == 0 {
        return;
    }
    rooms.sort_by(|a, b| (b.participants, &a.room).cmp(&(a.participants, &b.room)));
    let rest = rooms.split_off(most.min(rooms.len()));
    if let Some(others) = rest.into_iter().reduce(RoomFigures::and) {
        rooms.push(RoomFigures {
            room: OTHERS.to_owned(),
            ..others
        });
    }
    let mut gauge = |name: &str, help: &str, value: &dyn Fn(&RoomFigures) -> Vec<(&str, f64)>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for room in &rooms {
            for (labels, value) in value(room) {
                let _ = writeln!(text, "{name}{{room=\"{}\"{labels}}} {value}", room.room);
            }
        }
    };
    gauge(
        "weft_room_participants",
        "Participants of a room.",
        &|room| vec![("", room.participants as f64)],
    );
    gauge(
        "weft_room_tracks",
        "Cameras and sounds that are published in a room.",
        &|room| {
            vec![
                (",kind=\"video\"", room.cameras as f64),
                (",kind=\"audio\"", room.sounds as f64),
            ]
        },
    );
    gauge(
        "weft_room_link_loss_ratio",
        "Greatest share of lost packets on a link, as native senders report it.",
        &|room| vec![("", room.loss)],
    );
    gauge(
        "weft_room_link_rtt_seconds",
        "Longest round trip on a link, as native senders report it.",
        &|room| vec![("", room.rtt_ms / 1e3)],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(name: &str, participants: usize, loss: f64) -> RoomFigures {
        RoomFigures {
            room: name.to_owned(),
            participants,
            cameras: 2,
            sounds: 1,
            loss,
            rtt_ms: 40.0,
        }
    }

    #[test]
    fn the_largest_rooms_have_figures_and_the_others_share_theirs() {
        let rooms = || vec![room("a", 1, 0.5), room("b", 7, 0.0), room("c", 2, 0.25)];
        let mut text = String::new();
        write_rooms(&mut text, rooms(), 1);
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            "weft_room_participants{room=\"b\"} 7",
            "weft_room_participants{room=\"(others)\"} 3",
            "weft_room_tracks{room=\"b\",kind=\"video\"} 2",
            "weft_room_tracks{room=\"b\",kind=\"audio\"} 1",
            "weft_room_tracks{room=\"(others)\",kind=\"video\"} 4",
            "weft_room_tracks{room=\"(others)\",kind=\"audio\"} 2",
            "weft_room_link_loss_ratio{room=\"b\"} 0",
            "weft_room_link_loss_ratio{room=\"(others)\"} 0.5",
            "weft_room_link_rtt_seconds{room=\"b\"} 0.04",
            "weft_room_link_rtt_seconds{room=\"(others)\"} 0.04",
        ];
        assert_eq!(rows, expected);
        let mut all = String::new();
        write_rooms(&mut all, rooms(), 9);
        assert!(!all.contains("others"));
        let mut none = String::new();
        write_rooms(&mut none, rooms(), 0);
        assert_eq!(none, "");
    }
}
