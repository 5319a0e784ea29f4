//! Finding the passage of a text that a search text means, by rules that are data.
//!
//! A search text has to occur once. Where it does not occur exactly, the only passage that differs by no more than the allowed
//! [`MatchRule`]s is taken. Everything else is a [`NoMatch`] with the details needed to write a better search text.

mod anchors;
mod content;
mod form;
mod haystack;
mod identity;

pub use identity::has_added_lines_around;
mod nearest;
mod view_numbers;
mod within_lines;

use std::fmt;
use std::ops::{Range, RangeInclusive};

pub use content::TextContent;
use form::Form;
use haystack::Haystack;
pub(crate) use haystack::{is_curly, is_quote};
pub use nearest::NearestPassage;
pub(crate) use nearest::rival;
pub use view_numbers::NumberedLine;
pub(crate) use within_lines::{ReplacedBytes, ReplacedEverywhere, replaced_everywhere};

use crate::Source;

/// The most lines that [`NoMatch::Occurs`] names.
const NAMED_OCCURRENCES: usize = 10;

/// Occurrences are not counted beyond this number.
const COUNTED_OCCURRENCES: usize = 100_000;

/// A difference between a search text and a passage that still makes a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchRule {
    /// Lines end with CRLF in one and with LF in the other.
    LineEndings,
    /// Whitespace at the ends of lines.
    TrailingBlanks,
    /// Every line of the search text begins with the number of a view.
    ViewNumbers,
    /// All lines are shifted by the same whitespace.
    Indentation,
    /// Lines are indented with tabs in one and with spaces in the other.
    TabsAndBlanks,
    /// Quotes are curly in one and straight in the other.
    Quotes,
}

impl MatchRule {
    /// Every rule.
    pub const ALL: [MatchRule; 6] = [
        MatchRule::LineEndings,
        MatchRule::TrailingBlanks,
        MatchRule::ViewNumbers,
        MatchRule::Indentation,
        MatchRule::TabsAndBlanks,
        MatchRule::Quotes,
    ];

    /// Only line endings may differ, which chat windows and JSON do not keep.
    pub const STRICT: [MatchRule; 1] = [MatchRule::LineEndings];

    /// Returns the name of the rule in vectors and details.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LineEndings => "line_endings",
            Self::TrailingBlanks => "trailing_blanks",
            Self::ViewNumbers => "view_numbers",
            Self::Indentation => "indentation",
            Self::TabsAndBlanks => "tabs_and_blanks",
            Self::Quotes => "quotes",
        }
    }

    /// Returns the difference as a phrase that follows "apart from"; `None` for line endings, which do not matter to a reader.
    #[must_use]
    pub const fn phrase(self) -> Option<&'static str> {
        match self {
            Self::LineEndings => None,
            Self::TrailingBlanks => Some("whitespace at line ends"),
            Self::ViewNumbers => Some("the line numbers of the view"),
            Self::Indentation => Some("its indentation"),
            Self::TabsAndBlanks => Some("tabs and spaces"),
            Self::Quotes => Some("curly quotes"),
        }
    }
}

/// A text to find.
///
/// A byte-order mark in front and carriage returns before line feeds are dropped: the text to find arrives through JSON or a chat window, and the lines
/// of the file keep their own endings anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchText {
    /// Lines end with LF.
    text: String,
    is_whole_lines: bool,
    has_crlf: bool,
    /// Lines that precede the text, in their order.
    anchors: Vec<String>,
    /// True if the text itself is an anchor after which lines are added.
    is_anchor: bool,
}

impl SearchText {
    /// Takes whole lines; one line feed at the end adds no further line.
    #[must_use]
    pub fn of_lines(text: &str) -> SearchText {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        SearchText { is_whole_lines: true, ..SearchText::anywhere(text) }
    }

    /// Takes a text that may begin and end within a line.
    #[must_use]
    pub fn anywhere(text: &str) -> SearchText {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let has_crlf = text.contains("\r\n");
        let text = if has_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
        SearchText { text, is_whole_lines: false, has_crlf, anchors: Vec::new(), is_anchor: false }
    }

    /// Limits the search to the text after the first of these lines, from there after the next, and so on. Whitespace at their
    /// ends is ignored.
    #[must_use]
    pub fn after(self, anchors: Vec<String>) -> SearchText {
        SearchText { anchors, ..self }
    }

