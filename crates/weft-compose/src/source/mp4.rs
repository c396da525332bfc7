use super::{Sample, SourceError};
use shiguredo_mp4::boxes::SampleEntry;
use shiguredo_mp4::demux::{DemuxError, Fmp4SegmentDemuxer};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::time::Duration;

/// Largest box that is read; weft's fragments have half a second.
const MAX_BOX: u64 = 64_000_000;
/// Beginning of a unit in a byte stream (ITU-T H.264 annex B).
const START: [u8; 4] = [0, 0, 0, 1];

pub(crate) struct Mp4 {
    file: BufReader<File>,
    demuxer: Fmp4SegmentDemuxer,
    /// Parameter sets of the file, as a byte stream.
    parameters: Vec<u8>,
    waiting: VecDeque<Sample>,
}

impl Mp4 {
    pub(crate) fn new(mut file: BufReader<File>) -> Result<Mp4, SourceError> {
        let mut beginning = Vec::new();
        for wanted in [b"ftyp", b"moov"] {
            match read_box(&mut file, &mut beginning)? {
                Some(kind) if kind == *wanted => {}
                _ => {
                    let wanted = String::from_utf8_lossy(wanted);
                    return Err(SourceError::Container(format!("there is no {wanted} box")));
                }
            }
        }
        let mut demuxer = Fmp4SegmentDemuxer::new();
        demuxer.handle_init_segment(&beginning).map_err(refusal)?;
        Ok(Mp4 {
            file,
            demuxer,
            parameters: Vec::new(),
            waiting: VecDeque::new(),
        })
    }

    pub(crate) fn read(&mut self) -> Result<Option<Sample>, SourceError> {
        while self.waiting.is_empty() {
            let mut fragment = Vec::new();
            // A fragment is `moof` and `mdat`; one is missing if the server was killed.
            for _ in 0..2 {
                if read_box(&mut self.file, &mut fragment)?.is_none() {
                    return Ok(None);
                }
            }
            self.take(&fragment)?;
        }
        Ok(self.waiting.pop_front())
    }

    fn take(&mut self, fragment: &[u8]) -> Result<(), SourceError> {
        let samples = self.demuxer.handle_media_segment(fragment);
        for sample in samples.map_err(refusal)? {
            if let Some(SampleEntry::Avc1(entry)) = sample.sample_entry {
                let sets = entry.avcc_box.sps_list.iter();
                let sets = sets.chain(&entry.avcc_box.pps_list);
                self.parameters = sets.flat_map(|set| [&START[..], set].concat()).collect();
            }
            let from = usize::try_from(sample.data_offset).unwrap_or(usize::MAX);
            let data = fragment.get(from..).and_then(|d| d.get(..sample.data_size));
            let units = data.and_then(byte_stream);
            let units = units.ok_or_else(|| SourceError::Container("a frame is cut".into()))?;
            let before = if sample.keyframe {
                &self.parameters[..]
            } else {
                &[]
            };
            let scale = u64::from(sample.track.timescale.get());
            self.waiting.push_back(Sample {
                at: Duration::from_nanos(sample.timestamp * 1_000_000_000 / scale),
                data: [before, &units].concat(),
            });
        }
        Ok(())
    }
}

/// Appends the next box of the file; `None` at the end of the file or of a truncated box.
fn read_box(file: &mut impl Read, out: &mut Vec<u8>) -> Result<Option<[u8; 4]>, SourceError> {
    let mut header = [0; 8];
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (size, kind) = header.split_at(4);
    let size = u64::from(u32::from_be_bytes([size[0], size[1], size[2], size[3]]));
    if !(8..=MAX_BOX).contains(&size) {
        let kind = String::from_utf8_lossy(kind);
        return Err(SourceError::Container(format!(
            "a box {kind:?} of {size} octets"
        )));
    }
    out.extend(header);
    let body = file.take(size - 8).read_to_end(out)?;
    let kind = [kind[0], kind[1], kind[2], kind[3]];
    Ok((body as u64 == size - 8).then_some(kind))
}

/// Converts units with their lengths into a byte stream; `None` if one is truncated.
fn byte_stream(mut data: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(data.len() + 8);
    while let Some((length, rest)) = data.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        out.extend(START);
        out.extend(rest.get(..length)?);
        data = &rest[length..];
    }
    data.is_empty().then_some(out)
}

fn refusal(error: DemuxError) -> SourceError {
    SourceError::Container(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_become_start_codes() {
        let units = [0, 0, 0, 2, 7, 8, 0, 0, 0, 1, 9];
        let stream = [0, 0, 0, 1, 7, 8, 0, 0, 0, 1, 9];
        assert_eq!(byte_stream(&units).as_deref(), Some(&stream[..]));
        assert_eq!(byte_stream(&units[..5]), None);
        assert_eq!(byte_stream(&units[..8]), None);
    }

    #[test]
    fn a_cut_box_is_the_end_and_a_huge_one_an_error() {
        let mut out = Vec::new();
        let whole = [0, 0, 0, 9, b'm', b'd', b'a', b't', 1];
        assert_eq!(
            read_box(&mut &whole[..], &mut out).expect("it is a box"),
            Some(*b"mdat")
        );
        for cut in [&whole[..8], &whole[..3], &[]] {
            let read = read_box(&mut &cut[..], &mut out).expect("it ends");
            assert_eq!(read, None);
        }
        let huge = [255, 0, 0, 0, b'm', b'd', b'a', b't'];
        let refused = read_box(&mut &huge[..], &mut out).expect_err("it is too large");
        assert!(refused.to_string().contains("mdat"), "{refused}");
    }
}
