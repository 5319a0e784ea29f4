//! Pages that a task writes section by section.

use std::fs;
use std::path::Path;

use crate::TaskError;

/// Writes a section into the page, instead of the one with the same heading, and `beginning` in front of all sections.
///
/// # Errors
///
/// If the page cannot be written.
pub(crate) fn write_section(
    page: &Path,
    beginning: &str,
    heading: &str,
    text: &str,
) -> Result<(), TaskError> {
    let before = fs::read_to_string(page).unwrap_or_default();
    let before = with_beginning(&before, beginning);
    let source = |source| TaskError::Unwritable { path: page.to_owned(), source };
    fs::write(page, with_section(&before, heading, text)).map_err(source)
}

fn with_beginning(page: &str, beginning: &str) -> String {
    let sections = page.find("\n## ").map_or("", |at| &page[at..]);
    format!("{beginning}{sections}")
}

fn with_section(page: &str, heading: &str, text: &str) -> String {
    let heading = format!("## {heading}\n");
    let section = format!("{heading}\n{}\n", text.trim_end());
    let is_start = |at: usize| at == 0 || page[..at].ends_with('\n');
    let Some(start) = page.match_indices(&heading).map(|(at, _)| at).find(|at| is_start(*at)) else {
        return format!("{}\n\n{section}", page.trim_end());
    };
    let behind = start + heading.len();
    let end = page[behind..].find("\n## ").map(|at| behind + at + 1);
    match end {
        Some(end) => format!("{}{section}\n{}", &page[..start], &page[end..]),
        None => format!("{}{section}", &page[..start]),
    }
}

#[cfg(test)]
mod tests {
    use super::{with_beginning, with_section};

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
}
