//! Division of a camera's rate among its encodings.

use weft_units::Rate;

/// Lowest rate of an encoding, as a share of its highest: libwebrtc's table has 20 to 30
/// % for the sizes 180p, 360p and 720p (simulcast.cc).
const LEAST: f64 = 0.25;
/// Factor by which the rate must exceed the lowest rate before a disabled encoding is
/// enabled again (libwebrtc, `kDefaultHysteresis` of rate_control_settings.cc).
const HYSTERESIS: f64 = 1.2;

/// Encoding of a camera.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulcastEncoding {
    /// Highest rate.
    pub most: Rate,
    /// Whether anybody watches it. An unwatched encoding gets no rate.
    pub is_wanted: bool,
    /// Current rate; zero if it is off.
    pub present: Rate,
}

/// Returns the rate of each encoding, the smallest first: a smaller encoding gets its
/// highest rate before a larger one is on. The smallest watched encoding is always on.
/// libwebrtc uses the same rule (simulcast_rate_allocator.cc); the target of an encoding
/// there is its highest rate here.
#[must_use]
pub fn simulcast_rates(total: Rate, encodings: &[SimulcastEncoding]) -> Vec<Rate> {
    let mut left = total;
    let mut is_first = true;
    let rate = |encoding: &SimulcastEncoding| {
        if !encoding.is_wanted {
            return Rate::ZERO;
        }
        let factor = match encoding.present {
            Rate::ZERO => HYSTERESIS,
            _ => 1.0,
        };
        let is_on = std::mem::take(&mut is_first) || left >= encoding.most.mul_f64(LEAST * factor);
        if !is_on {
            // All larger encodings are off as well.
            left = Rate::ZERO;
            return Rate::ZERO;
        }
        let rate = left.min(encoding.most);
        left = left.saturating_sub(rate);
        rate
    };
    encodings.iter().map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kbps(rate: u64) -> Rate {
        Rate::from_kbps(rate)
    }

    /// Rates for the page's three encodings; `present` holds their current rates.
    fn rates(total: u64, present: [u64; 3], wanted: [bool; 3]) -> Vec<Rate> {
        let most = [150, 500, 2_500].map(kbps);
        let encodings = [0, 1, 2].map(|place| SimulcastEncoding {
            most: most[place],
            is_wanted: wanted[place],
            present: kbps(present[place]),
        });
        simulcast_rates(kbps(total), &encodings)
    }

    #[test]
    fn smaller_encodings_are_filled_first() {
        let all = [true; 3];
        let on = [1; 3];
        assert_eq!(rates(4_000, on, all), [150, 500, 2_500].map(kbps));
        assert_eq!(rates(1_275, on, all), [150, 500, 625].map(kbps));
        assert_eq!(rates(1_274, on, all), [150, 500, 0].map(kbps));
        assert_eq!(rates(274, on, all), [150, 0, 0].map(kbps));
        assert_eq!(rates(10, on, all), [10, 0, 0].map(kbps));
    }

    #[test]
    fn an_encoding_that_was_off_needs_a_margin() {
        let all = [true; 3];
        assert_eq!(rates(1_399, [1, 1, 0], all), [150, 500, 0].map(kbps));
        assert_eq!(rates(1_400, [1, 1, 0], all), [150, 500, 750].map(kbps));
    }

    #[test]
    fn encodings_that_nobody_watches_take_nothing() {
        let on = [1; 3];
        assert_eq!(rates(900, on, [false, true, true]), [0, 500, 0].map(kbps));
        assert_eq!(rates(900, on, [false, false, true]), [0, 0, 900].map(kbps));
        assert_eq!(rates(900, on, [false; 3]), [0; 3].map(kbps));
    }
}
