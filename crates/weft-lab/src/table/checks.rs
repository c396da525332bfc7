//! `shows = "checks"`: published statements about many conditions or runs together, such
//! as an order that is true in three of four cells.

use super::error::TableError;
use super::markdown;
use super::names::Pattern;
use super::results::Summary;
use super::study::{Check, Order};
use crate::statistics::mean;

/// Returns the table; empty if no check has results.
pub fn table(set: &str, checks: &[Check], summaries: &[&Summary]) -> Result<String, TableError> {
    let mut rows = Vec::new();
    for check in checks {
        let find = |name: &str| {
            summaries
                .iter()
                .find(|each| each.scenario == format!("{set}/{name}"))
        };
        let other = check.other_scenario.as_ref().unwrap_or(&check.scenario);
        let (Some(own), Some(other)) = (find(&check.scenario), find(other)) else {
            continue;
        };
        let Some((here, agrees)) = result(check, own, other)? else {
            continue;
        };
        let verdict = if agrees { "agrees" } else { "**differs**" };
        rows.push(vec![
            check.figure.clone(),
            check.says.clone(),
            here,
            verdict.to_owned(),
        ]);
    }
    if rows.is_empty() {
        return Ok(String::new());
    }
    let holding = rows.iter().filter(|row| row[3] == "agrees").count();
    rows.push(vec![
        "**all**".to_owned(),
        String::new(),
        String::new(),
        format!("{holding} of {}", rows.len()),
    ]);
    let titles = ["figure", "published", "here", "verdict"];
    Ok(markdown::table(&titles.map(str::to_owned), &rows))
}

/// Returns our value, and whether it agrees; `None` if no condition has one.
fn result(
    check: &Check,
    own: &Summary,
    other: &Summary,
) -> Result<Option<(String, bool)>, TableError> {
    if let Some(metric) = &check.correlation {
        let runs = own.runs()?;
        let mut points = Vec::new();
        for ((system, name), values) in &runs {
            if name == &check.metric
                && let Some(others) = runs.get(&(system.clone(), metric.clone()))
            {
                points.extend(values.iter().copied().zip(others.iter().copied()));
            }
        }
        let Some(rho) = rank_correlation(&points) else {
            return Ok(None);
        };
        let agrees = is_within(check, rho);
        return Ok(Some((format!("{rho:.2} of {} runs", points.len()), agrees)));
    }
    if !check.groups.is_empty() {
        return Ok(of_groups(check, own, other));
    }
    let Some(of) = &check.of else { return Ok(None) };
    if !check.at_most.is_empty() {
        return Ok(of_order(check, of, own, other));
    }
    let values = match check.runs {
        true => {
            let runs = own.runs()?;
            let wanted = runs
                .into_iter()
                .filter(|((system, name), _)| *name == check.metric && of.matches(system));
            wanted.flat_map(|(_, values)| values).collect()
        }
        false => values(check, own, of)
            .map(|(_, value)| value)
            .collect::<Vec<f64>>(),
    };
    let within = values
        .iter()
        .filter(|value| is_within(check, **value))
        .count();
    Ok(share(
        check,
        within,
        values.len(),
        if check.runs { " runs" } else { "" },
    ))
}

fn is_within(check: &Check, value: f64) -> bool {
    check.low.is_none_or(|low| value >= low) && check.high.is_none_or(|high| value <= high)
}

/// Returns the value of each condition selected by a pattern.
fn values<'a>(
    check: &'a Check,
    summary: &'a Summary,
    of: &'a Pattern,
) -> impl Iterator<Item = (&'a str, f64)> {
    let rows = summary
        .results
        .iter()
        .filter(|row| row.metric == check.metric);
    let wanted = rows.filter(|row| of.matches(&row.system));
    wanted.filter_map(|row| Some((row.system.as_str(), value(check, summary, &row.system)?)))
}

