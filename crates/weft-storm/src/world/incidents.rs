//! Incidents of a plan.

use std::net::SocketAddr;

use weft_units::{Duration, Rate};

use super::World;
use crate::hostile::Attacker;
use crate::member::Speech;
use crate::peer_factory::PeerFactory;
use crate::plan::{Incident, Plan};
use crate::processor::{Pace, Processor};
use crate::server::{Planes, Server};

impl World {
    pub(super) fn commit(&mut self, incident: Incident) {
        let now = self.now;
        self.tell(|world| format!("{incident:?}: {}", world.state()));
        match incident {
            Incident::Joins(place) => {
                if self.members[place].stay.is_none() {
                    self.counts.joins += 1;
                    self.go_on(place);
                }
            }
            Incident::TakesOver(place) | Incident::ChangesCodec(place) => {
                self.counts.takeovers += 1;
                if matches!(incident, Incident::ChangesCodec(_)) {
                    self.members[place].change_codec();
                }
                let ports = self.new_ports(place);
                let member = &mut self.members[place];
                member.take_over(now, &mut self.server, &self.factory, ports);
            }
            Incident::Leaves(place) => self.leave(place),
            Incident::Crashes(place) => self.crash(place),
            Incident::Cut(place, link) => {
                let link = self.members[place].links[link];
                self.counts.cuts += 1;
                self.network.cut(now, link);
                self.links[link].up_since = None;
            }
            Incident::Restored(place, link) => {
                let link = self.members[place].links[link];
                self.network.restore(now, link);
                self.links[link].up_since = Some(now);
            }
            Incident::SpeedsUp(place, link) => {
                let link = self.members[place].links[link];
                self.network.set_capacity(now, link, Rate::from_mbps(5));
            }
            Incident::Defect(place) => {
                if let Some(call) = self.members[place].call() {
                    let resource = call.resource.clone();
                    self.counts.defects += 1;
                    self.server.fail(now, &resource);
                }
            }
            Incident::Does(place, act) => self.act(place, act),
            Incident::Moderates(order) => self.order(order),
            Incident::PlaneFails(place) => {
                self.counts.plane_failures += 1;
                self.server.replace_plane(now, place);
            }
            Incident::ServerCrashes => {
                self.counts.server_crashes += 1;
                self.end_server();
                self.server = server(&self.factory, &self.plan, self.pace);
                self.server.processor.free_at = now;
                self.server_since = now;
                self.watch.on_server_crash();
                let mut rng = self.factory.rng.stream("server crash");
                for member in &mut self.members {
                    // They notice it because their event streams break.
                    let later = Duration::from_secs_f64(0.2 + rng.unit());
                    member.forget_server(now + later);
                }
                for place in 0..self.meeting.people.len() {
                    let later = Duration::from_secs_f64(0.2 + rng.unit());
                    self.meeting.forget_server(now, place, now + later);
                }
                let attackers = self.attackers.iter_mut();
                attackers.for_each(Attacker::forget_server);
            }
        }
    }

    pub(super) fn end_server(&mut self) {
        self.watch.on_spent(self.now, &self.server.processor.spent);
    }

    /// Returns the addresses of a new socket on each link.
    fn new_ports(&mut self, place: usize) -> Vec<SocketAddr> {
        let member = &self.members[place];
        let port = 4_000 + (member.connections % 1_000) as u16;
        let ips = member.links.iter().map(|link| self.network.ip(*link));
        let ports: Vec<SocketAddr> = ips.map(|ip| SocketAddr::new(ip, port)).collect();
        self.watch.ports.extend(&ports);
        ports
    }

    pub(super) fn go_on(&mut self, place: usize) {
        let ports = self.new_ports(place);
        let member = &mut self.members[place];
        member.go_on(self.now, &mut self.server, &self.factory, ports);
    }

    pub(super) fn leave(&mut self, place: usize) {
        let member = &mut self.members[place];
        self.counts.departures += u64::from(member.stay.is_some());
        for datagram in member.leave(self.now, &mut self.server) {
            self.network.send(self.now, datagram);
        }
    }

    pub(super) fn crash(&mut self, place: usize) {
        let member = &mut self.members[place];
        self.counts.crashes += u64::from(member.stay.is_some());
        if let (Speech::Browser, Some(call)) = (member.speech, member.call())
            && call.up.is_some()
        {
            self.watch.on_gone(self.now, &call.resource);
        }
        member.crash(self.now, &mut self.server);
    }
}

/// Starts a server.
pub(super) fn server(factory: &PeerFactory, plan: &Plan, pace: Pace) -> Server {
    let planes = Planes::new(factory, plan.budgets, plan.planes);
    Server::new(planes, Processor::new(pace))
}
