//! Numbers of a view in front of new lines, which are not part of the file.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;

use text_edit::{Lines, MatchRule, NumberedLine, Operation, Source, find_text};
use wap_core::{FileKind, FileVersion, LineNumbers, ModifyOperation, Reason, ViewNumbers, WapError};

use crate::counted_lines::{COLON, in_sequence, is_indented, is_printed_code};
use crate::file_edit::{FileEdit, FindVersion, KnownVersion};
use crate::operations::operation;

/// The operations of a request as edits.
#[derive(Debug)]
pub(crate) struct ReadOperations {
    pub operations: Vec<Operation>,
    /// A warning for each operation whose lines lost the numbers of a view.
    pub warnings: Vec<String>,
}

impl FileEdit<'_> {
    /// Returns the operations without the numbers of a view in front of their new lines.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`] for new lines that begin with the numbers that a view gives the lines they replace, unless the
    /// request wants them removed and they cannot be content. A file that itself has such numbers near there may get more of them.
    pub(crate) fn read_operations(&self, find: &mut FindVersion<'_>) -> Result<ReadOperations, WapError> {
        let mut read = ReadOperations { operations: Vec::new(), warnings: Vec::new() };
        // For any number of operations, each version is looked up once and the file is read once.
        let versions = self.versions_of_numbered(find);
        let mut meant: Vec<(FileVersion, Source<'_>)> = Vec::new();
        for (version, state) in &versions {
            meant.extend(Source::parse(&state.bytes).ok().map(|text| (version.clone(), text)));
        }
        let counts = LazyCell::new(|| self.may_count());
        for (index, requested) in self.request.operations.iter().enumerate() {
            let label = match self.request.operations.len() {
                1 => String::new(),
                _ => format!("operation {}: ", index + 1),
            };
            let operation = operation(requested);
            let Some(numbered) = self.numbered_lines(index, requested, &meant, &|| *counts) else {
                read.operations.push(operation);
                continue;
            };
            let Some(operation) = self.without_numbers(operation, &numbered) else {
                return Err(self.numbers_refused(&label, &numbered));
            };
            read.operations.push(operation);
            read.warnings.push(format!(
                "{label}the numbers of the view ('{}') were removed from the new lines: they are not part of the file",
                numbered.first
            ));
        }
        Ok(read)
    }

    /// Returns the new lines of an operation if they begin with the numbers of a view; `None` also if the file itself has such
    /// numbers near there.
    fn numbered_lines(
        &self,
        index: usize,
        requested: &ModifyOperation,
        versions: &[(FileVersion, Source<'_>)],
        may_count: &dyn Fn() -> bool,
    ) -> Option<NumberedLines> {
        if !has_view_numbers(requested) {
            return None;
        }
        // The numbers refer to lines of these versions.
        let of_version =
            |meant: &FileVersion| versions.iter().find(|(version, _)| version == meant).map(|(_, text)| text);
        let mut meant: Vec<&Source<'_>> =
            self.versions_of_numbers(index, requested).into_iter().filter_map(of_version).collect();
        if meant.is_empty() || is_by_text(requested) {
            meant.push(self.current);
        }
        let new = self.added_lines(requested, &meant)?;
        let is_by_text = is_by_text(requested);
        let field = if is_by_text { "newText" } else { "newContent" };
        let refused = |first: NumberedLine<'_>| NumberedLines { first: label(first), field, text: None };
        // Programs that send operations in turn have the lines themselves, and no view.
        let is_of_model = self.request.line_numbers != Some(LineNumbers::InTurn);
        let kind = FileKind::of(self.path);
        let Some((first, numbered)) = new.numbers(self.width()) else {
            return new.numbers_of_other_form(kind, self.width()).filter(|_| is_of_model).map(refused);
        };
        let refused = refused(first);
        let Some(numbered) = numbered.filter(|numbered| new.fit(numbered[0].number)) else {
            let is_of_view = is_of_model
                && match kind {
                    FileKind::Table => false,
                    kind if kind.is_code() => new.has_some_of_view(self.width()) || new.is_printed(kind),
                    kind => new.begin_in_view(self.width()) && !may_count() || new.is_printed(kind),
                };
            return is_of_view.then_some(refused);
        };
        let width = numbered.iter().map(|line| line.width).max().unwrap_or(0).max(self.width());
        let is_row = |line: &str| NumberedLine::of(line).is_some_and(|row| row.is_within(width));
        if new.spots.iter().all(|spot| spot.has_near(is_row)) {
            return new.spots.iter().any(|spot| spot.has_doubled(&numbered)).then_some(refused);
        }
        // Near numbers in one of the versions, or fields, the lines may be numbered rows.
        let is_like_row = |line: &str| is_row(line) || begins_with_field(line);
        let is_content = is_by_text
            || numbered.iter().any(|line| line.bar != OWN_BAR)
            || new.spots.iter().any(|spot| spot.has_near(is_like_row))
            || may_count();
        let text = || numbered.iter().flat_map(|line| [line.text, "\n"]).collect();
        Some(NumberedLines { text: (!is_content).then(text), ..refused })
    }

    /// Returns the versions meant by operations whose new lines have the numbers of a view, each once.
    fn versions_of_numbered(&self, find: &mut FindVersion<'_>) -> Vec<(FileVersion, KnownVersion)> {
        let operations = self.request.operations.iter().enumerate();
        let numbered = operations.filter(|(_, requested)| has_view_numbers(requested));
        let meant: BTreeSet<&FileVersion> =
            numbered.flat_map(|(index, requested)| self.versions_of_numbers(index, requested)).collect();
        meant.into_iter().filter_map(|version| Some((version.clone(), find(version)?))).collect()
    }

    /// Returns the versions that the numbers of new lines may refer to. For a search text, that may be the version before the run
    /// of the call: the text is searched for in the present file, which the client has not seen.
    fn versions_of_numbers(&self, index: usize, requested: &ModifyOperation) -> Vec<&FileVersion> {
        let before_run = self.before_run.iter().filter(|_| is_by_text(requested));
        self.request.meant_versions(index).into_iter().chain(before_run).collect()
    }

    /// Returns the digits of the last line's number.
    fn width(&self) -> usize {
        self.current.total_lines().to_string().len()
    }

    /// Checks whether new lines with numbers may be numbered rows: the file has no text, or such numbers somewhere.
    fn may_count(&self) -> bool {
        let lines = || (1..=self.current.total_lines()).filter_map(|line| self.current.line_text(line));
        let width = self.width();
        let is_row = |line: &str| NumberedLine::of(line).is_some_and(|row| row.is_within(width));
        lines().all(|line| line.trim().is_empty()) || lines().any(|line| is_row(&line))
    }

    /// Returns an operation without the numbers of its lines, if the request wants that and the numbers cannot be content.
    fn without_numbers(&self, operation: Operation, numbered: &NumberedLines) -> Option<Operation> {
        let text =
            numbered.text.as_ref().filter(|_| self.request.view_numbers == Some(ViewNumbers::TakeOff))?;
        let content = Lines::from_content(text);
        match operation {
            Operation::Replace { start_line, end_line, .. } => {
                Some(Operation::Replace { start_line, end_line, content })
            }
            Operation::Insert { after_line, .. } => Some(Operation::Insert { after_line, content }),
            _ => None,
        }
    }

    fn numbers_refused(&self, label: &str, numbered: &NumberedLines) -> WapError {
        let NumberedLines { first, field, .. } = numbered;
        let text = format!(
            "{label}the new text begins its lines with the numbers of the view ('{first}'), which are not part of the file: send \
             the lines without them. If such lines are text of the file, write it with a command"
        );
        WapError::new(Reason::InvalidField, text).with("field", *field).with("path", self.path)
    }

    /// Returns the new lines of an operation, and the lines of each text that they replace; `None` if the search text has numbers
    /// of a view itself, or does not occur.
    fn added_lines<'r>(
        &self,
        requested: &'r ModifyOperation,
        sources: &[&'r Source<'r>],
    ) -> Option<AddedLines<'r>> {
        if let Some((first, last, content)) = new_lines(requested) {
            let spots = sources.iter().map(|source| Spot { source, first, last }).collect();
            return Some(AddedLines { lines: content.lines().collect(), spots });
        }
        let ModifyOperation::ReplaceText { old_text, new_text, .. } = requested else { return None };
        let (old, new): (Vec<&str>, Vec<&str>) = (old_text.lines().collect(), new_text.lines().collect());
        let above = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old[above..].iter().rev().zip(new[above..].iter().rev());
        let below = rest.take_while(|(old, new)| old == new).count();
        let removed = old.len() - above - below;
        let Operation::ReplaceText { search, expected: 1, within, .. } = operation(requested) else {
            return None;
        };
        let spot = |source: &&'r Source<'r>| {
            let within = match within {
                Some((first, last)) => Some(range(source, first, last)?),
                None => None,
            };
            let passage = find_text(source, &search, &MatchRule::ALL, within).ok()?;
            // Numbers in both texts are removed from both.
            if passage.rules.contains(&MatchRule::ViewNumbers) {
                return None;
            }
            let first = i64::try_from(passage.lines.start() + above).ok()?;
            let last = first.saturating_add(i64::try_from(removed).ok()?).saturating_sub(1);
            Some(Spot { source, first, last })
        };
        let spots: Vec<Spot<'_>> = sources.iter().filter_map(spot).collect();
        let lines = new[above..new.len() - below].to_vec();
        // A search text that does not occur is refused elsewhere.
        (!spots.is_empty()).then_some(AddedLines { lines, spots })
    }
}

