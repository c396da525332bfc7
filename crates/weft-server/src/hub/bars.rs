use crate::auth::TokenId;
use crate::origin::Origin;
use crate::problem::Problem;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use weft_units::{Duration, Instant};

/// Maximum number of bars; a further one replaces the oldest. Chosen by us: an operator
/// creates them by hand, and each lasts for minutes.
const MOST: usize = 1000;

/// Rule that keeps newcomers out of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    /// Voids the secret of this participant.
    Participant(String),
    /// Keeps out newcomers with this signed token or its descendants.
    Token(TokenId),
    /// Keeps out newcomers from this address (IPv6: 64 bits).
    Address(IpAddr),
    /// Keeps out all newcomers.
    Room,
}

/// Rules with their rooms and end times.
#[derive(Default)]
pub(super) struct Bars(Vec<(String, Bar, Instant)>);

impl Bars {
    pub(super) fn add(&mut self, now: Instant, room: &str, bar: Bar, length: Duration) {
        self.0
            .retain(|(of, old, until)| *until > now && !(of == room && *old == bar));
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        if length > Duration::ZERO {
            self.0.push((room.to_owned(), bar, now + length));
        }
    }

    /// All rules, each with its room and the remaining milliseconds.
    pub(super) fn left(&self, now: Instant) -> Vec<(String, Bar, u64)> {
        let left = |until: Instant| until.saturating_since(now).as_millis();
        let all = self.0.iter().filter(|(.., until)| *until > now);
        all.map(|(room, bar, until)| (room.clone(), bar.clone(), left(*until)))
            .collect()
    }

    /// Checks that a newcomer may enter this room; `id` is the participant that
    /// they claim to be.
    pub(super) fn check(
        &self,
        now: Instant,
        (room, id): (&str, Option<&str>),
        origin: &Origin,
    ) -> Result<(), Problem> {
        let keeps_out = |bar: &Bar| match bar {
            Bar::Participant(barred) => id == Some(barred),
            Bar::Token(token) => origin.grant.iter().any(|g| g.descends_from(token)),
            Bar::Address(ip) => origin.network == Some(*ip),
            Bar::Room => true,
        };
        let barred = self
            .0
            .iter()
            .find(|(of, bar, until)| of == room && *until > now && keeps_out(bar));
        match barred {
            None => Ok(()),
            Some((_, bar, until)) => Err(refusal(bar, until.saturating_since(now))),
        }
    }

    /// Returns the remaining time for which a room is closed.
    pub(super) fn closed_for(&self, now: Instant, room: &str) -> Option<Duration> {
        let closed = self
            .0
            .iter()
            .find(|(of, bar, _)| of == room && *bar == Bar::Room);
        let left = closed.map(|(_, _, until)| until.saturating_since(now));
        left.filter(|left| *left > Duration::ZERO)
    }

    /// Closed rooms.
    pub(super) fn closed(&self, now: Instant) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(move |(_, bar, until)| *bar == Bar::Room && *until > now)
            .map(|(room, ..)| room.as_str())
    }
}

fn refusal(bar: &Bar, left: Duration) -> Problem {
    let minutes = left.as_millis().div_ceil(60_000);
    let (error, kind) = match bar {
        Bar::Room => ("The room was closed", "room_closed"),
        _ => ("You were removed from the room", "removed"),
    };
    Problem::new(
        StatusCode::FORBIDDEN,
        format!("{error}."),
        format!("Ask the person who invited you, or try again in {minutes} min."),
    )
    .of_kind(kind)
}
