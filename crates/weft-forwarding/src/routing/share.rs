use weft_units::Rate;

#[cfg(test)]
mod tests;

/// Multiple of a track's own rate that it gets before the others share the rest: more
/// than the margin at which a layer is added, and room for an encoder that exceeds its
/// target for a moment. Chosen by us.
pub(crate) const ROOM: f64 = 1.25;

/// Divides the rate of a subscriber's paths among its tracks.
///
/// Max-min fair: all get the same, except those that need less; their remainder is divided among
/// the others, and any remaining rate among all. A track without a demand, because it was not
/// measured for long enough, takes what it can get. The shares never exceed `total`.
#[must_use]
pub(crate) fn fair_shares(total: Rate, demands: &[Option<Rate>]) -> Vec<Rate> {
    let needs = demands.iter().map(|demand| demand.map(|d| d.mul_f64(ROOM)));
    let needs: Vec<Option<Rate>> = needs.collect();
    let level = total.fair_level(needs.iter().copied());
    let share = |need: Option<Rate>| need.map_or(level, |need| need.min(level));
    let shares: Vec<Rate> = needs.into_iter().map(share).collect();
    let left = total.saturating_sub(shares.iter().copied().sum());
    let each = Rate::from_bps(left.as_bps() / shares.len().max(1) as u64);
    shares.into_iter().map(|share| share + each).collect()
}
