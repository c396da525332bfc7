use super::CongestionKind;

#[test]
fn algorithms_are_read_by_the_names_that_they_print() {
    for kind in CongestionKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    let error = "vegas".parse::<CongestionKind>().expect_err("no such");
    for kind in CongestionKind::ALL {
        assert!(error.to_string().contains(kind.name()), "{error}");
    }
}
