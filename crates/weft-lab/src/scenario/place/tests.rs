use super::{Source, explained};

fn source() -> Source {
    let set = ["x=1".to_owned(), "links.a.queue=2bdp".to_owned()];
    Source::new("a.toml", "title = \"ä\"\n\tfoo = 1\n", &set).unwrap()
}

#[test]
fn a_place_has_line_column_and_the_line_itself() {
    let at = source().text.find("foo").unwrap();
    let error = source().error(at..at + 3, "bad");
    assert_eq!(error.at, Some((2, 2)));
    assert_eq!(
        error.to_string(),
        "a.toml:2:2: bad\n  |\n2 | \tfoo = 1\n  | \t^^^"
    );
}

#[test]
fn columns_are_characters() {
    let at = source().text.find("\"\n").unwrap();
    assert_eq!(source().error(at..at + 1, "bad").at, Some((1, 11)));
}

#[test]
fn a_place_behind_the_text_is_an_argument() {
    let source = source();
    let at = source.arguments[1].toml.find("2bdp").unwrap();
    let error = source.error(at..at + 1, "bad");
    assert_eq!(error.to_string(), "--set links.a.queue=\"2bdp\": bad");
    let at = source.arguments[0].toml.find('x').unwrap();
    assert_eq!(
        source.error(at..at + 1, "bad").to_string(),
        "--set x=1: bad"
    );
}

#[test]
fn the_nearest_name_is_offered() {
    let told = explained("unknown field `dely`, expected one of `rate`, `delay`, `loss`");
    assert_eq!(
        told,
        "there is no field `dely`: did you mean `delay`? there are rate, delay, loss"
    );
    let told = explained("unknown variant `vegas`, expected `cubic` or `reno`");
    assert_eq!(told, "there is no `vegas`: there are cubic, reno");
    assert_eq!(explained("missing field `kind`"), "missing field `kind`");
}

#[test]
fn keys_in_the_wrong_place_are_reported_with_the_right_ones() {
    let told = explained("invalid type: string \"abc\", expected u32");
    assert_eq!(
        told,
        "\"abc\" is not valid here: write a whole number, such as 5"
    );
    let told = explained("invalid type: string \"weft\", expected a sequence");
    assert!(
        told.starts_with("\"weft\" is not valid here: write a list"),
        "{told}"
    );
    let told = explained("invalid value: integer `-1`, expected u32");
    assert!(
        told.starts_with("`-1` is not valid here: write a whole number"),
        "{told}"
    );
}
