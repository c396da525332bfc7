//! Admission to rooms and media connections.

use super::resources::{Claim, Role};
use super::state::{AdmissionState, Guest, State};
use super::{Arrival, Hub};
use crate::auth::May;
use crate::media_plane::{ResourceId, Sound};
use crate::problem::Problem;
use crate::secret::{proof_of, unguessable};
use weft_rooms::{HoldError, Join, Joined, Publishing, Upload};

impl Hub {
    /// Reserves a place in the registry; the room sees the participant when it is
    /// announced. Returns the id and its secret.
    pub(super) fn join_registry(
        &self,
        state: &mut State,
        who: &Arrival<'_>,
    ) -> Result<(String, String), Problem> {
        self.check_revoked(who)?;
        let is_back = is_inside(state, who);
        if state.admission == AdmissionState::Shut
            || state.admission == AdmissionState::Draining && !is_back
        {
            return Err(Problem::overloaded("new participants: it is about to stop"));
        }
        match who.id.filter(|_| is_back) {
            Some(id)
                if state
                    .registry
                    .renames(who.room, id, who.name.unwrap_or_default()) =>
            {
                state.check_pace(who.room, id, self.clock.now())?;
            }
            Some(_) => {}
            None => {
                let (now, place) = (self.clock.now(), (who.room, who.id));
                state.bars.check(now, place, who.origin)?;
                state.check_home(who.origin, state.limits.participants_per_address)?;
                state.check_token(who.origin, state.limits.of_a_token())?;
                state.check_coming(who.origin, self.clock.now())?;
            }
        }
        let fresh = unguessable();
        let joined = state.registry.reserve(Join {
            room: who.room,
            name: who.name.unwrap_or_default(),
            kind: who.kind,
            standing: who.origin.standing,
            id: who.id,
            proof: who.secret.map(proof_of),
            fresh: proof_of(&fresh),
            fresh_id: &self.ids.fresh(),
        })?;
        if let Joined::New(id) = &joined {
            let granted = who.origin.grant.as_ref().map(|grant| grant.may);
            if granted == Some(May::Watch) {
                let (nothing, upload) = (Publishing::default(), Upload::NotAllowed);
                state.registry.set_upload(who.room, id, nothing, upload)?;
            }
            let mut guest = Guest::from(who.origin.clone(), self.clock.now());
            // A participant who moves here stays muted.
            if state.registry.is_muted(who.room, id) {
                guest.sound = Sound::Muted;
                self.media.set_sound(who.room, id, Sound::Muted);
            }
            state
                .guests
                .insert((who.room.to_owned(), id.clone()), guest);
        }
        let secret = match (&joined, who.secret) {
            (Joined::Back(_), Some(shown)) => shown.to_owned(),
            _ => fresh,
        };
        Ok((joined.into_id(), secret))
    }

    /// Checks again, under the lock, that the arrival's token is not revoked:
    /// it may have been since the request was checked. A participant who
    /// enters before the revocation is removed by it.
    pub(super) fn check_revoked(&self, who: &Arrival<'_>) -> Result<(), Problem> {
        let mut grant = who.origin.grant.iter();
        match grant.any(|grant| self.revoked.has(grant)) {
            true => Err(crate::auth::revoked()),
            false => Ok(()),
        }
    }

    /// Holds a participant in the room who proves an earlier visit; a
    /// participant with only a name is new.
    fn hold(&self, state: &mut State, who: &Arrival<'_>) -> Result<String, Problem> {
        let proof = who.secret.map(proof_of);
        let held = who.id.map(|id| state.registry.hold(who.room, id, proof));
        match (held, who.id) {
            (Some(Ok(())), Some(id)) => Ok(id.to_owned()),
            (Some(Err(HoldError::Unknown(unknown))), _) if who.name.is_none() => {
                Err(unknown.into())
            }
            (Some(Err(stranger @ HoldError::Stranger { .. })), _) => Err(stranger.into()),
            _ => Ok(self.join_registry(state, who)?.0),
        }
    }

    /// Adds a media connection within the quotas and holds its participant in
    /// the room. Returns the connection and the participant's id.
    pub(super) fn take(
        &self,
        state: &mut State,
        who: &Arrival<'_>,
        role: Role,
    ) -> Result<(ResourceId, String), Problem> {
        let limits = &{ state.limits.media };
        let claim = match is_inside(state, who) {
            true => Claim::Inside,
            false => Claim::Newcomer,
        };
        state
            .resources
            .check(limits, (who.room, claim), who.origin)?;
        self.check_revoked(who)?;
        let id = self.hold(state, who)?;
        let checked = match state.registry.is_waiting(who.room, &id) {
            true => Err(Problem::waiting()),
            false => state.resources.check_participant(limits, who.room, &id),
        };
        let (place, now) = ((who.room, &*id), self.clock.now());
        let checked = checked.and_then(|()| state.check_opening(place, who.origin, now));
        if let Err(problem) = checked {
            state.registry.finish(self.clock.now(), who.room, &id);
            return Err(problem);
        }
        let resource = ResourceId(unguessable());
        let (place, origin) = ((who.room, &*id), who.origin.clone());
        state.resources.open(resource.clone(), place, role, origin);
        self.media.place(&resource, who.room, &id);
        Ok((resource, id))
    }
}

/// Whether the arrival proves to be a present participant.
pub(super) fn is_inside(state: &State, who: &Arrival<'_>) -> bool {
    let proof = who.secret.map(proof_of);
    who.id
        .is_some_and(|id| state.registry.knows(who.room, id, proof))
}