    /// Treats the text as one line after which others are added unchanged: whitespace at its ends is ignored, and not given to the
    /// other lines.
    #[must_use]
    pub fn as_anchor(self) -> SearchText {
        SearchText { is_anchor: true, ..self }
    }

    /// Checks whether there is nothing to find.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn anchors(&self) -> &[String] {
        &self.anchors
    }

    fn lines(&self) -> Vec<&str> {
        self.text.split('\n').collect()
    }

    /// Returns the same text as whole lines.
    fn as_lines(&self) -> SearchText {
        if self.is_whole_lines {
            return self.clone();
        }
        SearchText { has_crlf: self.has_crlf, ..SearchText::of_lines(&self.text) }
    }

    /// Returns the same text without anchors.
    fn without_anchors(&self) -> SearchText {
        SearchText { anchors: Vec::new(), is_anchor: false, ..self.clone() }
    }
}

/// The passage that a search text means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextMatch {
    /// The lines, 1-based and inclusive.
    pub lines: RangeInclusive<usize>,
    /// The differences that were allowed, in the order of [`MatchRule::ALL`]; none for an exact match.
    pub rules: Vec<MatchRule>,
    /// True for an exact match that may begin and end within a line.
    pub(crate) is_within_lines: bool,
    form: Form,
}

/// The reason why a search text means no passage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMatch {
    /// There is nothing to find.
    #[error("the search text is empty: give the lines to replace, or lines to add others to")]
    Empty,
    /// The text occurs more often, or less often, than expected.
    #[error("the search text occurs {}, expected {expected}: {}", times(*.count, *.is_more), more_lines(.line_numbers, *.count, *.expected))]
    Occurs {
        /// The number of occurrences.
        count: usize,
        /// True if there are more, which were not counted.
        is_more: bool,
        /// The expected number.
        expected: usize,
        /// The lines at which the first occurrences begin, 1-based.
        line_numbers: Vec<usize>,
    },
    /// A line that precedes the text does not occur.
    #[error("the line {line:?} of the hunk's @@ does not occur{}: name a line of the file, or leave it out", after_text(*.after))]
    NoAnchor {
        /// The line.
        line: String,
        /// The number of the line after which it was searched for; 0 for the whole text.
        after: usize,
    },
    /// The text does not occur.
    #[error("the search text does not occur{}", closest_text(.nearest.as_ref(), .new_text.as_ref()))]
    Absent {
        /// The most similar passage; `None` if nothing is similar.
        nearest: Option<NearestPassage>,
        /// The lines that hold the replacement, 1-based, where that does not prove that the edit was made.
        new_text: Option<RangeInclusive<usize>>,
    },
}

fn times(count: usize, is_more: bool) -> impl fmt::Display {
    match (count, is_more) {
        (1, _) => "once".to_owned(),
        (2, _) => "twice".to_owned(),
        (count, true) => format!("more than {count} times"),
        (count, false) => format!("{count} times"),
    }
}

fn more_lines(line_numbers: &[usize], count: usize, expected: usize) -> String {
    let numbers: Vec<String> = line_numbers.iter().map(usize::to_string).collect();
    let more = if count > numbers.len() { ", …" } else { "" };
    let advice = if count > expected { "; add lines around it that make it unique" } else { "" };
    let lines = if numbers.len() == 1 { "line" } else { "lines" };
    format!("at {lines} {}{more}{advice}", numbers.join(", "))
}

fn closest_text(nearest: Option<&NearestPassage>, new_text: Option<&RangeInclusive<usize>>) -> String {
    let nearest = match (nearest, new_text) {
        (None, None) => {
            "; no passage is like it: read the file again, and send lines exactly as they are in it"
                .to_owned()
        }
        (None, Some(_)) => String::new(),
        (Some(nearest), _) => format!("; most like it is {nearest}"),
    };
    nearest + &new_text_note(new_text)
}

fn after_text(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" after line {line}") }
}

fn new_text_note(lines: Option<&RangeInclusive<usize>>) -> String {
    let Some(lines) = lines else { return String::new() };
    let numbers = match lines.start() == lines.end() {
        true => format!("line {}", lines.start()),
        false => format!("lines {}-{}", lines.start(), lines.end()),
    };
    format!("; the new text is at {numbers}: if that is the passage that you mean, this edit is already made")
}

impl NoMatch {
    /// Returns the refusal of a text that does not occur.
    pub(crate) fn absent(nearest: Option<NearestPassage>) -> NoMatch {
        NoMatch::Absent { nearest, new_text: None }
    }

