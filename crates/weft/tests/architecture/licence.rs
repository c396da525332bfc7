//! Licence expressions (SPDX 2.3 annex D), and the older `A/B` for `A OR B`.

/// Whether the `permitted` licences alone can satisfy `expression`.
pub fn permits(expression: &str, permitted: &[&str]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut parser = Parser {
        tokens: spaced.split_whitespace().collect(),
        permitted,
    };
    parser.tokens.reverse();
    let verdict = parser.alternatives();
    verdict && parser.tokens.is_empty()
}

struct Parser<'a> {
    /// In reverse order; the next token is the last.
    tokens: Vec<&'a str>,
    permitted: &'a [&'a str],
}

impl Parser<'_> {
    fn takes(&mut self, token: &str) -> bool {
        let next = self.tokens.last() == Some(&token);
        if next {
            self.tokens.pop();
        }
        next
    }

    fn alternatives(&mut self) -> bool {
        let mut verdict = self.conjunction();
        while self.takes("OR") {
            // Not short-circuited, because the tokens must be consumed.
            verdict |= self.conjunction();
        }
        verdict
    }

    fn conjunction(&mut self) -> bool {
        let mut verdict = self.licence();
        while self.takes("AND") {
            verdict &= self.licence();
        }
        verdict
    }

    fn licence(&mut self) -> bool {
        if self.takes("(") {
            return self.alternatives() & self.takes(")");
        }
        let mut name = self.tokens.pop().unwrap_or_default().to_owned();
        if self.takes("WITH") {
            let exception = self.tokens.pop().unwrap_or_default();
            name = format!("{name} WITH {exception}");
        }
        self.permitted.contains(&name.as_str())
    }
}

#[test]
fn alternatives_need_one_and_conjunctions_all() {
    let mit = ["MIT"];
    for good in [
        "MIT",
        "MIT OR GPL-3.0-only",
        "GPL-3.0-only/MIT",
        "MIT AND (GPL-3.0-only OR MIT)",
        "GPL-3.0-only AND ISC OR MIT",
    ] {
        assert!(permits(good, &mit), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "MIT WITH some-exception",
        "MIT AND",
        "(MIT",
        "MIT MIT",
        "GPL-3.0-only AND (ISC OR MIT)",
    ] {
        assert!(!permits(bad, &mit), "{bad}");
    }
    assert!(permits("A WITH b", &["A WITH b"]));
}
