//! Names of systems, and patterns that select among them.

use serde::Deserialize;

/// Splits a name such as `down (1mbit, 2bdp)` into the system and the varied values.
pub fn parts(name: &str) -> (&str, &str) {
    let inner = name.strip_suffix(')');
    inner
        .and_then(|inner| inner.split_once(" ("))
        .unwrap_or((name, ""))
}

/// Returns the system as shown in tables: a controller on one link is named alone.
pub fn shown(name: &str) -> String {
    let (system, _) = parts(name);
    format!("`{}`", system.strip_prefix("single/").unwrap_or(system))
}

/// Selects systems by name: `down (0.5mbit|1mbit, *, 2bdp)`. A `*` matches the rest of a
/// part, and `|` separates alternatives. Without brackets the pattern matches every
/// varied value.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    text: String,
}

impl From<String> for Pattern {
    fn from(text: String) -> Pattern {
        Pattern { text }
    }
}

impl Pattern {
    /// Whether this system is selected.
    pub fn matches(&self, name: &str) -> bool {
        self.captures(name).is_some()
    }

    /// Returns the system, and the varied values that the `*` of the pattern match.
    pub fn captures<'a>(&self, name: &'a str) -> Option<(&'a str, Vec<&'a str>)> {
        let ((wanted, wanted_case), (system, case)) = (parts(&self.text), parts(name));
        let plain = system.strip_prefix("single/").unwrap_or(system);
        if !fits(wanted, system) && !fits(wanted, plain) {
            return None;
        }
        let values: Vec<&str> = case.split(", ").collect();
        if wanted_case.is_empty() {
            return Some((system, values));
        }
        let wanted: Vec<&str> = wanted_case.split(", ").collect();
        let pairs = || wanted.iter().zip(&values);
        let all =
            wanted.len() == values.len() && pairs().all(|(wanted, value)| fits(wanted, value));
        let open = pairs().filter(|(wanted, _)| wanted.contains('*'));
        all.then(|| (system, open.map(|(_, value)| *value).collect()))
    }

    /// Returns the name with the captures of another pattern filled in: each `*` in the
    /// brackets becomes the next value, and a `*` before them the system.
    pub fn filled(&self, (system, values): &(&str, Vec<&str>)) -> String {
        let (own, case) = parts(&self.text);
        let name = if own == "*" { system } else { own };
        if case.is_empty() {
            return name.to_owned();
        }
        let mut next = values.iter();
        let part = |part: &str| match part {
            "*" => next.next().copied().unwrap_or("*").to_owned(),
            part => part.to_owned(),
        };
        let case: Vec<String> = case.split(", ").map(part).collect();
        format!("{name} ({})", case.join(", "))
    }
}

fn fits(wanted: &str, found: &str) -> bool {
    wanted.split('|').any(|one| match one.split_once('*') {
        Some((start, end)) => {
            found.len() >= start.len() + end.len()
                && found.starts_with(start)
                && found.ends_with(end)
        }
        None => one == found,
    })
}

/// Returns a key that sorts names naturally: numbers in them by their value.
pub fn natural(name: &str) -> Vec<(u64, String)> {
    let mut parts = vec![(0_u64, String::new())];
    let mut in_number = false;
    for letter in name.chars() {
        match letter.to_digit(10) {
            Some(digit) => {
                if !in_number {
                    parts.push((0, String::new()));
                }
                let last = parts.last_mut().expect("never empty");
                last.0 = last.0.saturating_mul(10).saturating_add(digit.into());
                in_number = true;
            }
            None => {
                parts.last_mut().expect("never empty").1.push(letter);
                in_number = false;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::from(text.to_owned())
    }

    #[test]
    fn patterns_choose_systems_and_values() {
        let name = "down (1mbit, one way 15ms, 2bdp)";
        for text in [
            "down",
            "*",
            "up|down",
            "down (1mbit, *, 2bdp)",
            "d* (0.5mbit|1mbit, one*, *)",
        ] {
            assert!(pattern(text).matches(name), "{text}");
        }
        for text in [
            "up",
            "down (2mbit, *, *)",
            "down (1mbit, *)",
            "down (*, *, 10bdp|0.5bdp)",
        ] {
            assert!(!pattern(text).matches(name), "{text}");
        }
        assert!(pattern("nada").matches("single/nada (300ms)"));
    }

    #[test]
    fn stars_take_the_values_of_another_name() {
        let codel = pattern("down|up (*, *, cubic, *)");
        let found = codel.captures("up (1mbit, 25ms, cubic, first)").unwrap();
        let tail = pattern("* (*, *, 2bdp, cubic, *)");
        assert_eq!(tail.filled(&found), "up (1mbit, 25ms, 2bdp, cubic, first)");
        assert_eq!(pattern("skype").filled(&found), "skype");
    }

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["a-10", "a-9", "b", "a"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["a", "a-9", "a-10", "b"]);
    }
}
