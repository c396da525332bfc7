//! Messages to the other planes of a server: publications, and regular statistics.

use crate::plane::Plane;
use crate::publisher::Publisher;
use crate::relay::Message;
use weft_units::Instant;

impl Plane {
    /// Announces the present state of a publication to the other planes.
    pub(crate) fn announce(&mut self, publisher: &Publisher) {
        let publication = self.publications.get(publisher);
        let announced = publication.and_then(|p| p.announced());
        for plane in self.steering.linked() {
            let message = Message::Published {
                publisher: publisher.clone(),
                publication: announced.clone(),
            };
            self.traffic.relays.send(plane, message);
        }
    }

    /// Removes a publication that has neither a publisher nor players.
    pub(crate) fn remove_if_over(&mut self, publisher: &Publisher) {
        let over = self.publications.get(publisher).filter(|p| p.is_over());
        if let Some(publication) = over {
            self.traffic.remove_publication(publication);
            self.publications.remove(publisher);
        }
    }

    /// Does the periodic work for links between planes; returns whether more will follow.
    pub(crate) fn keep_links(&mut self, now: Instant) -> bool {
        if self.steering.is_alone() {
            return false;
        }
        self.traffic.drop_unwanted();
        if self.settings.egress().is_some() {
            let rates = self.traffic.demands(now);
            for plane in self.steering.linked() {
                let rates = rates.clone();
                let message = Message::Demands { rates };
                self.traffic.relays.send(plane, message);
            }
        }
        self.steering.sweep(now)
    }
}