/// New lines with the numbers of a view.
struct NumberedLines {
    /// The number of the first one, and its bar.
    first: String,
    /// The field of the request that has them.
    field: &'static str,
    /// The text without the numbers; `None` if they may be content.
    text: Option<String>,
}

/// The bar of our own views, which the line follows directly.
const OWN_BAR: &str = "|";

/// The lines of a text that new lines replace.
struct Spot<'r> {
    source: &'r Source<'r>,
    first: i64,
    /// Before the first one if no lines are replaced.
    last: i64,
}

impl Spot<'_> {
    /// Checks whether one of the lines, or of those around them, is of a kind. The lines may be outside of the text.
    fn has_near(&self, is_of_kind: impl Fn(&str) -> bool) -> bool {
        self.near().any(|line| is_of_kind(&line))
    }

    fn near(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let bounded =
            |line: i64| usize::try_from(line.max(1)).unwrap_or(usize::MAX).min(self.source.total_lines());
        (bounded(self.first.saturating_sub(1))..=bounded(self.last.saturating_add(1)))
            .filter_map(|line| self.source.line_text(line))
    }

    /// Checks whether leading numbers of rows that begin with numbers themselves are those of a view: only without them, the rows
    /// have as many fields as those of the text.
    fn has_doubled(&self, numbered: &[NumberedLine<'_>]) -> bool {
        let bars = |line: &str| line.matches(OWN_BAR).count();
        let has_form = |count: usize| self.near().any(|line| bars(&line) == count);
        let is_doubled = |line: &NumberedLine<'_>| {
            line.bar == OWN_BAR && has_form(bars(line.text)) && !has_form(bars(line.text) + 1)
        };
        numbered.iter().all(is_doubled)
            || numbered.iter().any(|line| is_doubled(line) && NumberedLine::of(line.text).is_some())
    }
}

