//! Several traces instead of one: `trace=FOLDER/*_wifi.csv`. Seed 1 plays the first of
//! them, seed 2 the second, and so on.

use std::path::Path;

use weft_experiment::{LinkSetup, Setup};

use super::place::Source;

/// Returns the texts matched by the star in file names, in order.
pub fn matching(source: &Source, pattern: &str) -> Result<Vec<String>, String> {
    let path = Path::new(pattern);
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new("")).to_string_lossy();
    let Some((before, after)) = name
        .split_once('*')
        .filter(|(_, after)| !after.contains('*'))
    else {
        return Err("a pattern has one `*`, in the name of the file".into());
    };
    if folder.contains('*') {
        return Err("a pattern has one `*`, in the name of the file".into());
    }
    let listed = source.list_beside(&folder);
    let place = match folder.is_empty() {
        true => "the folder of the scenario or this one".to_owned(),
        false => format!("{folder}/"),
    };
    if let [Err(_), Err(error)] = &listed {
        return Err(format!("{place} cannot be listed: {error}: check the path"));
    }
    let fitting = |names: Vec<String>| -> Vec<String> {
        let parts = names.iter();
        let parts = parts.filter_map(|name| name.strip_prefix(before)?.strip_suffix(after));
        parts.map(str::to_owned).collect()
    };
    let mut each = listed.into_iter().flatten().map(fitting);
    let mut found = each.find(|found| !found.is_empty()).unwrap_or_default();
    found.sort_by(|a, b| by_number(a, b));
    match found.is_empty() {
        true => Err(format!(
            "no file in {place} has such a name: check the path"
        )),
        false => Ok(found),
    }
}

/// Orders `7_1` before `11_4`: runs of digits count as numbers.
fn by_number(a: &str, b: &str) -> std::cmp::Ordering {
    let parts = |text: &str| -> Vec<(u64, String)> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, others) = rest.split_at(digits);
            let words = others
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(others.len());
            parts.push((
                number.parse().unwrap_or(u64::MAX),
                others[..words].to_owned(),
            ));
            rest = &others[words..];
        }
        parts
    };
    parts(a).cmp(&parts(b)).then_with(|| a.cmp(b))
}

/// Links by seed: the name of each trace, and the links that play it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traces(Vec<(String, Vec<LinkSetup>)>);

impl Traces {
    /// Pairs the links' traces by the text that the star matches. A trace without a
    /// counterpart is an error that names both links.
    pub fn pair(links: &[Vec<(String, LinkSetup)>]) -> Result<Traces, String> {
        let is_many = |link: &&Vec<(String, LinkSetup)>| !(link.len() == 1 && link[0].0.is_empty());
        let Some(first) = links.iter().find(is_many) else {
            return Ok(Traces::default());
        };
        let mut all = Vec::new();
        for (star, _) in first {
            let mut chosen = Vec::new();
            for link in links {
                let own = link.iter().find(|(name, _)| name == star);
                let constant = (!is_many(&link)).then(|| &link[0]);
                let Some((_, setup)) = own.or(constant) else {
                    return Err(unpaired(star, &first[0].1.name, &link[0].1.name));
                };
                chosen.push(setup.clone());
            }
            all.push((star.clone(), chosen));
        }
        for link in links.iter().filter(is_many) {
            if let Some((star, setup)) = link.iter().find(|(s, _)| first.iter().all(|f| f.0 != *s))
            {
                return Err(unpaired(star, &setup.name, &first[0].1.name));
            }
        }
        Ok(Traces(all))
    }

    /// Iterates over their names; empty if the links are the same for every seed.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Iterates over the links of each seed, if they differ.
    pub(super) fn setups(&self) -> impl Iterator<Item = &[LinkSetup]> {
        self.0.iter().map(|(_, links)| links.as_slice())
    }

    /// Returns the setup with the links of this seed; the first trace follows the last
    /// one.
    #[must_use]
    pub fn of(&self, setup: &Setup, seed: u64) -> Setup {
        let mut setup = setup.clone();
        if !self.0.is_empty() {
            let index = seed.saturating_sub(1) as usize % self.0.len();
            setup.links.clone_from(&self.0[index].1);
        }
        setup
    }
}

fn unpaired(star: &str, of: &str, missing: &str) -> String {
    format!(
        "link `{of}` has a trace for `{star}` and link `{missing}` has none: the same text must \
         stand for the star in both"
    )
}

#[cfg(test)]
mod tests;
