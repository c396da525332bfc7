use std::net::SocketAddr;

use clap::Args;
use weft_endpoint::{EchoCancellation, OpenSpeaker};
use weft_media::SpeakerSpec;

use crate::values::listen;

/// Heading of the options for received media.
pub const RECEIVING: &str = "Receiving";

/// Loudspeaker and page for the people in the vehicle.
#[derive(Debug, Args)]
pub struct VehicleArgs {
    #[arg(
        help_heading = RECEIVING,
        help = "Play the others: alsa[:DEVICE], or FILE.wav to write the mix to a new file",
        long,
        value_name = "OUT"
    )]
    pub speaker: Option<SpeakerSpec>,
    /// Send the microphone unprocessed; without this option, the sound of --speaker is
    /// removed from --mic
    #[arg(help_heading = RECEIVING, long, requires = "speaker")]
    pub no_echo_cancellation: bool,
    #[arg(
        help_heading = RECEIVING,
        help = "Serve a page for a tablet or phone in the vehicle: pictures of the others, links \
                and their figures, use of each link, microphone, cameras; prints its address with \
                a token. Other addresses than loopback use https",
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:8090",
        value_parser = listen
    )]
    pub page: Option<SocketAddr>,
}

impl VehicleArgs {
    /// Opens the loudspeaker, if there is one.
    pub fn speaker(&self) -> Option<OpenSpeaker> {
        let speaker = self.speaker.clone()?;
        Some(Box::new(move || speaker.open()))
    }

    pub fn echo(&self) -> EchoCancellation {
        match self.no_echo_cancellation {
            true => EchoCancellation::Off,
            false => EchoCancellation::On,
        }
    }
}
