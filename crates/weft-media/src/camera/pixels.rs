//! Conversion of camera output to I420.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::Picture;

/// Supported pixel layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pixels {
    /// Y U Y V, two pixels in four bytes (V4L2_PIX_FMT_YUYV).
    Yuyv,
    /// Three planes (V4L2_PIX_FMT_YUV420).
    I420,
    /// JPEG pictures, possibly without Huffman tables (V4L2_PIX_FMT_MJPEG).
    Jpeg,
}

/// Converts a buffer whose rows are `stride` bytes apart (first plane); `None` if it is
/// too short or damaged.
pub fn convert(
    pixels: Pixels,
    data: &[u8],
    (width, height): (usize, usize),
    stride: usize,
) -> Option<Picture> {
    match pixels {
        Pixels::Yuyv => from_yuyv(data, (width, height), stride.max(2 * width)),
        Pixels::I420 => from_i420(data, (width, height), stride.max(width)),
        Pixels::Jpeg => from_jpeg(data, (width, height)),
    }
}

fn from_yuyv(data: &[u8], (width, height): (usize, usize), stride: usize) -> Option<Picture> {
    let mut picture = Picture::new(width, height);
    let chroma_width = picture.chroma_width();
    for row in 0..height {
        let line = data.get(row * stride..)?.get(..2 * width)?;
        let luma = &mut picture.y[row * width..][..width];
        for (luma, pair) in luma.iter_mut().zip(line.chunks_exact(2)) {
            *luma = pair[0];
        }
        // Chroma of the upper line, then the mean of both.
        let start = row / 2 * chroma_width;
        let planes = picture.u[start..].iter_mut().zip(&mut picture.v[start..]);
        for ((u, v), quad) in planes.zip(line.chunks_exact(4)) {
            if row % 2 == 0 {
                (*u, *v) = (quad[1], quad[3]);
            } else {
                *u = u.midpoint(quad[1]);
                *v = v.midpoint(quad[3]);
            }
        }
    }
    Some(picture)
}

fn from_i420(data: &[u8], (width, height): (usize, usize), stride: usize) -> Option<Picture> {
    let mut picture = Picture::new(width, height);
    let (chroma_width, chroma_height) = (picture.chroma_width(), picture.chroma_height());
    let half = stride.div_ceil(2);
    let chroma_start = stride * height;
    copy_rows(data, stride, &mut picture.y, width)?;
    copy_rows(
        data.get(chroma_start..)?,
        half,
        &mut picture.u,
        chroma_width,
    )?;
    let second = chroma_start + half * chroma_height;
    copy_rows(data.get(second..)?, half, &mut picture.v, chroma_width)?;
    Some(picture)
}

fn copy_rows(data: &[u8], stride: usize, plane: &mut [u8], width: usize) -> Option<()> {
    for (row, out) in plane.chunks_exact_mut(width).enumerate() {
        out.copy_from_slice(data.get(row * stride..)?.get(..width)?);
    }
    Some(())
}

fn from_jpeg(data: &[u8], (width, height): (usize, usize)) -> Option<Picture> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::YCbCr);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(data), options);
    let samples = decoder.decode().ok()?;
    if decoder.dimensions()? != (width, height) || samples.len() != width * height * 3 {
        return None;
    }
    // JPEG uses the full range (JFIF 1.02), video the limited one.
    let luma: [u8; 256] = std::array::from_fn(|v| (16 + (v * 219 + 127) / 255) as u8);
    let chroma: [u8; 256] = std::array::from_fn(|v| (16 + (v * 224 + 127) / 255) as u8);
    let mut picture = Picture::new(width, height);
    for (out, sample) in picture.y.iter_mut().zip(samples.chunks_exact(3)) {
        *out = luma[usize::from(sample[0])];
    }
    let chroma_width = picture.chroma_width();
    for row in 0..picture.chroma_height() {
        for column in 0..chroma_width {
            let at = (2 * row * width + 2 * column) * 3;
            let out = row * chroma_width + column;
            picture.u[out] = chroma[usize::from(samples[at + 1])];
            picture.v[out] = chroma[usize::from(samples[at + 2])];
        }
    }
    Some(picture)
}