/// New lines, and those they replace in each text that they may mean.
struct AddedLines<'r> {
    lines: Vec<&'r str>,
    spots: Vec<Spot<'r>>,
}

impl<'r> AddedLines<'r> {
    /// Returns the first numbered line, and all lines split from their numbers if these are consecutive.
    fn numbers(&self, width: usize) -> Option<(NumberedLine<'r>, Option<Vec<NumberedLine<'r>>>)> {
        let all: Vec<Option<NumberedLine<'r>>> =
            self.lines.iter().map(|line| NumberedLine::of(line)).collect();
        let first = all.iter().flatten().next().copied()?;
        let whole: Option<Vec<NumberedLine<'r>>> = all.into_iter().collect();
        let is_next = |pair: &[NumberedLine<'_>]| pair[0].number.checked_add(1) == Some(pair[1].number);
        let is_of_view = |numbered: &Vec<NumberedLine<'r>>| {
            // A view is as wide as its widest number.
            let width = width.max(numbered.iter().map(|line| line.digits).max().unwrap_or(0));
            let is_narrow = numbered.iter().all(|line| line.is_within(width));
            numbered.windows(2).all(is_next) && (is_narrow || has_margin_of_view(numbered))
        };
        Some((first, whole.filter(is_of_view)))
    }

