//! Plan of a run, drawn from its seed: members and their links, incidents, and attacks.

mod people;

use weft_links::LinkSpec;
use weft_testing::pictures::Layers;
use weft_units::{Duration, Instant, Rate, Rng};

use crate::hostile::{Attack, Kind};
use crate::member::{Part, Speech};
use crate::network::Impairments;
use crate::person::{Profile, Showing};
use crate::server::Budgets;

/// Link of a member.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    pub spec: LinkSpec,
    pub impairments: Impairments,
    /// Whether it can carry a call alone.
    pub good: bool,
}

/// Member who behaves as intended.
#[derive(Clone, Debug)]
pub struct MemberPlan {
    pub name: String,
    pub part: Part,
    pub speech: Speech,
    pub layers: Layers,
    pub links: Vec<LinkPlan>,
}

/// Person of a meeting.
#[derive(Clone, Debug)]
pub struct PersonPlan {
    pub profile: Profile,
    pub links: Vec<LinkPlan>,
}

/// Act of a person, or incident that affects one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Joins,
    Leaves,
    /// Crashes without a goodbye.
    Crashes,
    /// Publishes over another connection, which replaces the present one.
    Republishes,
    /// Starts or stops sharing the screen.
    Shares(bool),
    /// Shows the others at other sizes.
    Shows(Showing),
    /// Cuts the link with this index in the person's list.
    Cut(usize),
    Restored(usize),
    /// The server's work for a connection of the person fails because of a defect.
    Defect,
}

/// Order of the moderators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Mute(usize),
    Unmute(usize),
    Remove(usize),
    Lock(bool),
    /// Makes newcomers wait.
    Wait(bool),
    /// Admits everybody who waits.
    Admit,
    Record(bool),
}

/// Incident of a member, identified by its index, or of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incident {
    Joins(usize),
    /// Publishes over another connection, which replaces the present one.
    TakesOver(usize),
    /// Publishes with the other codec over another connection, which replaces the present one.
    ChangesCodec(usize),
    Leaves(usize),
    /// Crashes without a goodbye.
    Crashes(usize),
    /// Cuts the link with this index in the member's list.
    Cut(usize, usize),
    Restored(usize, usize),
    /// Gives the member's link with this index more capacity than it needs.
    SpeedsUp(usize, usize),
    ServerCrashes,
    /// The server's plane with this number fails; an empty one replaces it.
    PlaneFails(usize),
    /// The server's work for this member fails because of a defect.
    Defect(usize),
    /// The person with this number acts.
    Does(usize, Act),
    Moderates(Order),
}

/// Plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    /// Whether links lose nothing, keep the order and are never cut: then nothing may be
    /// missing at the end.
    pub calm: bool,
    pub budgets: Budgets,
    /// Number of the server's planes.
    pub planes: usize,
    pub members: Vec<MemberPlan>,
    /// People of a meeting; a meeting has no other members.
    pub people: Vec<PersonPlan>,
    pub attacks: Vec<(Attack, LinkPlan)>,
    /// Incidents in order of time.
    pub incidents: Vec<(Instant, Incident)>,
    /// Time until everybody leaves.
    pub length: Duration,
}

/// Share of the runs that are meetings.
const MEETINGS: f64 = 0.4;

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn between(rng: &mut Rng, least: f64, most: f64) -> f64 {
    least + (most - least) * rng.unit()
}

impl Plan {
    /// Draws the plan of this seed.
    pub fn of(seed: u64) -> Plan {
        let root = Rng::new(seed).stream("plan");
        let mut rng = root.stream("shape");
        let mut plan = Plan {
            seed,
            calm: root.stream("calm").chance(0.25),
            budgets: Budgets::Kept,
            planes: 1,
            members: Vec::new(),
            people: Vec::new(),
            attacks: Vec::new(),
            incidents: Vec::new(),
            length: Duration::from_secs_f64(between(&mut rng, 7.0, 11.0)),
        };
        match root.stream("people").chance(MEETINGS) {
            true => plan.gather(&root),
            false => plan.add_members(&root, &mut rng),
        }
        if rng.chance(0.15) {
            let when = between(&mut rng, 3.0, plan.length.as_secs_f64() - 3.5);
            plan.incidents.push((at(when), Incident::ServerCrashes));
        }
        let whom = match plan.people.is_empty() {
            true => "publisher 0",
            false => "person 0",
        };
        for n in 0..rng.below(4) {
            plan.add_attack(&root, whom, n);
        }
        let rng = &mut root.stream("defects");
        if !plan.members.is_empty() && rng.chance(0.1) {
            let place = rng.below(plan.members.len() as u64) as usize;
            let when = between(rng, 1.0, plan.length.as_secs_f64() - 1.0);
            plan.incidents.push((at(when), Incident::Defect(place)));
        }
        plan.spread(&root);
        // Simultaneous ones keep the order in which they were drawn.
        plan.incidents.sort_by_key(|(at, _)| *at);
        plan
    }

