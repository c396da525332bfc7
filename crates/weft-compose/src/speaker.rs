//! Active speaker of a recording.

use std::time::Duration;

/// Time for which the present speaker stays large. Chosen by us: a short "yes" from
/// someone else does not change the speaker.
const HOLD: Duration = Duration::from_secs(2);
/// Mean square of 20 ms of sound above which it may be speech: about -45 dB of full
/// scale.
const AUDIBLE: f32 = 3e4;

/// Participant who speaks at present.
#[derive(Debug, Default)]
pub(crate) struct ActiveSpeaker {
    /// Participant, and the time at which they were last heard.
    heard: Option<(String, Duration)>,
}

impl ActiveSpeaker {
    pub(crate) fn is(&self, participant: &str) -> bool {
        let heard = self.heard.as_ref();
        heard.is_some_and(|(speaker, _)| speaker == participant)
    }

    /// Handles the participant with the loudest microphone at this time, and its mean
    /// square.
    pub(crate) fn update(&mut self, at: Duration, loudest: &str, level: f32) {
        if level <= AUDIBLE {
            return;
        }
        match &mut self.heard {
            Some((speaker, heard)) if speaker == loudest => *heard = at,
            Some((_, heard)) if at.saturating_sub(*heard) < HOLD => {}
            heard => *heard = Some((loudest.to_owned(), at)),
        }
    }
}