    /// Checks whether the first line has the number of its position in one of the texts.
    fn fit(&self, number: u64) -> bool {
        self.spots.iter().any(|spot| i64::try_from(number) == Ok(spot.first))
    }

    /// Checks whether some lines of code begin with numbers of a view that belong to nearby lines, or all with consecutive ones,
    /// and no line of the texts begins like that.
    fn has_some_of_view(&self, width: usize) -> bool {
        let label = |line: &&'r str| {
            NumberedLine::of(line).filter(|line| line.is_within(width) || begins_with_whitespace(line.text))
        };
        let labels: Vec<Option<NumberedLine<'r>>> = self.lines.iter().map(label).collect();
        let numbered: Vec<NumberedLine<'r>> = labels.iter().copied().flatten().collect();
        let is_telling = numbered.len() >= 2 || labels.first().is_some_and(Option::is_some);
        if !is_telling || numbered.iter().all(is_alternative) {
            return false;
        }
        let count = i64::try_from(self.lines.len()).unwrap_or(i64::MAX);
        let fits = |spot: &Spot<'_>| {
            let lines = spot.first..=spot.last.saturating_add(count);
            numbered.iter().all(|line| i64::try_from(line.number).is_ok_and(|number| lines.contains(&number)))
        };
        let is_rising = numbered.windows(2).all(|pair| pair[0].number <= pair[1].number);
        let is_whole = numbered.len() == self.lines.len() && numbered.len() >= 2;
        let is_counted =
            numbered.windows(2).all(|pair| pair[0].number.checked_add(1) == Some(pair[1].number));
        let is_of_view = is_rising && self.spots.iter().any(fits) || is_whole && is_counted;
        is_of_view && !self.spots.iter().any(|spot| spot.has_near(|line| NumberedLine::of(line).is_some()))
    }

    /// Checks whether the first line has the number of its position and our own bar, and another one has no number.
    fn begin_in_view(&self, width: usize) -> bool {
        let first = self.lines.first().and_then(|line| NumberedLine::of(line));
        first.is_some_and(|line| line.bar == OWN_BAR && line.is_within(width) && self.fit(line.number))
            && self.lines.iter().any(|line| NumberedLine::of(line).is_none())
            && !self.spots.iter().any(|spot| spot.has_near(begins_with_field))
    }

    /// Checks whether the lines are code as a program prints it, and no line near there has such a number itself.
    fn is_printed(&self, kind: FileKind) -> bool {
        in_sequence(&self.lines).is_some_and(|numbered| is_printed_code(kind, &numbered))
            && !self.is_near_rows()
    }

    /// Checks whether a line near there begins with a number as in the print of any program.
    fn is_near_rows(&self) -> bool {
        self.spots.iter().any(|spot| spot.has_near(|line| NumberedLine::of_any_form(line).is_some()))
    }

    /// Returns the first line if all begin with consecutive numbers from that of their position in a form other than that of our
    /// views, or are code with any such numbers, and no line near there does. Prose and rows may begin with a number too: there, the
    /// text after it must be a line of the file.
    fn numbers_of_other_form(&self, kind: FileKind, width: usize) -> Option<NumberedLine<'r>> {
        let numbered = in_sequence(&self.lines).filter(|_| kind != FileKind::Table)?;
        let first = *numbered.first()?;
        let is_code = kind.is_code() || kind == FileKind::Yaml;
        // In code, a number at the start of an indented line may be a key or an operand.
        let is_certain = match first.bar {
            COLON => kind.is_code() && first.width == first.digits,
            "\t" => is_code,
            _ => is_code && first.is_within(width),
        };
        let is_line = |spot: &Spot<'_>, line: &NumberedLine<'_>| {
            let number = usize::try_from(line.number).ok();
            let present = number.and_then(|number| spot.source.line_text(number));
            present.is_some_and(|present| {
                let present = present.trim_end();
                let is_text = |text: &str| text.trim_end() == present;
                !present.is_empty()
                    && (is_text(line.text) || line.text.strip_prefix(' ').is_some_and(is_text))
            })
        };
        let is_of_view = |spot: &Spot<'_>| {
            i64::try_from(first.number) == Ok(spot.first)
                && (is_certain
                    || numbered.iter().any(|line| is_code && is_indented(line.text) || is_line(spot, line)))
        };
        let is_numbered = self.spots.iter().any(is_of_view) || is_printed_code(kind, &numbered);
        (is_numbered && !self.is_near_rows()).then_some(first)
    }
}

