//! The differences between a passage and a search text, and new lines adapted to the passage.

use std::borrow::Cow;
use std::ops::Range;

use super::MatchRule;
use super::haystack::{WHITESPACE, is_curly, straight};
use crate::Source;

/// The widths that a tab may have.
const TAB_WIDTHS: [usize; 4] = [4, 2, 8, 3];

/// The form of a passage where it differs from that of the search text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    trailing_whitespace: bool,
    quotes: Quotes,
    indentation: Indentation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Quotes {
    #[default]
    Same,
    /// The search text has curly ones, so the new lines may have been given some as well.
    CurlyInSearch,
    /// The file has curly ones.
    CurlyInFile,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Indentation {
    #[default]
    Same,
    /// The lines of the file are those of the search text with this prefix.
    Deeper(String),
    /// The lines of the search text are those of the file with this prefix.
    Shallower(String),
    /// The file has a tab where the search text has this many spaces.
    Tabs(usize),
    /// The file has this many spaces where the search text has a tab.
    Spaces(usize),
}

impl Form {
    /// Compares a passage, given by 0-based line indexes, with the lines of a search text; `None` if they differ by more
    /// than the rules allow.
    pub(super) fn between(
        source: &Source<'_>,
        passage: Range<usize>,
        search: &[&str],
        rules: &[MatchRule],
    ) -> Option<Form> {
        let mut form = Form::default();
        let mut indents: Vec<(String, &str)> = Vec::new();
        for (line_index, wanted) in passage.zip(search) {
            let line = source.line_text(line_index + 1)?;
            let (line_body, wanted_body) =
                (line.trim_end_matches(WHITESPACE), wanted.trim_end_matches(WHITESPACE));
            form.trailing_whitespace |= line[line_body.len()..] != wanted[wanted_body.len()..];
            if line_body.is_empty() && wanted_body.is_empty() {
                continue;
            }
            let (indent, line_body) = split_indent(line_body);
            let (wanted_indent, wanted_body) = split_indent(wanted_body);
            if line_body != wanted_body {
                if straight(line_body) != straight(wanted_body) {
                    return None;
                }
                form.quotes =
                    if wanted_body.contains(is_curly) { Quotes::CurlyInSearch } else { Quotes::CurlyInFile };
            }
            indents.push((indent.to_owned(), wanted_indent));
        }
        form.indentation = indentation(&indents)?;
        form.rules().iter().all(|rule| rules.contains(rule)).then_some(form)
    }

    /// Returns the differences, in the order of [`MatchRule::ALL`].
    pub(super) fn rules(&self) -> Vec<MatchRule> {
        let indentation = match self.indentation {
            Indentation::Same => None,
            Indentation::Deeper(_) | Indentation::Shallower(_) => Some(MatchRule::Indentation),
            Indentation::Tabs(_) | Indentation::Spaces(_) => Some(MatchRule::TabsAndBlanks),
        };
        let trailing = self.trailing_whitespace.then_some(MatchRule::TrailingBlanks);
        let quotes = (self.quotes != Quotes::Same).then_some(MatchRule::Quotes);
        [trailing, indentation, quotes].into_iter().flatten().collect()
    }

    /// Writes a new line in the form of the passage; `None` if it has less indentation than has to be removed, or spaces that do
    /// not make whole tabs of the file.
    pub(super) fn line<'l>(&self, line: &'l str) -> Option<Cow<'l, str>> {
        let line = if self.quotes == Quotes::CurlyInSearch { straight(line) } else { Cow::Borrowed(line) };
        let has_other_kind = matches!(self.indentation, Indentation::Tabs(_) | Indentation::Spaces(_));
        if line.trim_matches(WHITESPACE).is_empty() && !has_other_kind {
            return Some(line);
        }
        let (indent, body) = split_indent(&line);
        Some(match &self.indentation {
            Indentation::Same => line,
            Indentation::Deeper(more) => Cow::Owned(format!("{more}{line}")),
            Indentation::Shallower(less) => Cow::Owned(line.strip_prefix(less.as_str())?.to_owned()),
            // Spaces that are not a whole number of tabs did not replace tabs: what the file would have there is unknown.
            Indentation::Tabs(width)
                if !indent.contains('\t') && !columns(indent, *width).is_multiple_of(*width) =>
            {
                return None;
            }
            Indentation::Tabs(_) | Indentation::Spaces(_) => {
                Cow::Owned(format!("{}{body}", self.indentation.written(indent)))
            }
        })
    }
}

