//! Browsers that are connected to `weft call`: their names and their pictures.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use weft_endpoint::DirectEvent;

use crate::vehicle::Pictures;

/// Connected browsers.
#[derive(Clone, Default)]
pub struct Browsers(Arc<Mutex<Present>>);

#[derive(Default)]
struct Present {
    /// Number of each viewer, for display.
    numbers: BTreeMap<String, usize>,
    pictures: Pictures,
}

impl Browsers {
    pub fn on_event(&self, event: &DirectEvent) {
        let mut present = self.lock();
        match event {
            DirectEvent::Connected { viewer } => present.add(viewer),
            DirectEvent::Frame(played) => present.pictures.on_frame(played),
            DirectEvent::Closed { viewer } => {
                present.numbers.remove(viewer);
                present.pictures.end(viewer);
            }
            _ => {}
        }
    }

    /// Ids of the viewers and their display names, in the order of their numbers.
    pub fn names(&self) -> Vec<(String, String)> {
        let present = self.lock();
        let mut numbers: Vec<(&String, &usize)> = present.numbers.iter().collect();
        numbers.sort_by_key(|(_, number)| **number);
        let named = numbers.into_iter();
        named
            .map(|(viewer, number)| (viewer.clone(), format!("Browser {number}")))
            .collect()
    }

    /// Calls this function with the pictures.
    pub fn with_pictures<T>(&self, function: impl FnOnce(&Pictures) -> T) -> T {
        function(&self.lock().pictures)
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        self.0
            .lock()
            .expect("nothing panics while it holds the browsers")
    }
}

impl Present {
    /// Assigns the lowest free number to the viewer.
    fn add(&mut self, viewer: &str) {
        let is_free = |number: &usize| !self.numbers.values().any(|taken| taken == number);
        let free = (1..).find(is_free).unwrap_or_default();
        self.numbers.entry(viewer.to_owned()).or_insert(free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_takes_the_lowest_free_number() {
        let browsers = Browsers::default();
        let viewer = str::to_owned;
        let come = |name| {
            browsers.on_event(&DirectEvent::Connected {
                viewer: viewer(name),
            })
        };
        come("c");
        come("b");
        browsers.on_event(&DirectEvent::Closed {
            viewer: viewer("c"),
        });
        come("a");
        let names = [("a", "Browser 1"), ("b", "Browser 2")];
        let names = names.map(|(id, name)| (id.to_owned(), name.to_owned()));
        assert_eq!(browsers.names(), names);
    }
}
