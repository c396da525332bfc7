//! Markdown page: its links and the anchors of its headings. Supports only the
//! Markdown that these pages use.

use std::collections::BTreeSet;

pub struct Page {
    pub links: Vec<Link>,
    /// Anchors in the form that mdBook derives from headings.
    pub anchors: BTreeSet<String>,
}

pub struct Link {
    /// Line number, from 1.
    pub line: usize,
    pub target: String,
}

impl Page {
    pub fn read(text: &str) -> Page {
        let mut page = Page {
            links: Vec::new(),
            anchors: BTreeSet::new(),
        };
        let mut in_code = false;
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            } else if !in_code {
                page.add(number + 1, line);
            }
        }
        page
    }

    fn add(&mut self, number: usize, line: &str) {
        if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim();
            let anchor = self.unused(anchor(title));
            self.anchors.insert(anchor);
        }
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            if let Some(end) = rest.find(')') {
                self.links.push(Link {
                    line: number,
                    target: rest[..end].to_owned(),
                });
            }
        }
    }

    /// Makes the anchor unique: the second heading with the same name gets `-1`, and so
    /// on.
    fn unused(&self, anchor: String) -> String {
        if !self.anchors.contains(&anchor) {
            return anchor;
        }
        (1..)
            .map(|n| format!("{anchor}-{n}"))
            .find(|name| !self.anchors.contains(name))
            .unwrap_or_default()
    }
}

fn anchor(title: &str) -> String {
    // Uses the text of a link, without its target.
    let mut words = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        words.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    words.push_str(rest);
    words
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

#[test]
fn anchors_are_those_of_mdbook() {
    assert_eq!(anchor("The scheduler `weft`"), "the-scheduler-weft");
    assert_eq!(
        anchor("Whether to [believe](x.md) it"),
        "whether-to-believe-it"
    );
    let page = Page::read("# A\n## B\n## B\n```\n# not [one](x)\n```\n[c](d#e)\n");
    let anchors: Vec<&str> = page.anchors.iter().map(String::as_str).collect();
    assert_eq!(anchors, ["a", "b", "b-1"]);
    assert_eq!(page.links.len(), 1);
    assert_eq!(
        (page.links[0].line, page.links[0].target.as_str()),
        (7, "d#e")
    );
}
