//! Tables in a page: each is between a line `<!-- table NAME -->` and a line
//! `<!-- end -->`.

use super::error::TableError;

const END: &str = "<!-- end -->";

/// A printed table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// Name in the study.
    pub name: String,
    /// Heading.
    pub title: String,
    /// Table as Markdown, with its explanation.
    pub text: String,
}

/// Returns the page with these tables between their marker lines. Markers of other
/// tables keep their text; `name` is the page's name in errors.
///
/// # Errors
/// If the page has markers for none of the tables.
pub fn replaced(page: &str, name: &str, tables: &[Printed]) -> Result<String, TableError> {
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    let mut found = false;
    while let Some((before, after)) = rest.split_once("<!-- table ") {
        let parts = after.split_once(" -->").zip(after.split_once(END));
        let Some(((own, old), (_, behind))) = parts else {
            break;
        };
        let old = old.split_once(END).map_or(old, |(old, _)| old);
        let table = tables.iter().find(|table| table.name == own);
        found |= table.is_some();
        let new = table.map_or_else(|| old.to_owned(), |table| format!("\n\n{}\n", table.text));
        text += &format!("{before}<!-- table {own} -->{new}{END}");
        rest = behind;
    }
    match found {
        true => Ok(text + rest),
        false => Err(TableError::Page(name.to_owned())),
    }
}