    /// Adds publishers and their viewers.
    fn add_members(&mut self, root: &Rng, rng: &mut Rng) {
        let publishers = 1 + rng.below(2) as usize;
        for n in 0..publishers {
            self.add_member(root, &format!("publisher {n}"), Part::Publishes);
        }
        for n in 0..1 + rng.below(3) {
            let whom = format!("publisher {}", rng.below(publishers as u64));
            self.add_member(root, &format!("viewer {n}"), Part::Plays(whom));
        }
        if rng.chance(0.3) {
            self.add_slow_viewer(root);
        }
        if rng.chance(0.2) {
            for n in 0..4 + rng.below(8) {
                self.add_visitor(root, &format!("visitor {n}"));
            }
        }
    }

    /// Gives the server several planes in half of the runs; some of them fail.
    fn spread(&mut self, root: &Rng) {
        let rng = &mut root.stream("planes");
        if rng.chance(0.5) {
            self.planes = 2 + rng.below(2) as usize;
            if rng.chance(0.4) {
                let when = between(rng, 2.5, self.length.as_secs_f64() - 3.5);
                let place = rng.below(self.planes as u64) as usize;
                self.incidents.push((at(when), Incident::PlaneFails(place)));
            }
        }
    }

    /// Returns the plan without attacks.
    pub fn in_peace(&self) -> Plan {
        Plan {
            attacks: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether all links of a member are cut at that time.
    pub fn is_cut_off(&self, member: usize, at: Instant) -> bool {
        let mut up = vec![true; self.members[member].links.len()];
        for (_, incident) in self.incidents.iter().take_while(|(when, _)| *when <= at) {
            match incident {
                Incident::Cut(place, link) if *place == member => up[*link] = false,
                Incident::Restored(place, link) if *place == member => up[*link] = true,
                _ => {}
            }
        }
        !up.contains(&true)
    }

    /// Draws one or two links; in a calm run, they have this specification instead.
    fn draw_links(
        &self,
        rng: &mut Rng,
        speech: Speech,
        draw: fn(&mut Rng) -> LinkPlan,
        calm: &str,
    ) -> Vec<LinkPlan> {
        let links = match speech {
            Speech::Native if rng.chance(0.6) => vec![draw(rng), draw(rng)],
            _ => vec![draw(rng)],
        };
        match self.calm {
            true => links.iter().map(|_| link_of(calm, true)).collect(),
            false => links,
        }
    }

    fn add_member(&mut self, root: &Rng, name: &str, part: Part) {
        let rng = &mut root.stream(name);
        let publishes = part == Part::Publishes;
        let speech = match rng.chance(0.3) {
            true => Speech::Browser,
            false => Speech::Native,
        };
        let links = self.draw_links(rng, speech, any_link, "rate=6mbit,delay=15ms");
        let (count, place) = (links.len(), self.members.len());
        self.members.push(MemberPlan {
            name: name.to_owned(),
            part,
            speech,
            layers: match rng.chance(0.5) {
                true => Layers::Three,
                false => Layers::One,
            },
            links,
        });
        self.incidents
            .push((at(rng.unit()), Incident::Joins(place)));
        let end = self.length.as_secs_f64();
        let mut when = between(rng, 1.5, 6.0);
        while when < end - 1.0 {
            let back = when
                + match rng.chance(0.2) {
                    true => between(rng, 2.5, 5.0),
                    false => between(rng, 0.1, 2.5),
                };
            if publishes && rng.chance(0.4) {
                let incident = match rng.chance(0.3) {
                    true => Incident::ChangesCodec(place),
                    false => Incident::TakesOver(place),
                };
                self.incidents.push((at(when), incident));
                when = back;
                continue;
            }
            let (incident, undone) = match rng.below(10) {
                0 => (Incident::Leaves(place), Incident::Joins(place)),
                1 | 2 => (Incident::Crashes(place), Incident::Joins(place)),
                _ if self.calm => {
                    when = back;
                    continue;
                }
                _ => {
                    let link = rng.below(count as u64) as usize;
                    (Incident::Cut(place, link), Incident::Restored(place, link))
                }
            };
            self.incidents.push((at(when), incident));
            self.incidents.push((at(back.min(end)), undone));
            when = back + between(rng, 0.3, 6.0);
        }
    }

    /// Adds a viewer whose link carries less than a publisher sends, permanently or for
    /// some seconds.
    fn add_slow_viewer(&mut self, root: &Rng) {
        let rng = &mut root.stream("slow viewer");
        let rate = 100 + rng.below(200);
        let place = self.members.len();
        self.incidents
            .push((at(rng.unit()), Incident::Joins(place)));
        if rng.chance(0.6) {
            let when = between(rng, 3.0, 5.0);
            self.incidents
                .push((at(when), Incident::SpeedsUp(place, 0)));
        }
        self.members.push(MemberPlan {
            name: "slow viewer".to_owned(),
            part: Part::Plays("publisher 0".to_owned()),
            speech: Speech::Native,
            layers: Layers::One,
            links: vec![link_of(&format!("rate={rate}kbit,delay=40ms"), false)],
        });
    }

    /// Adds a visitor who comes and goes several times.
    fn add_visitor(&mut self, root: &Rng, name: &str) {
        let rng = &mut root.stream(name);
        let place = self.members.len();
        self.members.push(MemberPlan {
            name: name.to_owned(),
            part: Part::Plays("publisher 0".to_owned()),
            speech: Speech::Native,
            layers: Layers::One,
            links: vec![any_link(rng)],
        });
        let end = self.length.as_secs_f64();
        let mut when = between(rng, 0.5, end - 2.0);
        while when < end - 1.0 {
            let gone = when + between(rng, 0.02, 1.2);
            let leaves = match rng.chance(0.7) {
                true => Incident::Leaves(place),
                false => Incident::Crashes(place),
            };
            self.incidents.push((at(when), Incident::Joins(place)));
            self.incidents.push((at(gone), leaves));
            when = gone + between(rng, 0.05, 2.0);
        }
    }

    fn add_attack(&mut self, root: &Rng, whom: &str, number: u64) {
        let rng = &mut root.stream(&format!("attack {number}"));
        let kind = Kind::ALL[rng.below(Kind::ALL.len() as u64) as usize];
        let parts = kind.parts(whom);
        let part = match parts.is_empty() {
            true => None,
            false => Some(parts[rng.below(parts.len() as u64) as usize].clone()),
        };
        let from = between(rng, 0.5, self.length.as_secs_f64() - 2.0);
        let length = between(rng, 1.0, 6.0);
        let attack = Attack {
            kind,
            part,
            speech: match rng.chance(0.5) {
                true => Speech::Browser,
                false => Speech::Native,
            },
            rate: Rate::from_kbps(500 + rng.below(4_500)),
            requests: between(rng, 2.0, 30.0),
            from: at(from),
            until: at((from + length).min(self.length.as_secs_f64())),
        };
        let link = match kind {
            Kind::Sips => link_of("rate=100kbit,delay=30ms", false),
            _ => link_of("rate=20mbit,delay=10ms", true),
        };
        self.attacks.push((attack, link));
    }
}

/// Parses a link.
pub fn link_of(spec: &str, good: bool) -> LinkPlan {
    LinkPlan {
        spec: spec.parse().expect("a link specification"),
        impairments: Impairments::default(),
        good,
    }
}

fn any_link(rng: &mut Rng) -> LinkPlan {
    let good = rng.chance(0.7);
    let (rate, delay, loss) = match good {
        true => (
            between(rng, 3.0, 12.0),
            between(rng, 2.0, 40.0),
            between(rng, 0.0, 0.005),
        ),
        false => (
            between(rng, 0.2, 2.0),
            between(rng, 20.0, 150.0),
            between(rng, 0.0, 0.08),
        ),
    };
    let mut spec = LinkSpec::new(
        Rate::from_kbps((rate * 1_000.0) as u64),
        Duration::from_secs_f64(delay / 1_000.0),
    );
    spec.loss = if rng.chance(0.5) { loss } else { 0.0 };
    if rng.chance(0.3) {
        spec.jitter = Duration::from_micros(rng.below(5_000));
    }
    let impairments = match rng.below(4) {
        0 => Impairments {
            doubles: between(rng, 0.0, 0.05),
            reorders: between(rng, 0.0, 0.02),
        },
        _ => Impairments::default(),
    };
    LinkPlan {
        spec,
        impairments,
        good,
    }
}
