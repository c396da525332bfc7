//! Suggestions for misspelt names, and file names.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Number of names above which a list is too long. Chosen by us.
const MANY: usize = 60;

/// Returns the error "WHAT `found`: did you mean `...`? there are ...".
pub fn unknown_name<'a>(
    what: &str,
    found: &str,
    permitted: impl Iterator<Item = &'a str>,
) -> String {
    let permitted: Vec<&str> = permitted.collect();
    if permitted.is_empty() {
        return format!("{what} `{found}` here: remove it");
    }
    let near = permitted.iter().map(|name| (distance(found, name), name));
    // Chosen by us: a third of the letters may differ, or the end may be missing.
    let is_near = |(d, name): &(usize, &&str)| {
        *d <= found.chars().count().div_ceil(3) || (found.len() > 1 && name.starts_with(found))
    };
    let near = near.filter(is_near).min();
    let hint = near.map(|(_, name)| format!("did you mean `{name}`?"));
    // A suggestion replaces a long list.
    let list = (hint.is_none() || permitted.len() <= MANY).then(|| match permitted[..] {
        [only] => format!("there is {only}"),
        _ => format!("there are {}", permitted.join(", ")),
    });
    let help: Vec<String> = hint.into_iter().chain(list).collect();
    format!("{what} `{found}`: {}", help.join(" "))
}

/// Returns the number of edits between two names, where a swap of neighbours counts as
/// one (optimal string alignment, after Damerau 1964).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let least = changed.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped {
                    least.min(table[i - 2][j - 2] + 1)
                } else {
                    least
                }
            };
        }
    }
    table[a.len()][b.len()]
}

/// Keeps letters, digits and a few signs; replaces others by `_`.
pub fn file_name(system: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-+@.".contains(c);
    system
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect()
}

/// Returns a static copy of a text, for the program's own names that were read back from
/// a file. There are few, and each is stored once.
pub fn interned(name: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = known.get(name) {
        return name;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    known.insert(name);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_and_truncated_names_get_a_suggestion() {
        let told = |found| unknown_name("no key", found, ["rate", "que", "queueing"].into_iter());
        assert!(told("raet").contains("did you mean `rate`?"));
        assert!(told("queuei").contains("did you mean `queueing`?"));
        assert!(!told("xyz").contains("did you mean"));
    }

    #[test]
    fn systems_become_names_of_files() {
        assert_eq!(
            file_name("webrtc@wifi (2bdp, cubic)"),
            "webrtc@wifi__2bdp__cubic_"
        );
    }
}