    /// Returns the lines that a refusal should show: of the nearest passage, or of the first occurrence.
    #[must_use]
    pub fn lines_in_question(&self) -> Option<RangeInclusive<usize>> {
        match self {
            NoMatch::Empty | NoMatch::NoAnchor { .. } => None,
            NoMatch::Occurs { line_numbers, .. } => line_numbers.first().map(|first| *first..=*first),
            NoMatch::Absent { nearest, .. } => nearest.as_ref().map(|nearest| nearest.lines.clone()),
        }
    }
}

/// Finds the only passage that matches `search`.
///
/// `rules` are the differences that are allowed if the text does not occur exactly. `within` limits the search to lines, as
/// 0-based half-open indexes.
///
/// # Errors
///
/// [`NoMatch`].
///
/// # Example
///
/// ```
/// use text_edit::{MatchRule, SearchText, Source, find_text};
///
/// let source = Source::parse(b"fn a() {\n    one();\n}\n")?;
/// let passage = find_text(&source, &SearchText::of_lines("one();\n"), &MatchRule::ALL, None)?;
/// assert_eq!((passage.lines, passage.rules), (2..=2, vec![MatchRule::Indentation]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If `within` is not a range of the text's lines.
pub fn find_text(
    source: &Source<'_>,
    search: &SearchText,
    rules: &[MatchRule],
    within: Option<Range<usize>>,
) -> Result<TextMatch, NoMatch> {
    if search.is_anchor || !search.anchors.is_empty() {
        return anchors::find(source, search, rules, within);
    }
    let scope = Scope::new(source, within);
    if search.is_empty() && !search.is_whole_lines {
        return Err(NoMatch::Empty);
    }
    if search.lines().iter().all(|line| line.trim().is_empty()) && search.is_whole_lines {
        // Blank lines alone identify no position unless the text has no others.
        return if search.is_empty() { Err(NoMatch::Empty) } else { scope.exact(search, 1) };
    }
    let exact = match scope.exact(search, 1) {
        Err(NoMatch::Absent { .. }) => NoMatch::absent(None),
        outcome => return outcome,
    };
    let lines = search.as_lines();
    if lines.lines().iter().all(|line| line.trim().is_empty()) {
        return Err(exact);
    }
    if let Some(mut passage) = scope.loose(&lines, rules)? {
        if passage.rules.is_empty() {
            // Only the ending of the last line is missing in the text.
            passage.rules.push(MatchRule::LineEndings);
        }
        return Ok(passage);
    }
    if let Some(bare) =
        view_numbers::without(&lines.lines()).filter(|_| rules.contains(&MatchRule::ViewNumbers))
    {
        let bare = SearchText { has_crlf: lines.has_crlf, ..SearchText::of_lines(&bare) };
        let exact = match scope.exact(&bare, 1) {
            Err(NoMatch::Absent { .. }) => scope.loose(&bare, rules)?,
            outcome => Some(outcome?),
        };
        let can_be_of_view = |passage: &TextMatch| {
            view_numbers::can_be_of_view(source, &lines.lines(), *passage.lines.start())
        };
        if let Some(mut passage) = exact.filter(can_be_of_view) {
            passage.rules.push(MatchRule::ViewNumbers);
            passage.rules.sort_unstable();
            return Ok(passage);
        }
    }
    Err(NoMatch::absent(nearest::passage(source, &lines.lines(), scope.lines)))
}

/// Finds all exact, non-overlapping occurrences of `search` in the order of the text, if there are as many as expected.
///
/// # Errors
///
/// [`NoMatch`].
///
/// # Panics
///
/// If `within` is not a range of the text's lines.
pub fn find_all_text(
    source: &Source<'_>,
    search: &SearchText,
    expected: usize,
    within: Option<Range<usize>>,
) -> Result<Vec<TextMatch>, NoMatch> {
    if search.is_empty() {
        return Err(NoMatch::Empty);
    }
    let scope = Scope::new(source, within);
    match scope.all(search, expected) {
        Err(NoMatch::Absent { .. }) => {
            let lines = search.as_lines();
            Err(NoMatch::absent(nearest::passage(source, &lines.lines(), scope.lines)))
        }
        outcome => outcome,
    }
}

/// Returns the only lines that hold `search` exactly.
pub(crate) fn only_exact(source: &Source<'_>, search: &SearchText) -> Option<RangeInclusive<usize>> {
    if search.is_empty() {
        return None;
    }
    Scope::new(source, None).exact(search, 1).ok().map(|passage| passage.lines)
}

