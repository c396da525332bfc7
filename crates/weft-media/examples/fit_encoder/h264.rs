//! OpenH264 with libwebrtc's settings (h264_encoder_impl.cc).

use std::error::Error;
use std::ffi::c_void;

use openh264::decoder::Decoder;
use openh264::encoder::{
    BitRate, Encoder, EncoderConfig, FrameRate, FrameType, RateControlMode, UsageType,
};
use openh264::formats::YUVSource;
use openh264::{OpenH264API, Timestamp};
use openh264_sys2 as raw;
use weft_media::Picture;

use crate::coded::Coded;
use crate::plan::FPS;

/// Encoder with a decoder for its output.
pub struct H264 {
    encoder: Encoder,
    decoder: Decoder,
    kbps: u64,
    pictures: u64,
}

/// Upper bound of the rate, above the rate of every run. By default it is the first rate.
const MAX_KBPS: u64 = 20_000;

struct Source<'a>(&'a Picture);

impl YUVSource for Source<'_> {
    fn dimensions(&self) -> (usize, usize) {
        (self.0.width, self.0.height)
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.0.width, self.0.chroma_width(), self.0.chroma_width())
    }

    fn y(&self) -> &[u8] {
        &self.0.y
    }

    fn u(&self) -> &[u8] {
        &self.0.u
    }

    fn v(&self) -> &[u8] {
        &self.0.v
    }
}

impl H264 {
    pub fn new(kbps: u64) -> Result<H264, Box<dyn Error>> {
        let config = EncoderConfig::new()
            .bitrate(BitRate::from_bps(u32::try_from(kbps * 1000)?))
            .max_frame_rate(FrameRate::from_hz(FPS as f32))
            .rate_control_mode(RateControlMode::Bitrate)
            .skip_frames(true)
            .usage_type(UsageType::CameraVideoRealTime)
            .scene_change_detect(false)
            .num_threads(1);
        Ok(H264 {
            encoder: Encoder::with_api_config(OpenH264API::from_source(), config)?,
            decoder: Decoder::new()?,
            kbps,
            pictures: 0,
        })
    }

    pub fn encode(
        &mut self,
        picture: &Picture,
        kbps: u64,
        keyframe: bool,
    ) -> Result<Option<Coded>, Box<dyn Error>> {
        // Options can be set only after the first picture has opened the encoder.
        if kbps != self.kbps {
            self.set_rate(kbps);
        }
        if keyframe {
            self.encoder.force_intra_frame();
        }
        let at = Timestamp::from_millis(self.pictures * 1000 / u64::from(FPS));
        self.pictures += 1;
        let stream = self.encoder.encode_at(&Source(picture), at)?;
        let keyframe = matches!(stream.frame_type(), FrameType::IDR | FrameType::I);
        let data = stream.to_vec();
        if data.is_empty() {
            return Ok(None);
        }
        let quantizer = self.quantizer();
        let decoded = self
            .decoder
            .decode(&data)?
            .ok_or("a frame without picture")?;
        Ok(Some(Coded {
            bits: data.len() * 8,
            keyframe,
            quantizer,
            layer: 0,
            picture: copy(&decoded),
        }))
    }

    fn set_rate(&mut self, kbps: u64) {
        self.kbps = kbps;
        let mut set = |option, layer, kbps: u64| {
            let mut info = raw::SBitrateInfo {
                iLayer: layer,
                iBitrate: (kbps * 1000) as i32,
            };
            // SAFETY: the encoder is open, the option takes this structure.
            unsafe {
                self.encoder
                    .raw_api()
                    .set_option(option, (&raw mut info).cast::<c_void>())
            }
        };
        let layer = raw::SPATIAL_LAYER_0;
        set(raw::ENCODER_OPTION_MAX_BITRATE, layer, MAX_KBPS);
        set(raw::ENCODER_OPTION_BITRATE, raw::SPATIAL_LAYER_ALL, kbps);
    }

    /// Returns the mean quantizer of the last picture.
    fn quantizer(&mut self) -> u8 {
        // SAFETY: plain data, and the option fills this structure.
        let statistics = unsafe {
            let mut statistics: raw::SEncoderStatistics = std::mem::zeroed();
            self.encoder.raw_api().get_option(
                raw::ENCODER_OPTION_GET_STATISTICS,
                (&raw mut statistics).cast::<c_void>(),
            );
            statistics
        };
        statistics.uiAverageFrameQP as u8
    }
}

fn copy(decoded: &openh264::decoder::DecodedYUV<'_>) -> Picture {
    let (width, height) = decoded.dimensions();
    let mut picture = Picture::new(width, height);
    let chroma = picture.chroma_width();
    let strides = decoded.strides();
    let plane = |to: &mut [u8], width: usize, from: &[u8], stride: usize| {
        for (to, from) in to.chunks_exact_mut(width).zip(from.chunks(stride)) {
            to.copy_from_slice(&from[..width]);
        }
    };
    plane(&mut picture.y, width, decoded.y(), strides.0);
    plane(&mut picture.u, chroma, decoded.u(), strides.1);
    plane(&mut picture.v, chroma, decoded.v(), strides.2);
    picture
}
