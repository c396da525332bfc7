use super::Preference;

#[test]
fn every_name_is_read_and_any_other_answered_with_them() {
    for preference in Preference::ALL {
        assert_eq!(preference.name().parse(), Ok(preference));
    }
    let error = "quiet".parse::<Preference>().expect_err("no such one");
    let said = error.to_string();
    assert_eq!(
        said,
        "`quiet` cannot be preferred; write calm, balanced or pixels"
    );
}

#[test]
fn the_calmer_the_more_cautious() {
    let [calm, balanced, pixels] = Preference::ALL.map(Preference::caution);
    assert!(calm.danger < balanced.danger);
    assert!(calm.copies_for > balanced.copies_for && balanced.copies_for > pixels.copies_for);
    let caps = [calm, balanced].map(|caution| caution.cap.expect("a cap"));
    assert!(caps[0].growth < caps[1].growth && caps[0].least < caps[1].least);
    assert!(pixels.cap.is_none());
}