/// A text and the lines to search in it.
struct Scope<'a> {
    source: &'a Source<'a>,
    lines: Range<usize>,
}

impl<'a> Scope<'a> {
    fn new(source: &'a Source<'a>, within: Option<Range<usize>>) -> Scope<'a> {
        let lines = within.unwrap_or(0..source.total_lines());
        assert!(
            lines.start <= lines.end && lines.end <= source.total_lines(),
            "the lines are those of the text"
        );
        Scope { source, lines }
    }

    fn exact(&self, search: &SearchText, expected: usize) -> Result<TextMatch, NoMatch> {
        let mut all = self.all(search, expected)?;
        Ok(all.remove(0))
    }

    fn all(&self, search: &SearchText, expected: usize) -> Result<Vec<TextMatch>, NoMatch> {
        let haystack = Haystack::of_text(self.source, self.lines.clone());
        let kept = expected.max(NAMED_OCCURRENCES);
        let occurrences = if search.is_whole_lines {
            haystack.whole_lines(&search.text, COUNTED_OCCURRENCES, kept)
        } else {
            haystack.anywhere(&search.text, COUNTED_OCCURRENCES, kept)
        };
        // Of two overlapping occurrences it is unknown which is meant; where several are expected, those that do not overlap are
        // replaced.
        let occurrences =
            if expected == 1 { haystack.with_overlap(occurrences, search) } else { occurrences };
        match occurrences.count {
            0 => Err(NoMatch::absent(None)),
            count if count == expected => {
                Ok(occurrences.first.iter().map(|at| self.exact_match(search, *at)).collect())
            }
            count => Err(NoMatch::Occurs {
                count,
                is_more: count >= COUNTED_OCCURRENCES,
                expected,
                line_numbers: occurrences
                    .first
                    .iter()
                    .take(NAMED_OCCURRENCES)
                    .map(|at| at.line_index + 1)
                    .collect(),
            }),
        }
    }

    fn exact_match(&self, search: &SearchText, at: haystack::Occurrence) -> TextMatch {
        let last_line = if search.is_whole_lines {
            at.line_index + search.lines().len()
        } else {
            at.line_index + search.text.strip_suffix('\n').unwrap_or(&search.text).matches('\n').count() + 1
        };
        let lines = at.line_index + 1..=last_line;
        let mut rules = Vec::new();
        if search.lines().len() > 1 && search.has_crlf != haystack::has_crlf(self.source, &lines) {
            rules.push(MatchRule::LineEndings);
        }
        TextMatch { lines, rules, is_within_lines: !search.is_whole_lines, form: Form::default() }
    }

    /// Finds the only passage that differs by no more than the rules allow. `None` if there is none.
    fn loose(&self, search: &SearchText, rules: &[MatchRule]) -> Result<Option<TextMatch>, NoMatch> {
        let wanted = search.lines();
        let haystack = Haystack::of_bare_lines(self.source, self.lines.clone());
        let key = wanted.iter().map(|line| haystack::bare_line(line)).collect::<Vec<_>>().join("\n");
        let mut close: Vec<(usize, Form)> = Vec::new();
        let mut first_lines = Vec::new();
        haystack.candidates(&key, |line_index| {
            let passage = line_index..line_index + wanted.len();
            if let Some(form) = Form::between(self.source, passage, &wanted, rules) {
                first_lines.push(line_index + 1);
                close.push((line_index, form));
            }
            close.len() < NAMED_OCCURRENCES
        });
        // Trailing whitespace is a smaller difference than another indentation.
        let is_plain = |form: &Form| form.rules().iter().all(|rule| *rule <= MatchRule::TrailingBlanks);
        if close.len() > 1 && close.iter().filter(|(_, form)| is_plain(form)).count() == 1 {
            close.retain(|(_, form)| is_plain(form));
        }
        match close.len() {
            0 => Ok(None),
            1 => {
                let (line_index, form) = close.remove(0);
                let lines = line_index + 1..=line_index + wanted.len();
                let mut rules = form.rules();
                if wanted.len() > 1 && search.has_crlf != haystack::has_crlf(self.source, &lines) {
                    rules.insert(0, MatchRule::LineEndings);
                }
                Ok(Some(TextMatch { lines, rules, is_within_lines: false, form }))
            }
            count => Err(NoMatch::Occurs {
                count,
                is_more: count >= NAMED_OCCURRENCES,
                expected: 1,
                line_numbers: first_lines,
            }),
        }
    }
}