/// Checks whether lines with more spaces before their numbers than in a view are a view that was indented as a whole, and not
/// code such as the alternatives `3|4)`.
fn has_margin_of_view(numbered: &[NumberedLine<'_>]) -> bool {
    let margins = || numbered.iter().map(|line| line.width - line.digits);
    let ends = || numbered.iter().map(|line| line.width);
    let is_one_block = ends().min() == ends().max() || margins().min() == margins().max();
    let is_code = numbered.iter().any(|line| begins_with_whitespace(line.text));
    is_one_block && (is_code || numbered.len() > 1 && !numbered.iter().all(is_alternative))
}

/// Checks for one of the alternatives of a case statement, such as `3|4)`, or its end.
fn is_alternative(line: &NumberedLine<'_>) -> bool {
    let (word, rest) = line.text.split_at(line.text.find([')', '(', ' ', '\t']).unwrap_or(line.text.len()));
    !word.is_empty() && rest.starts_with(')')
}

fn begins_with_whitespace(text: &str) -> bool {
    text.starts_with([' ', '\t'])
}

/// Returns a number with its bar, as a view shows it.
pub(crate) fn label(line: NumberedLine<'_>) -> String {
    format!("{}{}", line.number, line.bar.replace('\t', "<tab>"))
}

fn is_by_text(requested: &ModifyOperation) -> bool {
    matches!(requested, ModifyOperation::ReplaceText { .. })
}

/// Checks whether one of the new lines of an operation begins with a number and a bar, like the lines of any view: such an
/// operation is also judged by the version before its run.
#[must_use]
pub fn has_view_numbers(requested: &ModifyOperation) -> bool {
    let text = match requested {
        ModifyOperation::ReplaceText { new_text, .. } => Some(new_text.as_str()),
        _ => new_lines(requested).map(|(_, _, content)| content),
    };
    is_judged(requested)
        && text.is_some_and(|text| text.lines().any(|line| NumberedLine::of_any_form(line).is_some()))
}

/// The most lines of a text of a request that are judged by their numbers or prefixes. No model writes more, and each takes memory.
const MOST_JUDGED_LINES: usize = 100_000;

/// Checks whether a text is short enough to be judged.
pub(crate) fn is_short(text: &str) -> bool {
    text.lines().nth(MOST_JUDGED_LINES).is_none()
}

/// Checks whether the texts of an operation are short enough to be judged.
pub(crate) fn is_judged(requested: &ModifyOperation) -> bool {
    match requested {
        ModifyOperation::ReplaceText { old_text, new_text, .. } => is_short(old_text) && is_short(new_text),
        _ => new_lines(requested).is_none_or(|(_, _, content)| is_short(content)),
    }
}

/// Returns lines of a text as 0-based half-open indexes; `None` if it has no such lines.
fn range(source: &Source<'_>, first: i64, last: i64) -> Option<Range<usize>> {
    let total = source.total_lines();
    let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?);
    (1..=total.min(last)).contains(&first).then(|| first - 1..last.min(total))
}

/// Returns the first and the last line that an operation replaces, and its new lines; an insertion replaces none.
pub(crate) fn new_lines(requested: &ModifyOperation) -> Option<(i64, i64, &str)> {
    match requested {
        ModifyOperation::Replace { start_line, end_line, new_content, .. } => {
            Some((*start_line, *end_line, new_content))
        }
        ModifyOperation::Insert { after_line, new_content, .. } => {
            Some((after_line.saturating_add(1), *after_line, new_content))
        }
        _ => None,
    }
}

/// Checks whether a line begins with a field and a bar, such as `id|name`.
fn begins_with_field(line: &str) -> bool {
    line.split_once('|').is_some_and(|(field, _)| !field.is_empty() && !field.contains(char::is_whitespace))
}
