//! Formatting of numbers for display.

/// Formats three significant figures; whole numbers stay whole. The report uses the same
/// rules (`web/report/figures.ts`), so that a figure looks the same everywhere.
#[must_use]
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e6 {
        return format!("{value:.0}");
    }
    let digits = match size {
        s if s >= 100.0 => 0,
        s if s >= 10.0 => 1,
        s if s >= 1.0 => 2,
        s if s >= 0.01 => 3,
        _ => 5,
    };
    let text = format!("{value:.digits$}");
    match digits > 2 {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_figures_matter() {
        for (value, text) in [
            (0.0, "0"),
            (20.0, "20"),
            (2617.4, "2617"),
            (94.26, "94.3"),
            (7.378, "7.38"),
            (4.1, "4.10"),
            (0.187, "0.187"),
            (0.1, "0.1"),
            (0.00123, "0.00123"),
            (-0.5, "-0.5"),
            (0.000001, "0"),
        ] {
            assert_eq!(figure(value), text);
        }
    }
}
