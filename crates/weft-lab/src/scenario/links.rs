//! Links of a scenario: the SPEC, keys that change it, steps in time, and the
//! way back.

use std::ops::Range;

use toml::Spanned;
use weft_experiment::LinkSetup;
use weft_links::{Capacity, LineStep, LinkSpec, Schedule};
use weft_units::Duration;

use super::file::{Link, Step, Text};
use super::place::{ScenarioError, Source};
use super::traces;

/// The link of this table: one for each trace that fits the pattern if it is
/// given one, with what stands for the star; else one for all seeds.
pub fn link(
    source: &Source,
    name: &str,
    written: &Spanned<Link>,
) -> Result<Vec<(String, LinkSetup)>, ScenarioError> {
    let table = written.get_ref();
    let there = Items::default()
        .with_spec(source, table.spec.as_ref())?
        .with_keys(table);
    let back = there.clone().with_spec(source, table.back.as_ref())?;
    let one = |star: &str| {
        let mut forward = there.with_star(star).parse(source, name, written.span())?;
        let mut backward = back.with_star(star).parse(source, name, written.span())?;
        set_steps(source, &mut forward, &table.steps)?;
        set_steps(source, &mut backward, &table.steps_back)?;
        let name = name.to_owned();
        let setup = LinkSetup {
            name,
            forward,
            backward,
        };
        Ok((star.to_owned(), setup))
    };
    let Some((pattern, span)) = there.pattern() else {
        return Ok(vec![one("")?]);
    };
    let found = traces::matching(source, pattern);
    let found = found.map_err(|message| {
        source.error(span, format!("link `{name}`: trace={pattern}: {message}"))
    })?;
    found.iter().map(|star| one(star)).collect()
}

/// Keys and values of a SPEC with their places, in order.
#[derive(Clone, Default)]
struct Items(Vec<(String, String, Range<usize>)>);

impl Items {
    fn with_spec(mut self, source: &Source, spec: Option<&Text>) -> Result<Items, ScenarioError> {
        let Some(spec) = spec else { return Ok(self) };
        let mut given: Vec<&str> = Vec::new();
        for item in spec.get_ref().split(',').map(str::trim) {
            let Some((key, value)) = item.split_once('=') else {
                let remedy = "a link is written KEY=VALUE,KEY=VALUE, such as rate=5mbit,delay=25ms";
                return Err(source.error(spec.span(), format!("\"{item}\" has no `=`: {remedy}")));
            };
            let key = key.trim();
            // What overrides stands in a table of its own; within one text
            // nobody could say which of two was meant.
            if let Some(other) = given.iter().find(|k| **k == key || Some(**k) == rival(key)) {
                let message = format!("`{other}` and `{key}` in one specification: keep one");
                return Err(source.error(spec.span(), message));
            }
            given.push(key);
            self.set(key, value.trim(), spec.span());
        }
        Ok(self)
    }

    fn with_keys(mut self, table: &Link) -> Items {
        let keys = [
            ("rate", &table.rate),
            ("trace", &table.trace),
            ("delay", &table.delay),
            ("jitter", &table.jitter),
            ("loss", &table.loss),
            ("burst-loss", &table.burst_loss),
            ("queue", &table.queue),
            ("aqm", &table.aqm),
            ("ecn", &table.ecn),
            ("burst", &table.burst),
        ];
        for (key, text) in keys {
            if let Some(text) = text {
                self.set(key, text.get_ref(), text.span());
            }
        }
        self
    }

    fn set(&mut self, key: &str, value: &str, span: Range<usize>) {
        self.0.retain(|(k, _, _)| Some(k.as_str()) != rival(key));
        let entry = (key.to_owned(), value.to_owned(), span);
        match self.0.iter_mut().find(|(k, _, _)| k == key) {
            Some(known) => *known = entry,
            None => self.0.push(entry),
        }
    }

    /// A trace that stands for many.
    fn pattern(&self) -> Option<(&str, Range<usize>)> {
        let trace = self.0.iter().find(|(key, _, _)| key == "trace")?;
        trace
            .1
            .contains('*')
            .then(|| (trace.1.as_str(), trace.2.clone()))
    }

    fn with_star(&self, star: &str) -> Items {
        let mut items = self.clone();
        let traces = items.0.iter_mut().filter(|(key, _, _)| key == "trace");
        traces.for_each(|(_, value, _)| *value = value.replace('*', star));
        items
    }

    fn parse(
        &self,
        source: &Source,
        name: &str,
        whole: Range<usize>,
    ) -> Result<LinkSpec, ScenarioError> {
        let text: Vec<String> = self.0.iter().map(|(k, v, _)| format!("{k}={v}")).collect();
        let parsed = LinkSpec::parse(&text.join(","), |file| source.read_beside(file));
        parsed.map_err(|error| {
            let guilty = error.key();
            let guilty = guilty.and_then(|key| self.0.iter().find(|(k, _, _)| k == key));
            let span = guilty.map_or(whole, |(_, _, span)| span.clone());
            source.error(span, format!("link `{name}`: {error}"))
        })
    }
}

/// The key that stands for the same as this one: either says what the capacity is.
fn rival(key: &str) -> Option<&'static str> {
    match key {
        "rate" => Some("trace"),
        "trace" => Some("rate"),
        _ => None,
    }
}

/// Steps replace rate, delay and loss from their time on.
fn set_steps(source: &Source, spec: &mut LinkSpec, steps: &[Step]) -> Result<(), ScenarioError> {
    let time = |step: &Step| step.at.get_ref().0;
    if let Some(pair) = steps
        .windows(2)
        .find(|pair| time(&pair[1]) <= time(&pair[0]))
    {
        let remedy = "this step does not begin after the one before it: sort the steps by time";
        return Err(source.error(pair[1].at.span(), remedy));
    }
    for step in steps {
        let loss = step.loss.as_ref();
        if let Some(loss) = loss.filter(|loss| loss.get_ref().0 > 1.0) {
            let remedy = "a link loses all of its packets at most: write 0% to 100%";
            return Err(source.error(loss.span(), remedy));
        }
        if step.rate.is_none() && step.delay.is_none() && loss.is_none() {
            let remedy = "this step changes nothing: give it a rate, delay or loss";
            return Err(source.error(step.at.span(), remedy));
        }
        spec.line_steps.push(LineStep {
            at: time(step),
            delay: step.delay.map(|delay| delay.0),
            loss: loss.map(|loss| loss.get_ref().0),
        });
    }
    set_schedule(source, spec, steps)
}

fn set_schedule(source: &Source, spec: &mut LinkSpec, steps: &[Step]) -> Result<(), ScenarioError> {
    let rates = steps.iter().filter_map(|s| Some((s, s.rate?.0)));
    let mut schedule: Vec<_> = rates.map(|(s, rate)| (s.at.get_ref().0, rate)).collect();
    let Some((first, _)) = schedule.first() else {
        return Ok(());
    };
    let Capacity::Constant(rate) = spec.capacity else {
        let remedy = "a trace has steps of its own: remove the rates of `steps`, or the trace";
        return Err(source.error(steps[0].at.span(), remedy));
    };
    if *first > Duration::ZERO {
        schedule.insert(0, (Duration::ZERO, rate));
    }
    let schedule = Schedule::new(schedule);
    let schedule = schedule.map_err(|e| source.error(steps[0].at.span(), e.to_string()))?;
    spec.capacity = Capacity::Schedule(schedule);
    Ok(())
}
