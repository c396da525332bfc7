use super::*;

#[test]
fn commas_separate_values_unless_they_belong_to_one() {
    for (value, parts) in [
        ("10ms", &["10ms"][..]),
        ("10ms,50ms, 100ms", &["10ms", "50ms", "100ms"]),
        ("1,2.5,true", &["1", "2.5", "true"]),
        ("10ms,", &["10ms", ""]),
        ("", &[""]),
        // A SPEC is one value, and several if each is quoted.
        ("rate=1mbit,delay=5ms", &["rate=1mbit,delay=5ms"]),
        ("backup,rate=1mbit", &["backup,rate=1mbit"]),
        ("rate=1mbit,backup", &["rate=1mbit,backup"]),
        (
            "\"rate=1mbit,delay=5ms\",\"rate=2mbit\"",
            &["\"rate=1mbit,delay=5ms\"", "\"rate=2mbit\""],
        ),
        ("\"a,b.csv\"", &["\"a,b.csv\""]),
        ("'a,b.csv', c.csv", &["'a,b.csv'", "c.csv"]),
        (r#""a\",b",c"#, &[r#""a\",b""#, "c"]),
        // Lists and tables.
        ("[\"a\", \"b\"]", &["[\"a\", \"b\"]"]),
        ("{ at = \"1s\", rate = 1 }", &["{ at = \"1s\", rate = 1 }"]),
        ("[[1, 2], [\"]\", 3]]", &["[[1, 2], [\"]\", 3]]"]),
        // A missing end: a text.
        ("\"a, b", &["\"a, b"]),
        ("[1, 2", &["[1, 2"]),
        // Quotes within a text are part of it.
        ("Ann's, Bob's", &["Ann's", "Bob's"]),
        ("ä,ö", &["ä", "ö"]),
    ] {
        assert_eq!(split(value), parts, "{value}");
    }
}

#[test]
fn values_are_texts_numbers_and_truth_values() {
    for (value, written) in [
        ("10ms", "\"10ms\""),
        ("2", "2"),
        ("0.5", "0.5"),
        ("true", "true"),
        ("\"2\"", "\"2\""),
        // A date is a text.
        ("2026-01-01", "\"2026-01-01\""),
        (r"a\b", r#""a\\b""#),
    ] {
        assert_eq!(toml(value).as_deref(), Ok(written));
    }
    assert!(toml("").unwrap_err().contains("a value is empty"));
    assert!(toml("[1]").unwrap_err().contains("cannot be lists"));
}
