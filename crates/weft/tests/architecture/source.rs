//! Minimal parser of Rust for the imports of a module.

/// Import from another module.
pub struct Import {
    /// Path as written.
    pub path: Vec<String>,
    /// Local name.
    pub name: String,
    /// Whether it is re-exported.
    pub is_public: bool,
}

/// Returns the text of a file without comments, string contents, tests and documentation
/// examples.
pub fn for_use(text: &str) -> String {
    let mut text = without_words(text);
    while let Some(at) = next_left_out(&text) {
        let end = end_of_item(&text, at);
        text.replace_range(at..end, "");
    }
    text
}

/// Returns the declared modules that have their own files.
pub fn modules(text: &str) -> Vec<String> {
    let words = words(text);
    let declared = words.windows(3).filter(|w| w[0] == "mod" && w[2] == ";");
    declared.map(|w| w[1].to_owned()).collect()
}

/// Returns the names imported by `use`, and paths from the crate's root or a parent
/// module. Paths into child modules are not imports.
pub fn imports(text: &str) -> Vec<Import> {
    let words = words(text);
    let mut imports = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let mut begin = at;
        at += 1;
        match words[begin] {
            "use" => {
                let end = (at..words.len()).find(|i| words[*i] == ";");
                let end = end.unwrap_or(words.len());
                let is_public = is_public(&words[..begin]);
                expand(&mut &words[at..end], &[], &mut |path, name| {
                    imports.push(Import {
                        path,
                        name,
                        is_public,
                    });
                });
                at = end;
            }
            // The path in `pub(in ..)` is not an import.
            first @ ("crate" | "super" | "self") if begin == 0 || words[begin - 1] != "in" => {
                let mut path = vec![first.to_owned()];
                while words.get(begin + 1) == Some(&"::")
                    && words.get(begin + 2).is_some_and(|word| is_name(word))
                {
                    path.push(words[begin + 2].to_owned());
                    begin += 2;
                }
                at = begin + 1;
                let name = path[path.len() - 1].clone();
                imports.extend((path.len() > 1).then_some(Import {
                    path,
                    name,
                    is_public: false,
                }));
            }
            _ => {}
        }
    }
    imports
}

/// Returns structures with named fields, and the number of their fields.
pub fn structs(text: &str) -> Vec<(String, usize)> {
    let plain = without_words(text);
    let words = words(&plain);
    let declared = words
        .windows(2)
        .enumerate()
        .filter(|(_, w)| w[0] == "struct");
    let declared = declared.filter_map(|(at, w)| {
        let rest = &words[at + 2..];
        let body = rest.iter().position(|word| ["{", ";"].contains(word))?;
        (rest[body] == "{").then(|| (w[1].to_owned(), fields(&rest[body..])))
    });
    declared.collect()
}

/// Whether a structure or enumeration with this name is declared here.
pub fn declares(text: &str, name: &str) -> bool {
    let words = words(text);
    let mut pairs = words.windows(2);
    pairs.any(|w| ["struct", "enum", "trait"].contains(&w[0]) && w[1] == name)
}

