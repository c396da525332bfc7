//! TURN messages in a stream of octets (RFC 8656 section 12.5, RFC 8489 section 6.2.2).

/// Maximum length of a message. The media side accepts datagrams of 2,048 bytes; this
/// leaves room for every attribute around one. Chosen by us.
const MOST: usize = 4096;
/// Length of a STUN header (RFC 8489 section 5).
const STUN_HEADER: usize = 20;
/// Length of the header of ChannelData (RFC 8656 section 12.4).
const CHANNEL_HEADER: usize = 4;

/// Octets of a stream that have not been handled yet.
#[derive(Debug, Default)]
pub struct TurnFraming {
    octets: Vec<u8>,
    /// Number of octets at the beginning that were handled.
    handled: usize,
}

/// The stream carries neither STUN messages nor ChannelData, or one that is too
/// long.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream does not carry TURN messages")]
pub struct NotFramed;

impl TurnFraming {
    /// Buffer to read into, with room for one message of any length.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.octets.drain(..self.handled);
        self.handled = 0;
        self.octets.reserve(MOST);
        &mut self.octets
    }

    /// Returns the next complete message, without padding.
    ///
    /// # Errors
    /// If the stream carries other data, or a message that is too long.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, NotFramed> {
        let rest = &self.octets[self.handled..];
        let &[first, _, high, low, ..] = rest else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let length = match first {
            0..=3 => STUN_HEADER + length,
            0x40..=0x4f => CHANNEL_HEADER + length,
            _ => return Err(NotFramed),
        };
        let padded = length.next_multiple_of(4);
        if padded > MOST {
            return Err(NotFramed);
        }
        if rest.len() < padded {
            return Ok(None);
        }
        let from = self.handled;
        self.handled += padded;
        Ok(Some(&self.octets[from..from + length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(framing: &mut TurnFraming) -> Result<Vec<Vec<u8>>, NotFramed> {
        let mut all = Vec::new();
        while let Some(message) = framing.next_message()? {
            all.push(message.to_vec());
        }
        Ok(all)
    }

    #[test]
    fn messages_are_whole_however_the_stream_is_cut() {
        // ChannelData of five bytes is padded to eight, STUN never is.
        let mut stream = vec![0x40, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0];
        let mut binding = vec![0, 1, 0, 4];
        binding.extend([7; 20]);
        stream.extend(&binding);
        let wanted = vec![stream[..9].to_vec(), binding];
        for cut in 0..=stream.len() {
            let mut framing = TurnFraming::default();
            framing.buffer().extend(&stream[..cut]);
            let mut found = messages(&mut framing).unwrap();
            framing.buffer().extend(&stream[cut..]);
            found.extend(messages(&mut framing).unwrap());
            assert_eq!(found, wanted, "cut after {cut}");
            assert_eq!(framing.buffer().len(), 0);
        }
    }

    #[test]
    fn an_invalid_or_long_message_ends_the_stream() {
        for start in [
            [0x16, 3, 1, 0],
            [0x50, 0, 0, 1],
            [0x40, 0, 0x10, 0],
            [0, 3, 0x10, 0],
        ] {
            let mut framing = TurnFraming::default();
            framing.buffer().extend(start);
            assert_eq!(framing.next_message(), Err(NotFramed), "{start:x?}");
        }
    }
}
