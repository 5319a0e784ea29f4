//! Pages that a task writes section by section, and the texts in the cells of their tables.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::TaskError;

/// Writes a section into the page, instead of the one with the same heading, and `beginning` in front of all sections.
///
/// The page is replaced as a whole, so that a task that is killed leaves the old one or the new one.
///
/// # Errors
///
/// If the page is there and cannot be read, or cannot be written.
pub(crate) fn write_section(
    page: &Path,
    beginning: &str,
    heading: &str,
    text: &str,
) -> Result<(), TaskError> {
    let before = match fs::read_to_string(page) {
        Ok(before) => before,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        // The sections that are there would be lost.
        Err(source) => return Err(TaskError::Unreadable { path: page.to_owned(), source }),
    };
    let before = with_beginning(&before, beginning);
    let new = page.with_extension("new");
    let written = fs::write(&new, with_section(&before, heading, text)).and_then(|()| fs::rename(&new, page));
    written.map_err(|source| {
        // A part of the new page that stays does no harm, and the first failure is the one to report.
        let _ = fs::remove_file(&new);
        TaskError::Unwritable { path: page.to_owned(), source }
    })
}

/// Returns a text of others as a cell of a table that shows it letter by letter: it ends no cell, no row and no page, and has no
/// markup.
pub(crate) fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        match letter {
            '\n' | '\r' => cell.push(' '),
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            // An underscore within a word marks nothing, and test names are full of them.
            '\\' | '|' | '`' | '*' | '[' | '~' => cell.extend(['\\', letter]),
            _ => cell.push(letter),
        }
    }
    cell
}

/// Returns a text of others as code in a cell of a table.
pub(crate) fn code_cell(text: &str) -> String {
    let text = marked_cell(text);
    let (mut run, mut longest) = (0, 0);
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    // A blank on either side is not shown, and keeps a backtick of the text apart from the fence.
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// Returns a text of this repository, whose markup stays, as a cell of a table.
pub(crate) fn marked_cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// Returns where each section begins: at a line with a heading of the second level that is not within a block of code.
fn section_starts(page: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        match fence {
            Some(open) => {
                let ends =
                    fence_of(line).is_some_and(|end| end.starts_with(open) && line.trim().len() == end.len());
                fence = if ends { None } else { fence };
            }
            None => fence = fence_of(line),
        }
        if fence.is_none() && line.starts_with("## ") {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

/// Returns the backticks or tildes by which a line begins or ends a block of code.
fn fence_of(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    let first = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let end = text.find(|letter| letter != first).unwrap_or(text.len());
    // Four blanks make the line code of another kind, and inline code has its end on the same line.
    let is_fence = end >= 3 && line.len() - text.len() < 4 && !(first == '`' && text[end..].contains('`'));
    is_fence.then_some(&text[..end])
}

fn with_beginning(page: &str, beginning: &str) -> String {
    match section_starts(page).first() {
        Some(first) => format!("{}\n\n{}", beginning.trim_end(), &page[*first..]),
        None => beginning.to_owned(),
    }
}

fn with_section(page: &str, heading: &str, text: &str) -> String {
    let heading = format!("## {heading}\n");
    let section = format!("{heading}\n{}\n", text.trim_end());
    let mut starts = section_starts(page).into_iter();
    let Some(start) = starts.find(|start| page[*start..].starts_with(&heading)) else {
        return format!("{}\n\n{section}", page.trim_end());
    };
    match starts.next() {
        Some(end) => format!("{}{section}\n{}", &page[..start], &page[end..]),
        None => format!("{}{section}", &page[..start]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_written_in_front_of_the_sections() {
        assert_eq!(with_beginning("", "# Page\n"), "# Page\n");
        assert_eq!(with_beginning("# Old\n\nText.\n\n## One\n\n1\n", "# Page\n"), "# Page\n\n## One\n\n1\n");
    }

    #[test]
    fn a_section_takes_the_place_of_the_one_with_its_heading() {
        let page = with_section("# Page\n\nAbout.\n", "One", "first\n");
        let page = with_section(&page, "Two", "second\n");
        assert_eq!(page, "# Page\n\nAbout.\n\n## One\n\nfirst\n\n## Two\n\nsecond\n");
        assert_eq!(
            with_section(&page, "One", "changed"),
            "# Page\n\nAbout.\n\n## One\n\nchanged\n\n## Two\n\nsecond\n"
        );
        assert_eq!(with_section(&page, "Two", "x"), "# Page\n\nAbout.\n\n## One\n\nfirst\n\n## Two\n\nx\n");
    }

    #[test]
    fn a_heading_in_a_block_of_code_is_no_section() {
        for code in ["```text\n## Two\n\n## Three\n```", "~~~~\n~~~\n## Two\n```\n## Three\n~~~~"] {
            let page = with_section("# Page\n", "One", code);
            let page = with_section(&page, "Two", "second");
            assert_eq!(page, format!("# Page\n\n## One\n\n{code}\n\n## Two\n\nsecond\n"));
            assert_eq!(with_beginning(&page, "# Page\n"), page);
            let changed = with_section(&page, "One", "changed");
            assert_eq!(changed, "# Page\n\n## One\n\nchanged\n\n## Two\n\nsecond\n", "all of it is replaced");
            assert_eq!(
                with_section(&page, "Two", "x"),
                format!("# Page\n\n## One\n\n{code}\n\n## Two\n\nx\n")
            );
        }
        let inline = "```in a line``` is not a block\n\n## Two\n\nx\n";
        assert_eq!(section_starts(inline).len(), 1);
    }

    #[test]
    fn a_text_of_others_stays_within_its_cell() {
        assert_eq!(cell("a|b\r\nc `d` <br> &amp; \\| *e* [f](g)\n"), {
            "a\\|b  c \\`d\\` &lt;br> &amp;amp; \\\\\\| \\*e\\* \\[f](g)"
        });
        assert_eq!(cell("test_one: passed (1–2)"), "test_one: passed (1–2)");
        assert_eq!(code_cell("a|b\nc"), "`a\\|b c`");
        assert_eq!(code_cell("`x` ``"), "``` `x` `` ```");
        assert_eq!(marked_cell("`a` or\n**b|c**"), "`a` or **b\\|c**");
    }

    #[test]
    fn a_page_that_cannot_be_read_keeps_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        fs::write(&page, b"# Page\n\n## One\n\n\xff\n").unwrap();
        let refused = write_section(&page, "# Page\n", "Two", "x");
        assert!(matches!(refused, Err(TaskError::Unreadable { .. })), "{refused:?}");
        assert_eq!(fs::read(&page).unwrap(), b"# Page\n\n## One\n\n\xff\n");
    }

    #[test]
    fn a_page_is_made_and_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        write_section(&page, "# Page\n", "One", "x").unwrap();
        write_section(&page, "# Page\n", "One", "y").unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), "# Page\n\n## One\n\ny\n");
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["page.md"], "nothing else is left");
    }
}