/// Counts colons inside the first braces, except in nested ones.
fn fields(words: &[&str]) -> usize {
    let mut depth = 0;
    let mut fields = 0;
    for word in words {
        match *word {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            ":" if depth == 1 => fields += 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    fields
}

/// Whether these words end with `pub` or `pub(...)`.
fn is_public(before: &[&str]) -> bool {
    match before.last() {
        Some(&")") => {
            let open = before.iter().rposition(|w| *w == "(");
            open.is_some_and(|open| open > 0 && before[open - 1] == "pub")
        }
        last => last == Some(&"pub"),
    }
}

/// Calls `found` with one path for each name in a `use` tree.
fn expand(tree: &mut &[&str], prefix: &[String], found: &mut impl FnMut(Vec<String>, String)) {
    let mut path = prefix.to_vec();
    while let Some((word, rest)) = tree.split_first() {
        *tree = rest;
        match *word {
            "{" => {
                while !tree.is_empty() && tree.first() != Some(&"}") {
                    expand(tree, &path, found);
                }
                *tree = tree.get(1..).unwrap_or_default();
                if tree.first() == Some(&",") {
                    *tree = &tree[1..];
                }
                return;
            }
            "," => break,
            "::" => {}
            "as" => {
                let name = tree.first().copied().unwrap_or("_").to_owned();
                *tree = tree.get(1..).unwrap_or_default();
                if tree.first() == Some(&",") {
                    *tree = &tree[1..];
                }
                return found(path, name);
            }
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
        if tree.first() == Some(&"}") {
            break;
        }
    }
    if let Some(name) = path.last().cloned() {
        found(path, name);
    }
}

/// Splits the text into names, `::` and single characters.
pub fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            c if is_letter(c) => rest.find(|c| !is_letter(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            other => other.len_utf8(),
        };
        words.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    words
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the text without comments and without the contents of strings and characters.
fn without_words(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '"' {
            plain.push_str("\"\"");
            string(rest)
        } else if raw_hashes(rest).is_some() && !plain.ends_with(is_letter) {
            plain.push_str("\"\"");
            let hashes = raw_hashes(rest).unwrap_or_default();
            let end = format!("\"{}", "#".repeat(hashes));
            let open = hashes + 2;
            rest[open..]
                .find(&end)
                .map_or(rest.len(), |at| open + at + end.len())
        } else if let Some(len) = character(rest) {
            len
        } else {
            plain.push(c);
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    plain
}

/// Returns the length in octets of the string literal at the start.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Returns the number of hashes of the raw string at the start.
fn raw_hashes(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?;
    let quote = hashes.find(|c| c != '#')?;
    hashes[quote..].starts_with('"').then_some(quote)
}

/// Returns the length in octets of the character literal at the start; `None` for a
/// lifetime.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let mut chars = inner.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        return inner[2..].find('\'').map(|end| end + 4);
    }
    let (at, next) = chars.next()?;
    (next == '\'').then_some(at + 2)
}

/// Returns the position of the next attribute that excludes its item from the program.
fn next_left_out(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find("#[cfg(").map(|at| from + at) {
        let end = text[at..].find(']').map_or(text.len(), |end| at + end);
        let condition = words(&text[at..end]);
        let left_out = condition.iter().any(|w| ["test", "doc"].contains(w));
        if left_out && !condition.contains(&"not") {
            return Some(at);
        }
        from = end;
    }
    None
}

/// Returns the end of the item, field or statement after the attribute at `at`.
fn end_of_item(text: &str, at: usize) -> usize {
    const ITEMS: [&str; 12] = [
        "mod", "use", "fn", "impl", "struct", "enum", "const", "static", "type", "trait", "unsafe",
        "async",
    ];
    let mut begin = at;
    while text[begin..].starts_with("#[") {
        let end = text[begin..]
            .find(']')
            .map_or(text.len(), |end| begin + end + 1);
        begin = end + text[end..].len() - text[end..].trim_start().len();
    }
    let head: Vec<&str> = words(text[begin..].lines().next().unwrap_or_default());
    let keyword = head
        .iter()
        .find(|w| is_name(w) && !["pub", "crate", "super", "in", "self"].contains(w));
    let is_item = keyword.is_some_and(|word| ITEMS.contains(word));
    let mut depth = 0_i32;
    for (offset, c) in text[begin..].char_indices() {
        let end = begin + offset + c.len_utf8();
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                if depth < 0 {
                    return end - 1;
                }
                if depth == 0 && c == '}' && is_item && head.first() != Some(&"use") {
                    return end;
                }
            }
            ';' if depth == 0 => return end,
            ',' if depth == 0 && !is_item => return end,
            _ => {}
        }
    }
    text.len()
}
