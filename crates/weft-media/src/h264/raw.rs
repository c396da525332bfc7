use std::ffi::c_void;

use openh264::encoder::{
    BitRate, Encoder, EncoderConfig as RawConfig, FrameRate, FrameType, Level, RateControlMode,
    UsageType,
};
use openh264::formats::YUVSource;
use openh264::{OpenH264API, Timestamp};
use openh264_sys2 as raw;
use weft_units::{Codec, Rate};
use weft_wire::payload::h264::{NalHeader, Quantizers, nal_units};

use super::config_error;
use crate::Picture;
use crate::coding::{EncodedFrame, EncoderConfig, VideoError, check_fps};

/// OpenH264 with its settings; encodes a picture once with the given parameters.
pub(super) struct RawEncoder {
    // Boxed, because it has a few kilobytes.
    raw: Box<Encoder>,
    config: EncoderConfig,
    /// Whether the first picture has been encoded; the library accepts options only after
    /// that.
    is_open: bool,
    last_timestamp: Option<u32>,
    /// Time of the pictures in ticks of 90 kHz.
    time: u64,
    quantizers: Quantizers,
}

const TICKS_PER_MS: u64 = 90;
const TICKS_PER_SECOND: u32 = 90_000;
/// Largest time step between pictures, in picture intervals: as for VP8, a pause must not
/// look like a lower frame rate.
const MAX_STEP: u32 = 2;
/// Upper bound of the target, above the rate of any call. The library's default is the
/// first target.
const MAX_RATE: Rate = Rate::from_mbps(50);
/// Lowest rate; smaller ones are raised to it, as for VP8.
const MIN_RATE: Rate = Rate::from_kbps(5);

impl RawEncoder {
    pub fn new(config: EncoderConfig) -> Result<RawEncoder, VideoError> {
        Ok(RawEncoder {
            raw: open(&config)?,
            config,
            is_open: false,
            last_timestamp: None,
            time: 0,
            quantizers: Quantizers::default(),
        })
    }

    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    /// Whether a picture has been encoded since the last restart.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    pub fn set_rate(&mut self, rate: Rate) -> Result<(), VideoError> {
        if rate == self.config.rate {
            return Ok(());
        }
        self.config.rate = rate;
        if !self.is_open {
            return self.restart();
        }
        self.set_bitrate(
            raw::ENCODER_OPTION_MAX_BITRATE,
            raw::SPATIAL_LAYER_0,
            MAX_RATE,
        )?;
        self.set_bitrate(raw::ENCODER_OPTION_BITRATE, raw::SPATIAL_LAYER_ALL, rate)
    }

    pub fn set_fps(&mut self, fps: u32) -> Result<(), VideoError> {
        check_fps(Codec::H264, fps)?;
        if fps == self.config.fps {
            return Ok(());
        }
        self.config.fps = fps;
        if !self.is_open {
            return self.restart();
        }
        let mut value = fps as f32;
        self.set(raw::ENCODER_OPTION_FRAME_RATE, (&raw mut value).cast())
    }

    pub fn restart(&mut self) -> Result<(), VideoError> {
        self.raw = open(&self.config)?;
        self.is_open = false;
        Ok(())
    }

    /// Restarts for pictures of this size.
    pub fn resize(&mut self, width: usize, height: usize) -> Result<(), VideoError> {
        (self.config.width, self.config.height) = (width, height);
        self.restart()
    }

    /// Encodes a picture with OpenH264; `None` if it drops it.
    pub fn attempt(
        &mut self,
        picture: &Picture,
        at: Timestamp,
        keyframe: bool,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        // The first picture is always a keyframe.
        if keyframe && self.is_open {
            self.raw.force_intra_frame();
        }
        let failed = |error: openh264::Error| VideoError::Encode(Codec::H264, error.to_string());
        let stream = self.raw.encode_at(&Source(picture), at).map_err(failed)?;
        self.is_open = true;
        let keyframe = matches!(stream.frame_type(), FrameType::IDR);
        let data = stream.to_vec();
        if data.is_empty() {
            return Ok(None);
        }
        let mut quantizer = None;
        let mut referenced = false;
        for unit in nal_units(&data) {
            if let Some(read) = self.quantizers.on_unit(unit) {
                quantizer.get_or_insert(read);
            }
            let header = unit.first().and_then(|octet| NalHeader::parse(*octet).ok());
            referenced |= header.is_some_and(|header| header.reference > 0);
        }
        Ok(Some(EncodedFrame {
            data,
            keyframe,
            temporal_layer: None,
            layer_sync: false,
            non_reference: !referenced,
            quantizer: quantizer.unwrap_or(0),
            attempts: 1,
        }))
    }

    /// Returns the time of the picture with this timestamp, which never decreases.
    pub fn advance(&mut self, timestamp: u32) -> Timestamp {
        let longest = MAX_STEP * (TICKS_PER_SECOND / self.config.fps);
        let elapsed = self.last_timestamp.map_or(0, |last| {
            let elapsed = timestamp.wrapping_sub(last).cast_signed().max(1);
            elapsed.unsigned_abs().min(longest)
        });
        self.last_timestamp = Some(timestamp);
        self.time += u64::from(elapsed);
        Timestamp::from_millis(self.time / TICKS_PER_MS)
    }

    /// Sets the quantizer of pictures that bypass rate control.
    pub fn set_quantizer(&mut self, quantizer: i32) -> Result<(), VideoError> {
        let option = raw::ENCODER_OPTION_SVC_ENCODE_PARAM_EXT;
        let mut all = raw::SEncParamExt::default();
        debug_assert!(self.is_open, "the library would crash");
        // SAFETY: the encoder is open, and the option's structure is this one.
        let code = unsafe { self.raw.raw_api().get_option(option, (&raw mut all).cast()) };
        if code != 0 {
            return Err(config_error(format!(
                "option {option} is not told ({code})"
            )));
        }
        all.sSpatialLayers[0].iDLayerQp = quantizer;
        self.set(option, (&raw mut all).cast())
    }

    /// Switches rate control on or off.
    pub fn set_mode(&mut self, mode: raw::RC_MODES) -> Result<(), VideoError> {
        let mut mode = mode;
        self.set(raw::ENCODER_OPTION_RC_MODE, (&raw mut mode).cast())
    }

    fn set_bitrate(
        &mut self,
        option: raw::ENCODER_OPTION,
        layer: raw::LAYER_NUM,
        rate: Rate,
    ) -> Result<(), VideoError> {
        let mut info = raw::SBitrateInfo {
            iLayer: layer,
            iBitrate: bps(rate).cast_signed(),
        };
        self.set(option, (&raw mut info).cast())
    }

    /// Sets an option of an open encoder; `value` points to the option's type.
    fn set(&mut self, option: raw::ENCODER_OPTION, value: *mut c_void) -> Result<(), VideoError> {
        debug_assert!(self.is_open, "the library would crash");
        // SAFETY: the encoder is open, and the callers above pass the structure of each
        // option, which outlives the call.
        let code = unsafe { self.raw.raw_api().set_option(option, value) };
        match code {
            0 => Ok(()),
            code => Err(config_error(format!("option {option} is refused ({code})"))),
        }
    }
}

