//! Extends 16-bit sequence numbers to numbers that do not wrap.

const CYCLE: u64 = 1 << 16;

/// Returns the number with these low 16 bits that is nearest to the highest one so far.
/// At a distance of exactly half a cycle it is the older one.
///
/// The first number is in the second cycle, so that an older packet after it
/// still has a number.
#[must_use]
pub fn extend(previous_highest: Option<u64>, sequence: u16) -> u64 {
    let Some(highest) = previous_highest else {
        return CYCLE + u64::from(sequence);
    };
    let ahead = sequence.wrapping_sub(highest as u16).cast_signed();
    match highest.checked_add_signed(i64::from(ahead)) {
        Some(extended) => extended,
        // At either end of u64 only the other neighbour exists.
        None if ahead < 0 => highest + CYCLE - u64::from(ahead.unsigned_abs()),
        None => highest - CYCLE + u64::from(ahead.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests;
