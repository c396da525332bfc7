use weft_units::Rate;

#[cfg(test)]
mod tests;

/// What a track is given over its own rate before the others share the rest:
/// more than the margin at which a layer is added, and room for an encoder
/// that is over its target for a moment. Chosen by us.
const ROOM: f64 = 1.25;

/// Divides what a subscriber's way carries among its tracks.
///
/// Max-min fair: everybody gets the same, but for those who need less; what
/// they leave is divided among the others, and what nobody needs among all. A
/// track without a demand, since too little was seen of it, takes what it can
/// get. The shares never add up to more than `total`.
#[must_use]
pub fn fair_shares(total: Rate, demands: &[Option<Rate>]) -> Vec<Rate> {
    let need = |demand: &Option<Rate>| demand.map(|d| d.mul_f64(ROOM).as_bps());
    let needs: Vec<Option<u64>> = demands.iter().map(need).collect();
    let mut order: Vec<usize> = (0..needs.len()).collect();
    // Who needs least is served first; without a demand, last.
    order.sort_by_key(|i| (needs[*i].is_none(), needs[*i]));
    let mut shares = vec![0; needs.len()];
    let mut left = total.as_bps();
    for (served, &index) in order.iter().enumerate() {
        let equal = left / (order.len() - served) as u64;
        shares[index] = needs[index].map_or(equal, |need| need.min(equal));
        left -= shares[index];
    }
    let each = left / shares.len().max(1) as u64;
    shares
        .into_iter()
        .map(|s| Rate::from_bps(s + each))
        .collect()
}