fn value(check: &Check, summary: &Summary, system: &str) -> Option<f64> {
    let row = summary.row(system, &check.metric)?;
    match (check.widths, row.ci95) {
        (false, _) => Some(row.mean),
        (true, [Some(low), Some(high)]) => Some(high - low),
        (true, _) => None,
    }
}

fn share(check: &Check, within: usize, all: usize, what: &str) -> Option<(String, bool)> {
    let share = within as f64 / all as f64;
    let [least, most] = check.share.unwrap_or([1.0, 1.0]);
    let here = format!("{:.0} % of {all}{what}", 100.0 * share);
    (all > 0).then(|| (here, (least..=most).contains(&share)))
}

/// Returns the share of the conditions in which each value is at most the next one.
fn of_order(check: &Check, of: &Pattern, own: &Summary, other: &Summary) -> Option<(String, bool)> {
    let (mut holding, mut all) = (0, 0);
    for (name, first) in values(check, own, of) {
        let Some(captured) = of.captures(name) else {
            continue;
        };
        let next = check
            .at_most
            .iter()
            .map(|pattern| value(check, other, &pattern.filled(&captured)));
        let Some(next) = next.collect::<Option<Vec<f64>>>() else {
            continue;
        };
        let chain: Vec<f64> = [first].into_iter().chain(next).collect();
        all += 1;
        holding += usize::from(chain.windows(2).all(|pair| pair[0] <= pair[1]));
    }
    share(check, holding, all, "")
}

/// Returns the means of groups of conditions, and whether they are in order.
fn of_groups(check: &Check, own: &Summary, other: &Summary) -> Option<(String, bool)> {
    let mut means = Vec::new();
    for group in &check.groups {
        let held = |(name, found): (&str, f64)| match &group.over {
            Some(over) => {
                let captured = group.of.captures(name)?;
                Some(found / value(check, other, &over.filled(&captured))?)
            }
            None => Some(found),
        };
        means.push(mean(values(check, own, &group.of).filter_map(held))?);
    }
    let ordered = match check.order {
        Some(Order::Falling) => means.windows(2).all(|pair| pair[1] < pair[0]),
        Some(Order::FirstGreatest) => means.iter().all(|value| *value <= means[0]),
        None => true,
    };
    let texts: Vec<String> = means.iter().map(|value| format!("{value:.2}")).collect();
    let agrees = ordered && means.iter().all(|value| is_within(check, *value));
    Some((texts.join(", "), agrees))
}

/// Returns Spearman's rank correlation (Spearman 1904); `None` with fewer than two
/// points, or if all values of one side are equal.
fn rank_correlation(points: &[(f64, f64)]) -> Option<f64> {
    let first: Vec<f64> = points.iter().map(|point| point.0).collect();
    let second: Vec<f64> = points.iter().map(|point| point.1).collect();
    let (a, b) = (ranks(&first), ranks(&second));
    let (mean_a, mean_b) = (mean(a.iter().copied())?, mean(b.iter().copied())?);
    let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    let spread = (product(&a, mean_a, &a, mean_a) * product(&b, mean_b, &b, mean_b)).sqrt();
    (spread > 0.0).then(|| product(&a, mean_a, &b, mean_b) / spread)
}

/// Returns positions in the sorted order; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let up_to = sorted.partition_point(|other| other <= value);
        (below + up_to) as f64 / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::rank_correlation;

    #[test]
    fn ranks_correlate_whatever_the_scale() {
        let rising = [(1.0, 1.0), (2.0, 10.0), (3.0, 1000.0)];
        assert_eq!(rank_correlation(&rising), Some(1.0));
        let falling = rising.map(|(a, b)| (a, -b));
        assert_eq!(rank_correlation(&falling), Some(-1.0));
        // Calculated by hand: ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4.
        let tied = [(1.0, 1.0), (2.0, 3.0), (2.0, 2.0), (3.0, 4.0)];
        let rho = rank_correlation(&tied).unwrap();
        assert!((rho - 4.5 / (4.5_f64 * 5.0).sqrt()).abs() < 1e-12, "{rho}");
        assert_eq!(rank_correlation(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }
}
