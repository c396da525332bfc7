//! Outcome in words: the better of two systems, and the difference. The terminal,
//! `summary.json` and the report show these sentences.

use serde::Serialize;
use weft_units::Duration;

use super::Outcome;
use crate::figures::figure;
use crate::measure::metrics;
use crate::scenario::Variant;
use crate::statistics::{Centre, Estimate, paired};

use super::differences::verdict;
use super::single::{is_call, paths};

/// Metrics that decide, in the order of the sentences; of the two rates, the first one
/// that both systems have.
const ASKED: [&[&str]; 3] = [
    &["goodput_mbps", "throughput_mbps"],
    &["freeze_s"],
    &["e2e_ms_p95"],
];

/// System that the answer is about if several use all links.
const OURS: &str = "weft";

/// Outcome under one set of varied values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Answer {
    /// The varied values, as in the systems' names; empty without any.
    pub case: String,
    /// The result first, then the figures that support it.
    pub sentences: Vec<String>,
}

/// Two systems compared by one metric.
pub(crate) struct Contrast {
    /// Compared metric.
    pub metric: &'static str,
    /// Name of the system that it is compared with.
    pub other: String,
    /// Centre of the system that the answer is about.
    pub mine: f64,
    /// Centre of the other system.
    pub theirs: f64,
    /// Their difference, run by run.
    pub difference: Estimate,
    /// Runs in which the difference has the sign of its centre.
    pub agreeing: usize,
}

/// Both sides of an [`Answer`].
pub(crate) struct Sides<'a> {
    /// The system that the answer is about.
    pub subject: &'a str,
    /// The other system, or a name for the best of several.
    pub other: &'a str,
    /// Measured time of each run, seconds.
    pub seconds: f64,
    /// Centre of the figures.
    pub centre: Centre,
}

impl Outcome<'_> {
    /// Returns an answer for each set of varied values; empty if there is nothing to
    /// compare, as with several systems over one link each.
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        let mut cases: Vec<&[(String, String)]> = Vec::new();
        for variant in &self.scenario.variants {
            if !cases.contains(&variant.case.as_slice()) {
                cases.push(&variant.case);
            }
        }
        cases
            .into_iter()
            .filter_map(|case| self.answer(case))
            .collect()
    }

    fn answer(&self, case: &[(String, String)]) -> Option<Answer> {
        let subject = self.subject(case)?;
        let contrasts = ASKED.iter().filter_map(|names| {
            let mut names = names.iter();
            names.find_map(|metric| self.contrast(subject, metric))
        });
        let contrasts: Vec<Contrast> = contrasts.collect();
        let variant = &self.scenario.variants[subject];
        let best = self.scenario.baseline.is_none() && self.singles(case).len() > 1;
        let first = contrasts.first()?;
        let sides = Sides {
            subject: &variant.system.name,
            other: if best { BEST } else { &first.other },
            seconds: self.measured(variant).as_secs_f64(),
            centre: self.scenario.centre,
        };
        Some(Answer {
            case: case_of(variant),
            sentences: sentences(&sides, &contrasts),
        })
    }

    /// Returns the call over all links, or, if two systems do not differ in their links,
    /// the one that is not the baseline.
    fn subject(&self, case: &[(String, String)]) -> Option<usize> {
        let all = self.scenario.variants.iter().enumerate();
        let all: Vec<(usize, &Variant)> = all.filter(|(_, v)| v.case == case).collect();
        let baseline = self.baseline(all.first()?.1, ASKED[0][0]);
        let others = || all.iter().filter(|(at, _)| Some(*at) != baseline);
        let mut many = others().filter(|(_, v)| paths(v) > 1 && is_call(v));
        let ours = many.clone().find(|(_, v)| v.system.name == OURS);
        let subject = match self.singles(case).is_empty() {
            false => ours.or_else(|| many.next()),
            true if all.len() == 2 => others().next(),
            true => None,
        };
        subject.map(|(at, _)| *at)
    }

    /// Returns the time for which the flow under test runs and is measured.
    fn measured(&self, variant: &Variant) -> Duration {
        let (from, end) = (self.scenario.measure_from, self.scenario.duration());
        let flow = variant.focus.first().map(|&at| &variant.setup.flows[at]);
        let (start, stop) = flow.map_or((from, end), |flow| (flow.start, flow.stops_at(end)));
        stop.min(end).saturating_sub(start.max(from))
    }

    fn contrast(&self, here: usize, metric: &str) -> Option<Contrast> {
        let variants = &self.scenario.variants;
        let there = self.baseline(&variants[here], metric)?;
        let values = |at| self.values(at, metric);
        let other = variants[there].system.name.clone();
        let known = (here != there).then(|| (values(here), values(there)))?;
        Contrast::of(metric, other, &known.0, &known.1, self.scenario.centre)
    }
}

