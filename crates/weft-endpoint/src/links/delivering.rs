use std::collections::BTreeMap;

use weft_session::ReceivedFrame;
use weft_units::PathId;

/// Link of every path of a connection so far.
#[derive(Debug, Default)]
pub struct PathLinks(BTreeMap<PathId, String>);

impl PathLinks {
    pub fn insert(&mut self, path: PathId, link: &str) {
        self.0.insert(path, link.to_owned());
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the links that delivered the frame, without duplicates.
    pub fn of(&self, frame: &ReceivedFrame) -> Vec<String> {
        let mut links: Vec<String> = Vec::new();
        for share in &frame.paths {
            if let Some(link) = self.0.get(&share.path)
                && !links.contains(link)
            {
                links.push(link.clone());
            }
        }
        links
    }
}
