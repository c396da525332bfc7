//! How fuzz targets read their input where it stands for many: of packets, of
//! calls, of time that passes.

/// Cuts the bytes into records: each is a byte of length, a byte that says what
/// to do, and the content.
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
