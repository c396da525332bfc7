//! Microphone and cameras that the user switches off and on.

use weft_units::MediaKind;

use super::call_loop::CallLoop;
use super::inbox::CallMessage;
use crate::caller::{Command, Muting};
use crate::switches::{Switch, Switches};

impl CallLoop {
    pub(super) fn switch_microphone(&mut self, switch: Switch) {
        self.own.switches.microphone = switch;
        self.mute();
        self.tell_switches();
        if switch == Switch::On {
            self.unmute();
        }
    }

    pub(super) fn switch_cameras(&mut self, switch: Switch) {
        self.own.switches.cameras = switch;
        self.remote.send(Command::Film(switch));
        self.tell_switches();
    }

    /// Requests the end of our mute.
    pub(super) fn unmute(&mut self) {
        let Some(own) = self.own.inside().filter(|_| self.own.muted) else {
            return;
        };
        let (room, mailbox) = (self.queues.room.clone(), self.mailbox.clone());
        self.queues.connections.push(move || {
            if let Err(error) = room.unmute(&own) {
                mailbox.send(CallMessage::UnmuteFailed(error));
            }
        });
    }

    /// Sends sound unless the user or a moderator has muted it.
    pub(super) fn mute(&self) {
        let off = self.own.muted || self.own.switches.microphone == Switch::Off;
        let muting = if off { Muting::On } else { Muting::Off };
        self.remote.send(Command::Mute(muting));
    }

    /// Whether everything is on, as in a new publication.
    pub(super) fn sends_everything(&self) -> bool {
        self.own.switches == Switches::default()
    }

    /// Reports the switches to the room. If the request is lost, the others see a frozen
    /// picture and hear nothing until the next switch repeats it.
    pub(super) fn tell_switches(&mut self) {
        let Some(connection) = self.publication.connection() else {
            return;
        };
        let has = |kind| self.own.sections.iter().any(|s| s.kind == kind);
        let Switches {
            microphone,
            cameras,
        } = self.own.switches;
        let video = has(MediaKind::Video) && cameras == Switch::On;
        let audio = has(MediaKind::Audio) && microphone == Switch::On;
        let (room, location) = (self.queues.room.clone(), connection.location.clone());
        self.queues.connections.push(move || {
            let _ = room.put_publishing(&location, video, audio);
        });
    }
}
