use super::*;
use proptest::prelude::*;

#[test]
fn names_are_what_is_seen_of_what_was_typed() {
    for (typed, name) in [
        ("  Ada\t Lovelace\u{a0}", "Ada Lovelace"),
        ("hon\u{200b}est\u{2060}", "honest"),
        ("\u{202e}tsenoh\u{202c}", "tsenoh"),
        ("a\nb\r\u{85}c", "a b c"),
        ("a\u{7}\u{1b}[2Jb", "a[2Jb"),
        // Composed: e and a mark are one letter.
        ("Zoe\u{308}", "Zo\u{eb}"),
        ("e\u{200b}\u{301}", "\u{e9}"),
        ("\u{301}x", "x"),
        (
            "z\u{335}\u{336}\u{337}\u{338}\u{334}",
            "z\u{335}\u{336}\u{337}",
        ),
        // Latin letters need no joiner, but a family emoji and Persian do.
        ("ho\u{200d}nest\u{200d}", "honest"),
        ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{200d}\u{1f469}"),
        (
            "\u{645}\u{6cc}\u{200c}\u{62e}",
            "\u{645}\u{6cc}\u{200c}\u{62e}",
        ),
    ] {
        assert_eq!(participant_name(typed).as_deref(), Ok(name), "{typed:?}");
    }
    let longest = "x".repeat(64);
    assert_eq!(participant_name(&longest), Ok(longest));
    for none in ["", " \n", "\u{200b}\u{feff}", "\u{2800}", &"x".repeat(65)] {
        assert_eq!(participant_name(none), Err(JoinError::BadName), "{none:?}");
    }
}

#[test]
fn the_second_of_a_name_has_a_number_also_where_it_only_looks_the_same() {
    let mut taken = BTreeSet::new();
    let mut come = |name: &str| {
        let name = unique(&participant_name(name).unwrap(), &taken);
        taken.insert(key(&name));
        name
    };
    assert_eq!(come("honest"), "honest");
    assert_eq!(come("honest"), "honest 2");
    assert_eq!(come("Honest"), "Honest 3");
    assert_eq!(come("hon\u{200b}est"), "honest 4");
    assert_eq!(come("\u{ff48}onest"), "\u{ff48}onest 5", "full width");
    assert_eq!(come("honest 2"), "honest 2 2");
    let long = "x".repeat(64);
    assert_eq!(come(&long), long);
    assert_eq!(come(&long), "x".repeat(62) + " 2");
}

proptest! {
    #[test]
    fn a_name_is_short_seen_and_stays_as_it_is(typed in "\\PC{0,70}|[\\x00-\\x{2100}]{0,20}|.{0,20}") {
        let Ok(name) = participant_name(&typed) else { return Ok(()) };
        prop_assert!((1..=MAX_NAME).contains(&name.chars().count()));
        prop_assert!(name.chars().all(|c| is_seen(c) || joins(c)));
        prop_assert_eq!(name.trim(), &name);
        prop_assert!(!name.contains("  "));
        prop_assert_eq!(participant_name(&name), Ok(name.clone()));
        prop_assert!(!key(&name).is_empty());
    }

    #[test]
    fn no_two_of_many_names_are_the_same(typed in proptest::collection::vec("[aA\u{200d}\u{e9}e\u{301}2 ]{1,4}", 1..40)) {
        let mut taken = BTreeSet::new();
        for typed in typed {
            let Ok(name) = participant_name(&typed) else { continue };
            let name = unique(&name, &taken);
            prop_assert_eq!(participant_name(&name), Ok(name.clone()));
            prop_assert!(taken.insert(key(&name)), "{} twice", name);
        }
    }
}
