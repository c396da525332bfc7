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
        "there is no preference `quiet`: write calm, balanced or pixels"
    );
}