/// Returns the varied values, as in a variant's name.
fn case_of(variant: &Variant) -> String {
    let name = variant.name.strip_prefix(&variant.system.name);
    let inner = name.and_then(|rest| rest.strip_prefix(" (")?.strip_suffix(')'));
    match variant.case.is_empty() {
        true => String::new(),
        false => inner.unwrap_or(&variant.name).to_owned(),
    }
}

const BEST: &str = "the best single link";

impl Contrast {
    /// Compares the values of both systems by seed.
    pub(crate) fn of(
        metric: &str,
        other: String,
        here: &[Option<f64>],
        there: &[Option<f64>],
        centre: Centre,
    ) -> Option<Contrast> {
        let present =
            |values: &[Option<f64>]| -> Vec<f64> { values.iter().flatten().copied().collect() };
        let difference = paired(here, there, centre)?;
        let pairs = here.iter().zip(there);
        let agreeing = pairs.filter(|pair| match pair {
            (Some(a), Some(b)) => (a - b) * difference.centre > 0.0,
            _ => false,
        });
        Some(Contrast {
            metric: metrics::find(metric)?.name,
            other,
            mine: Estimate::of(&present(here), centre)?.centre,
            theirs: Estimate::of(&present(there), centre)?.centre,
            agreeing: agreeing.count(),
            difference,
        })
    }

    fn verdict(&self) -> &'static str {
        let better = metrics::find(self.metric).map(|metric| metric.better);
        better.map_or("unclear", |better| verdict(&self.difference, better))
    }

    fn words(&self) -> &'static Words {
        match self.metric {
            "freeze_s" => &FREEZES,
            "e2e_ms_p95" => &LATENCY,
            _ => &RATE,
        }
    }
}

/// Wording for a metric.
struct Words {
    about: &'static str,
    unit: &'static str,
    gain: &'static str,
    loss: &'static str,
    more: &'static str,
    less: &'static str,
}

const RATE: Words = Words {
    about: "what it carried",
    unit: "Mbit/s",
    gain: "it carried more",
    loss: "it carried less",
    more: "more",
    less: "less",
};
const FREEZES: Words = Words {
    about: "freezes",
    unit: "s",
    gain: "it froze less",
    loss: "it froze longer",
    more: "longer",
    less: "less",
};
const LATENCY: Words = Words {
    about: "latency",
    unit: "ms",
    gain: "its pictures arrived sooner",
    loss: "its pictures arrived later",
    more: "later",
    less: "sooner",
};

/// Returns the sentences of an [`Answer`]; empty without anything to compare.
pub(crate) fn sentences(sides: &Sides<'_>, contrasts: &[Contrast]) -> Vec<String> {
    let figures = contrasts.iter().map(|contrast| figures(sides, contrast));
    let figures: Vec<String> = figures.collect();
    result(sides, contrasts)
        .into_iter()
        .chain(figures)
        .collect()
}

