//! Plays received sound on a loudspeaker, on its own thread.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use weft_media::{
    EchoFreeMicrophone, EchoReference, Pace, RoomMixer, SoundBlock, Speaker, SpeakerError,
};
use weft_net::Clock;
use weft_session::ReceivedFrame;
use weft_units::{Duration, Instant};

use crate::config::{EchoCancellation, OpenSpeaker, SendConfig};
use crate::error::StartError;
use crate::notice::{Notice, Notices};
use crate::sources::feed::wait_until;

/// Maximum number of packets that wait for the thread: a few seconds of several
/// participants. Chosen by us.
const WAITING_PACKETS: usize = 1_000;
/// Pause between two attempts to open a loudspeaker that failed.
const RETRY: Duration = Duration::from_secs(1);
/// Duration of a block.
const BLOCK: Duration = Duration::from_millis(10);
/// Minimum time per block. Devices pace themselves, but one that accepts everything at
/// once, such as ALSA's `null`, must not occupy a processor. No device's clock is fast
/// enough to reach this limit.
const LEAST: Duration = Duration::from_micros(9_990);

/// Thread that plays the room.
pub(crate) struct Playout {
    messages: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    Packet {
        from: String,
        timestamp: u32,
        data: Vec<u8>,
    },
    Ended(String),
}

impl Playout {
    /// Opens the loudspeaker, and plays silence until packets arrive.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn start(
        mut open: OpenSpeaker,
        reference: Option<EchoReference>,
        clock: Clock,
        notices: Notices,
    ) -> Result<Playout, SpeakerError> {
        let speaker = open()?;
        let (messages, incoming) = sync_channel(WAITING_PACKETS);
        let mut output = Output {
            open,
            speaker: Some(speaker),
            again: Instant::ZERO,
            reference,
            notices,
        };
        let thread = thread::Builder::new()
            .name("speaker".to_owned())
            .spawn(move || output.run(clock, &incoming))
            .expect("the system gives a thread");
        Ok(Playout {
            messages: Some(messages),
            thread: Some(thread),
        })
    }

    /// Plays a released sound packet.
    pub fn play(&self, from: &str, frame: &ReceivedFrame) {
        self.send(Message::Packet {
            from: from.to_owned(),
            timestamp: frame.timestamp,
            data: frame.data.clone(),
        });
    }

    /// Forgets a participant.
    pub fn end(&self, participant: &str) {
        self.send(Message::Ended(participant.to_owned()));
    }

    /// The network thread does not wait for a blocked loudspeaker; packets that do not
    /// fit are concealed like lost ones.
    fn send(&self, message: Message) {
        if let Some(messages) = &self.messages {
            let _ = messages.try_send(message);
        }
    }
}

impl Drop for Playout {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            // The thread has already reported its panic.
            let _ = thread.join();
        }
    }
}

/// Loudspeaker, which is reopened after a failure.
struct Output {
    open: OpenSpeaker,
    /// `None` after a failure.
    speaker: Option<Box<dyn Speaker>>,
    /// Time of the next attempt to open it.
    again: Instant,
    reference: Option<EchoReference>,
    notices: Notices,
}

impl Output {
    fn run(&mut self, clock: Clock, incoming: &Receiver<Message>) {
        let mut mixer = RoomMixer::default();
        let mut due = clock.now();
        loop {
            if !take_in(&mut mixer, incoming) {
                return;
            }
            let block = mixer.read();
            if let Some(reference) = &self.reference {
                reference.play(&block);
            }
            self.write(&block, clock.now());
            let paced_by = self.speaker.as_ref().map(|speaker| speaker.pace());
            let step = match paced_by {
                Some(Pace::Device) => LEAST,
                Some(Pace::Caller) | None => BLOCK,
            };
            due = wait_until(&clock, due + step);
        }
    }

    fn write(&mut self, block: &SoundBlock, now: Instant) {
        if let Some(speaker) = &mut self.speaker {
            if let Err(error) = speaker.write(block) {
                self.speaker = None;
                self.again = now + RETRY;
                self.notices.send(Notice::SpeakerLost(error));
            }
        } else if now >= self.again {
            self.again = now + RETRY;
            self.speaker = (self.open)().ok();
            if self.speaker.is_some() {
                self.notices.send(Notice::SpeakerBack);
            }
        }
    }
}

/// Handles the waiting messages; false at the end of the call.
fn take_in(mixer: &mut RoomMixer, incoming: &Receiver<Message>) -> bool {
    loop {
        match incoming.try_recv() {
            Ok(Message::Packet {
                from,
                timestamp,
                data,
            }) => mixer.push(&from, timestamp, &data),
            Ok(Message::Ended(participant)) => mixer.remove(&participant),
            Err(TryRecvError::Empty) => return true,
            Err(TryRecvError::Disconnected) => return false,
        }
    }
}

/// Puts an echo canceller behind the microphone, if there is one.
///
/// # Errors
/// If the microphone cannot be opened.
pub(crate) fn cancel_echo(
    send: &mut SendConfig,
    echo: EchoCancellation,
) -> Result<Option<EchoReference>, StartError> {
    if echo == EchoCancellation::Off {
        return Ok(None);
    }
    let microphone = match (send.own.microphone.take(), &send.microphone) {
        (Some(own), _) => own,
        (None, Some(named)) => named.open()?,
        (None, None) => return Ok(None),
    };
    let (microphone, reference) = EchoFreeMicrophone::new(microphone);
    send.own.microphone = Some(Box::new(microphone));
    Ok(Some(reference))
}
