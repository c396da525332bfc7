//! Packets of a session while they are on their way.

use weft_session::Protocol;

/// Holds each packet once, however many paths it travels, until its last copy
/// has ended.
#[derive(Default)]
pub(super) struct Store {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

struct Entry {
    protocol: Protocol,
    bytes: Vec<u8>,
    copies: u32,
}

impl Store {
    /// Keeps a packet that is sent `copies` times.
    pub fn keep(&mut self, protocol: Protocol, bytes: Vec<u8>, copies: u32) -> u32 {
        let entry = Entry {
            protocol,
            bytes,
            copies,
        };
        match self.free.pop() {
            Some(key) => {
                self.entries[key as usize] = entry;
                key
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        }
    }

    pub fn get(&self, key: u32) -> (Protocol, &[u8]) {
        let entry = &self.entries[key as usize];
        (entry.protocol, &entry.bytes)
    }

    /// One copy has ended. Gives the packet's memory back with the last.
    pub fn release(&mut self, key: u32) -> Option<Vec<u8>> {
        let entry = &mut self.entries[key as usize];
        entry.copies -= 1;
        (entry.copies == 0).then(|| {
            self.free.push(key);
            std::mem::take(&mut entry.bytes)
        })
    }
}