fn bps(rate: Rate) -> u32 {
    let rate = rate.clamp(MIN_RATE, MAX_RATE);
    u32::try_from(rate.as_bps()).unwrap_or(u32::MAX)
}

fn open(config: &EncoderConfig) -> Result<Box<Encoder>, VideoError> {
    // Limits of the library (codec/encoder/core/src/encoder_ext.cpp).
    let sizes = 16..=3840;
    let smaller = config.width.min(config.height);
    if !sizes.contains(&config.width) || !sizes.contains(&config.height) || smaller > 2160 {
        return Err(config_error(format!(
            "{}x{} is not a size that OpenH264 takes (16 to 3840 by 16 to 2160)",
            config.width, config.height
        )));
    }
    check_fps(Codec::H264, config.fps)?;
    if config.temporal_layers != 1 {
        return Err(config_error(format!(
            "temporal_layers = {}, but H.264 has one here",
            config.temporal_layers
        )));
    }
    // Settings of libwebrtc (h264_encoder_impl.cc); one slice per picture.
    let settings = RawConfig::new()
        .bitrate(BitRate::from_bps(bps(config.rate)))
        .max_frame_rate(FrameRate::from_hz(config.fps as f32))
        .level(level(config))
        .rate_control_mode(RateControlMode::Bitrate)
        .skip_frames(true)
        .usage_type(UsageType::CameraVideoRealTime)
        .scene_change_detect(false)
        .num_threads(1);
    let encoder = Encoder::with_api_config(OpenH264API::from_source(), settings);
    encoder.map(Box::new).map_err(config_error)
}

/// Returns the lowest level, at least 3, that allows these pictures (ITU-T H.264 table
/// A-1) at 30 or more per second. The library would choose a level for the present frame
/// rate, so a restart at another rate would change the parameter sets and split a
/// recording into another file.
fn level(config: &EncoderConfig) -> Level {
    let blocks = (config.width.div_ceil(16) * config.height.div_ceil(16)) as u64;
    let per_second = blocks * u64::from(config.fps.max(30));
    let rooms = [
        (1_620, 40_500, Level::Level_3_0),
        (3_600, 108_000, Level::Level_3_1),
        (5_120, 216_000, Level::Level_3_2),
        (8_192, 245_760, Level::Level_4_0),
        (8_704, 522_240, Level::Level_4_2),
        (22_080, 589_824, Level::Level_5_0),
        (36_864, 983_040, Level::Level_5_1),
    ];
    let holds = |(most, most_per_second, _): &(u64, u64, Level)| {
        blocks <= *most && per_second <= *most_per_second
    };
    let fitting = rooms.into_iter().find(holds);
    fitting.map_or(Level::Level_5_2, |(.., level)| level)
}

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
