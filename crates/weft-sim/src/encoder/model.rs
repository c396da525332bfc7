use weft_experiment::ModelSetup;
use weft_publish::fitting::{h264, vp8};
use weft_units::{Codec, Rate};

use super::noise::Noise;
use super::openh264::OpenH264;
use super::parameters::{H264, Parameters, VP8};
use super::picture::{Content, Outcome, Picture};
use super::vpx::Vpx;

/// Encoder model of a codec.
#[derive(Debug)]
pub struct EncoderModel {
    /// Cost and quality of its pictures.
    pub parameters: Parameters,
    /// `log2` of the quantizer step of an index: the fit's variable for the quality.
    pub log2_step: fn(f64) -> f64,
    control: fn(&ModelSetup, Content, Noise) -> Control,
}

/// Model of libvpx as `weft-media` configures it.
static LIBVPX: EncoderModel = EncoderModel {
    parameters: VP8,
    log2_step: vp8::log2_step,
    control: |setup, content, noise| {
        let (layers, rate) = (
            usize::from(setup.temporal_layers),
            bits_per_second(setup.rate),
        );
        Control::Vpx(Box::new(Vpx::new(layers, rate, setup.fps, content, noise)))
    },
};

/// Model of OpenH264 as libwebrtc configures it.
static OPENH264: EncoderModel = EncoderModel {
    parameters: H264,
    log2_step: |quantizer| quantizer / h264::PER_OCTAVE,
    control: |setup, content, noise| {
        let rate = bits_per_second(setup.rate);
        Control::OpenH264(OpenH264::new(rate, content, noise))
    },
};

impl EncoderModel {
    /// Returns the model of a codec's encoder, if there is one.
    #[must_use]
    pub fn of(codec: Codec) -> Option<&'static EncoderModel> {
        match codec {
            Codec::Vp8 => Some(&LIBVPX),
            Codec::H264 => Some(&OPENH264),
            // Audio, and codecs without a measured encoder.
            _ => None,
        }
    }

    pub(super) fn control(&self, setup: &ModelSetup, content: Content, noise: Noise) -> Control {
        (self.control)(setup, content, noise)
    }
}

/// Rate control of one of the encoders.
#[derive(Clone, Debug)]
pub(super) enum Control {
    Vpx(Box<Vpx>),
    OpenH264(OpenH264),
}

impl Control {
    pub(super) fn set_rate(&mut self, rate: Rate) {
        match self {
            Control::Vpx(control) => control.set_rate(bits_per_second(rate)),
            Control::OpenH264(control) => control.set_rate(bits_per_second(rate)),
        }
    }

    pub(super) fn noise(&self) -> &Noise {
        match self {
            Control::Vpx(control) => control.noise(),
            Control::OpenH264(control) => control.noise(),
        }
    }

    /// Encodes a picture; `None` if it is dropped.
    pub(super) fn encode(&mut self, picture: Picture) -> Option<Outcome> {
        match self {
            Control::Vpx(control) => control.encode(picture),
            Control::OpenH264(control) => control.encode(picture),
        }
    }
}

fn bits_per_second(rate: Rate) -> f64 {
    rate.as_bps().max(1000) as f64
}
