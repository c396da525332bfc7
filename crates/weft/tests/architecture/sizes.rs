//! Lengths of files, and numbers of fields in structures.

use crate::files;
use crate::source;

/// Maximum number of lines; split a longer file by topic.
const MOST_LINES: usize = 500;
/// Maximum number of fields; split a larger structure by owner, or state the
/// reason in its documentation.
const MOST_FIELDS: usize = 15;
const REASON: &str = "More than fifteen fields: ";

/// Returns files and structures above the limits.
pub fn too_large() -> Vec<String> {
    let files = files::sources().into_iter();
    let all = files.flat_map(|file| {
        let found = of_file(&file.text, file.is_rust()).into_iter();
        found.map(move |what| format!("{}: {what}", file.name))
    });
    all.collect()
}

fn of_file(text: &str, is_rust: bool) -> Vec<String> {
    let lines = text.lines().count();
    let long = (lines > MOST_LINES).then(|| format!("{lines} lines"));
    let structs = match is_rust {
        true => source::structs(text),
        false => Vec::new(),
    };
    let wide = structs.into_iter().filter(|(name, fields)| {
        *fields > MOST_FIELDS && !head_of(text, name).any(|line| line.contains(REASON))
    });
    let wide = wide.map(|(name, fields)| format!("`{name}` has {fields} fields"));
    long.into_iter().chain(wide).collect()
}

/// Comments and attributes directly above a structure, from the bottom up.
fn head_of<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declares = |line: &&str| {
        let (_, rest) = line.split_once("struct ").unwrap_or_default();
        !line.starts_with("//")
            && rest
                .strip_prefix(name)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let at = lines.iter().position(declares).unwrap_or_default();
    let above = lines.into_iter().take(at).rev();
    above.take_while(|line| line.starts_with("//") || line.starts_with("#["))
}

#[test]
fn files_that_are_too_large_are_found() {
    let lines = "\n".repeat(MOST_LINES);
    assert_eq!(of_file(&lines, true), [""; 0]);
    assert_eq!(of_file(&(lines + "\n"), false), ["501 lines"]);
    let fields =
        |count: usize| (0..count).map(|n| format!("/// It: so.\nf{n}: &'a [(A, B); 2],\n"));
    let of = |head: &str, count: usize| {
        let fields: String = fields(count).collect();
        let text = format!(
            "struct Wider;\n{head}#[derive(Debug)]\nstruct Wide<'a> {{\n{fields}}}\nfn f(a: u8) {{}}"
        );
        of_file(&text, true)
    };
    assert_eq!(of("", MOST_FIELDS), [""; 0]);
    assert_eq!(of("", MOST_FIELDS + 1), ["`Wide` has 16 fields"]);
    assert_eq!(
        of("/// More than fifteen fields: it is one.\n", 40),
        [""; 0]
    );
}