/// The fewest lines indented like the search text, but unlike the match, that make an indentation ambiguous.
const MIXED_LINES: usize = 3;

impl Form {
    /// Checks whether a new line may be meant as it is, because the file has both: tabs at the match and spaces elsewhere, or the
    /// other way round. The search text's kind of indentation may then be right for this line.
    pub(super) fn is_ambiguous(&self, line: &str, source: &Source<'_>) -> bool {
        let is_as_searched = |indent: &str| match self.indentation {
            Indentation::Tabs(width) => {
                !indent.is_empty() && !indent.contains('\t') && indent.len().is_multiple_of(width)
            }
            Indentation::Spaces(_) => indent.contains('\t'),
            Indentation::Same | Indentation::Deeper(_) | Indentation::Shallower(_) => false,
        };
        let is_code_as_searched = |line: &str| {
            let (indent, body) = split_indent(line);
            !body.is_empty() && is_as_searched(indent)
        };
        let lines = || (1..=source.total_lines()).filter_map(|number| source.line_text(number));
        is_code_as_searched(line)
            && lines().filter(|line| is_code_as_searched(line)).nth(MIXED_LINES - 1).is_some()
    }
}

/// Finds the single relation between all indentations of the file and those of the search text.
fn indentation(indents: &[(String, &str)]) -> Option<Indentation> {
    if indents.iter().all(|(file, search)| file == search) {
        return Some(Indentation::Same);
    }
    let (file, search) = indents.first()?;
    if let Some(more) = file.strip_suffix(search).filter(|more| !more.is_empty())
        && indents.iter().all(|(file, search)| file.strip_prefix(more) == Some(search))
    {
        return Some(Indentation::Deeper(more.to_owned()));
    }
    if let Some(less) = search.strip_suffix(file.as_str()).filter(|less| !less.is_empty())
        && indents.iter().all(|(file, search)| search.strip_prefix(less) == Some(file))
    {
        return Some(Indentation::Shallower(less.to_owned()));
    }
    let same_columns =
        |width: &usize| indents.iter().all(|(file, search)| columns(file, *width) == columns(search, *width));
    let width = TAB_WIDTHS.into_iter().find(same_columns)?;
    let has_tabs = indents.iter().any(|(file, search)| file != search && file.contains('\t'));
    let indentation = if has_tabs { Indentation::Tabs(width) } else { Indentation::Spaces(width) };
    // Where the file itself mixes both, it is unknown how it would indent a new line.
    let is_written_so = indents.iter().all(|(file, search)| indentation.written(search) == *file);
    is_written_so.then_some(indentation)
}

impl Indentation {
    /// Writes an indentation as the file would; only for tabs against spaces.
    fn written(&self, indent: &str) -> String {
        match self {
            Indentation::Tabs(width) => {
                let columns = columns(indent, *width);
                format!("{}{}", "\t".repeat(columns / width), " ".repeat(columns % width))
            }
            Indentation::Spaces(width) => " ".repeat(columns(indent, *width)),
            Indentation::Same | Indentation::Deeper(_) | Indentation::Shallower(_) => indent.to_owned(),
        }
    }
}

fn split_indent(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start_matches(WHITESPACE).len())
}

/// Counts the columns that an indentation takes.
fn columns(indent: &str, width: usize) -> usize {
    indent
        .chars()
        .fold(0, |column, blank| if blank == '\t' { (column / width + 1) * width } else { column + 1 })
}
