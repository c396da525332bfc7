use super::super::cluster::{Cluster, ClusterEvent, ClusterNotice};
use super::super::vacancies::Vacancy;
use super::*;
use crate::clock::Clock;
use crate::config::Limits;
use crate::hub::{Arrival, Message, Vacancies};
use crate::ids::Ids;
use crate::log::Log;
use crate::media_plane::{Destination, MediaPlane, Request};
use crate::origin::Origin;
use std::sync::Arc;
use tokio::sync::mpsc;
use weft_rooms::{ParticipantKind, Recorder};

struct Deaf;

impl MediaPlane for Deaf {
    fn send(&self, _: Destination<'_>, _: Request) {}
}

/// Server that cannot record, with a participant of the room, beside one that says that it
/// records.
struct Node {
    hub: Hub,
    notices: mpsc::UnboundedReceiver<ClusterNotice>,
    _events: mpsc::Receiver<Message>,
}

impl Node {
    fn new(name: &str, records: &str) -> Node {
        let (sender, notices) = mpsc::unbounded_channel();
        let cluster = Cluster::new(name.to_owned(), Vacancies::default(), sender);
        let parts = (Clock::machine(), Ids::random());
        let hub = Hub::new(Limits::default(), Arc::new(Deaf), parts, Log::default());
        let hub = hub.in_cluster(Some(cluster));
        let arrival = Arrival {
            room: "r",
            name: Some("Ada"),
            kind: ParticipantKind::Browser,
            id: None,
            secret: None,
            origin: &Origin::default(),
        };
        let (_, events) = hub.join(arrival, None).unwrap();
        let vacancy = Vacancy {
            records: true,
            ..Vacancy::default()
        };
        hub.set_vacancy(records, Some(vacancy));
        Node {
            hub,
            notices,
            _events: events,
        }
    }

    /// Last recorder that it has told the others.
    fn told(&mut self) -> Option<Recorder> {
        let all = std::iter::from_fn(|| self.notices.try_recv().ok());
        let recorders = all.filter_map(|notice| match notice {
            ClusterNotice::Event(ClusterEvent::Recorder { recorder, .. }) => Some(recorder),
            _ => None,
        });
        recorders.last()
    }
}

#[test]
fn a_chosen_server_that_drains_passes_the_recording_of_a_dead_one_on() {
    let (mut c, mut a) = (Node::new("c", "a"), Node::new("a", "e"));
    let dead = Recorder {
        server: Some("dead".to_owned()),
        version: (1, "dead".to_owned()),
    };
    for node in [&c, &a] {
        let (room, recorder) = ("r".to_owned(), dead.clone());
        node.hub
            .hear("dead", ClusterEvent::Recorder { room, recorder });
    }
    a.hub.drain(Duration::from_secs(60));
    // One server chooses the other, which it takes for able to record.
    c.hub.replace_recorders();
    let recorder = c.told().expect("it tells its choice");
    assert_eq!(recorder.server.as_deref(), Some("a"));
    let room = "r".to_owned();
    a.hub.hear("c", ClusterEvent::Recorder { room, recorder });
    let recorder = a.told().expect("it passes it on");
    assert_eq!(recorder.server.as_deref(), Some("e"));
}
