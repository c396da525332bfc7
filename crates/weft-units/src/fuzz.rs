//! Splits fuzz inputs into sequences of packets, calls or time steps.

/// Splits the bytes into records: a length byte, an action byte, and the
/// content.
pub fn records(data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let [len, how, tail @ ..] = rest else {
            return None;
        };
        let (content, tail) = tail.split_at(tail.len().min(usize::from(*len)));
        rest = tail;
        Some((*how, content))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_record_has_what_is_left() {
        let all: Vec<_> = records(&[1, 7, 70, 0, 8, 9, 9, 90]).collect();
        assert_eq!(all, [(7, &[70][..]), (8, &[]), (9, &[90])]);
        assert_eq!(records(&[5]).count(), 0);
    }
}