/// Returns the sentence that names the better system.
fn result(sides: &Sides<'_>, contrasts: &[Contrast]) -> Option<String> {
    let Sides { subject, other, .. } = sides;
    let runs = contrasts
        .iter()
        .map(|contrast| contrast.difference.n)
        .max()?;
    if runs < 2 {
        return Some(
            "One run cannot tell a difference from chance: run more seeds, such as --seeds 20."
                .to_owned(),
        );
    }
    let with = |wanted: &[&str], of: fn(&Words) -> &'static str| -> Vec<&'static str> {
        let found = contrasts.iter().filter(|c| wanted.contains(&c.verdict()));
        found.map(|contrast| of(contrast.words())).collect()
    };
    let gains = with(&["better"], |words| words.gain);
    let losses = with(&["worse"], |words| words.loss);
    let open = with(&["unclear", "same"], |words| words.about);
    let told = match (gains.is_empty(), losses.is_empty(), open.is_empty()) {
        (true, true, true) => return None,
        (true, true, false) => {
            let list = joined(&open);
            return Some(format!(
                "These {runs} runs show no difference between {subject} and {other} in {list}."
            ));
        }
        (false, true, _) => format!("{subject} was better than {other}: {}.", joined(&gains)),
        (true, false, _) => format!("{subject} was worse than {other}: {}.", joined(&losses)),
        (false, false, _) => format!(
            "{subject} was better than {other} in some ways and worse in others: {}, but {}.",
            joined(&gains),
            joined(&losses)
        ),
    };
    let rest = match open.is_empty() {
        true => String::new(),
        false => format!(
            " These {runs} runs show no difference in {}.",
            joined(&open)
        ),
    };
    Some(told + &rest)
}

/// Returns the values of both systems, and their difference.
fn figures(sides: &Sides<'_>, contrast: &Contrast) -> String {
    let subject = sides.subject;
    let other = match sides.other == contrast.other {
        true => contrast.other.clone(),
        false => format!("{} ({})", sides.other, contrast.other),
    };
    let (mine, theirs) = (figure(contrast.mine), figure(contrast.theirs));
    let values = match contrast.metric {
        "freeze_s" if contrast.mine == 0.0 && contrast.theirs == 0.0 => {
            format!("Neither {subject} nor {other} ever froze")
        }
        "freeze_s" => {
            let frozen = |value: f64, text: &str| match value == 0.0 {
                true => "never froze".to_owned(),
                false => format!("froze for {text} s of {}", figure(sides.seconds)),
            };
            format!(
                "{subject} {}, {other} {}",
                frozen(contrast.mine, &mine),
                frozen(contrast.theirs, &theirs)
            )
        }
        "e2e_ms_p95" => format!(
            "95 % of the pictures of {subject} arrived within {mine} ms, of {other} within {theirs} ms"
        ),
        _ => format!("{subject} carried {mine} Mbit/s, {other} {theirs} Mbit/s"),
    };
    let difference = difference(contrast, sides.centre);
    match difference.is_empty() {
        true => format!("{values}."),
        false => format!("{values}: {difference}."),
    }
}

fn difference(contrast: &Contrast, centre: Centre) -> String {
    let Estimate { centre: by, n, .. } = contrast.difference;
    let Some((low, high)) = contrast.difference.interval else {
        return String::new();
    };
    let Words {
        unit, more, less, ..
    } = contrast.words();
    let side = |value: f64| if value < 0.0 { less } else { more };
    let of = match centre {
        Centre::Mean => "on average",
        Centre::Median => "in the median",
    };
    match contrast.verdict() {
        "same" => format!("the same in each of the {n} runs"),
        "unclear" => format!(
            "these {n} runs show no difference (with 95 % confidence between {} {unit} {} and {} \
             {unit} {})",
            figure(low.abs()),
            side(low),
            figure(high.abs()),
            side(high)
        ),
        _ => {
            let (least, most) = match by < 0.0 {
                true => (-high, -low),
                false => (low, high),
            };
            format!(
                "{} {unit} {} {of} (with 95 % confidence {} to {} {unit}), in {} of {n} runs",
                figure(by.abs()),
                side(by),
                figure(least),
                figure(most),
                contrast.agreeing
            )
        }
    }
}

fn joined(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests;
