//! Prefixes and headers of a diff in new lines, which are not part of the file.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use text_edit::Source;
use wap_core::{FileKind, FileVersion, LineNumbers, ModifyOperation, Reason, WapError};

use crate::counted_lines::is_indented;
use crate::file_edit::{FileEdit, FindVersion, KnownVersion};
use crate::old_lines::{Likeness, OldLine, are_of_file, has_text};
use crate::view_numbers::{is_judged, new_lines};

impl FileEdit<'_> {
    /// Refuses new lines that are a hunk of a diff: with the prefixes of one, and with the lines that they replace as its old ones.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`]. Operations in turn come from programs, which send no diff.
    pub(crate) fn check_diff_prefixes(&self, find: &mut FindVersion<'_>) -> Result<(), WapError> {
        if self.request.line_numbers == Some(LineNumbers::InTurn) {
            return Ok(());
        }
        let file = File { edit: self, has_added: OnceCell::new(), has_header: OnceCell::new() };
        let mut hunks: Vec<(usize, &ModifyOperation, Hunk<'_>)> = Vec::new();
        for (index, requested) in self.request.operations.iter().enumerate() {
            let Some(hunk) = Hunk::of(requested, has_code(self.path)) else { continue };
            if hunk.is_diff_of(&replaced_lines(requested, self.current, hunk.lines.len()), &file) {
                return Err(self.diff_refused(index, requested));
            }
            hunks.push((index, requested, hunk));
        }
        hunks.retain(|(_, requested, _)| !matches!(requested, ModifyOperation::ReplaceText { .. }));
        // For any number of operations, each version is looked up once.
        let meant: BTreeSet<&FileVersion> =
            hunks.iter().flat_map(|(index, ..)| self.request.meant_versions(*index)).collect();
        for version in meant.into_iter().filter(|version| **version != self.version) {
            let Some(KnownVersion { bytes, .. }) = find(version) else { continue };
            let Ok(text) = Source::parse(&bytes) else { continue };
            for (index, requested, hunk) in &hunks {
                if self.request.meant_versions(*index).contains(&version)
                    && hunk.is_diff_of(&replaced_lines(requested, &text, hunk.lines.len()), &file)
                {
                    return Err(self.diff_refused(*index, requested));
                }
            }
        }
        Ok(())
    }

    fn diff_refused(&self, index: usize, requested: &ModifyOperation) -> WapError {
        let label = match self.request.operations.len() {
            1 => String::new(),
            _ => format!("operation {}: ", index + 1),
        };
        let field =
            if matches!(requested, ModifyOperation::ReplaceText { .. }) { "newText" } else { "newContent" };
        let text = format!(
            "{label}the new text begins its lines with the prefixes of a diff (-, + or @@), which are not part of the file: send \
             the new lines without them, and leave out the old ones. If such lines are text of the file, write it with a command"
        );
        WapError::new(Reason::InvalidField, text).with("field", field).with("path", self.path)
    }
}

/// The file of an edit, read at most once for each question.
struct File<'e> {
    edit: &'e FileEdit<'e>,
    has_added: OnceCell<bool>,
    has_header: OnceCell<bool>,
}

impl File<'_> {
    /// Checks whether a line begins with a plus.
    fn has_added_line(&self) -> bool {
        *self.has_added.get_or_init(|| self.has_line(|line| line.starts_with('+')))
    }

    /// Checks whether a line is the header of a hunk, or the name says that the file has such lines.
    fn is_diff(&self) -> bool {
        let is_named = [".diff", ".patch"].iter().any(|ending| self.edit.path.ends_with(ending));
        let is_header = |line: &str| is_hunk_header(line, has_code(self.edit.path));
        is_named || *self.has_header.get_or_init(|| self.has_line(is_header))
    }

    fn has_line(&self, is_of_kind: impl Fn(&str) -> bool) -> bool {
        let source = self.edit.current;
        (1..=source.total_lines()).any(|line| source.line_text(line).is_some_and(|line| is_of_kind(&line)))
    }
}

/// Checks whether a text begins with the headers of a diff, in a file of code or in the file that they name.
pub(crate) fn is_diff(path: &str, text: &str) -> bool {
    let has_code = has_code(path);
    Header::of(text.lines(), has_code).is_some_and(|header| {
        let is_named = |name: &str| name == path || name.strip_prefix("b/") == Some(path);
        has_code || header.name.is_some_and(is_named)
    })
}

/// Checks whether a text begins with the headers of any diff.
pub(crate) fn has_header(path: &str, text: &str) -> bool {
    Header::of(text.lines(), has_code(path)).is_some()
}

/// Checks for a kind of file in which no line begins with a plus, except in strings and comments.
fn has_code(path: &str) -> bool {
    let kind = FileKind::of(path);
    kind.is_code() || kind == FileKind::Yaml
}

/// The header of the first hunk of a diff, with those of its file above it.
struct Header<'l> {
    /// The number of lines down to it.
    lines: usize,
    /// The name of the new file.
    name: Option<&'l str>,
}

impl<'l> Header<'l> {
    /// Returns the header that lines begin with; in code also after comments, and without numbers.
    fn of(lines: impl Iterator<Item = &'l str>, has_code: bool) -> Option<Header<'l>> {
        let mut name = None;
        for (index, line) in lines.enumerate() {
            if is_hunk_header(line, has_code) {
                return Some(Header { lines: index + 1, name });
            }
            if let Some(new) = line.strip_prefix("+++ ") {
                name = new.split('\t').next().map(str::trim_end);
                continue;
            }
            let marks = ["--- ", "diff --git ", "index ", "new file mode "];
            let is_of_file = marks.iter().any(|mark| line.starts_with(mark));
            if !(line.trim().is_empty() || is_of_file || has_code && is_comment(line)) {
                return None;
            }
        }
        None
    }
}

fn is_comment(line: &str) -> bool {
    ["#", "//", "/*", "*", "<!--"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// Checks for a line such as `@@ -1,2 +1,3 @@`; in code, whose lines do not begin so, also for one without numbers.
fn is_hunk_header(line: &str, has_code: bool) -> bool {
    if has_code && (line.trim_end() == "@@" || line.starts_with("@@ ")) {
        return true;
    }
    let is_range = |text: &str, prefix: char| {
        text.strip_prefix(prefix).is_some_and(|range| {
            range
                .split(',')
                .all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    let mut words = line.split(' ');
    words.next() == Some("@@")
        && words.next().is_some_and(|range| is_range(range, '-'))
        && words.next().is_some_and(|range| is_range(range, '+'))
        && words.next().is_some_and(|end| end.trim_end() == "@@")
}

/// New lines with prefixes, down to the header of a second hunk.
struct Hunk<'l> {
    has_header: bool,
    lines: Vec<&'l str>,
    /// True if the new lines may begin within a line.
    is_within_lines: bool,
}

impl<'l> Hunk<'l> {
    /// Returns the new lines of an operation if one of them begins with a minus or a plus.
    fn of(requested: &'l ModifyOperation, has_code: bool) -> Option<Hunk<'l>> {
        if !is_judged(requested) {
            return None;
        }
        let (text, is_within_lines) = match requested {
            ModifyOperation::ReplaceText { new_text, whole_lines, .. } => {
                (new_text.as_str(), whole_lines.is_none())
            }
            _ => (new_lines(requested)?.2, false),
        };
        let header = Header::of(text.lines(), has_code);
        let lines = text.lines().skip(header.as_ref().map_or(0, |header| header.lines));
        let lines: Vec<&str> = lines
            .take_while(|line| !is_hunk_header(line, has_code))
            .filter(|line| !line.starts_with("\\ No newline at end of file"))
            .collect();
        let hunk = Hunk { has_header: header.is_some(), lines, is_within_lines };
        (hunk.has_header || hunk.has('-') || hunk.has('+')).then_some(hunk)
    }

    fn has(&self, prefix: char) -> bool {
        self.lines.iter().any(|line| line.starts_with(prefix))
    }

    /// Checks whether the lines are a hunk of these lines of a file.
    fn is_diff_of(&self, replaced: &[Cow<'_, str>], file: &File<'_>) -> bool {
        let has_code = has_code(file.edit.path);
        let changes = |context| self.old_lines(context).is_some_and(|old| occurs(&old, replaced));
        let (is_strict, is_loose) = (changes(Context::Prefixed), changes(Context::Bare));
        if self.has_header && (has_code || is_strict || is_loose) && !file.is_diff() {
            return true;
        }
        match (self.has('-'), self.has('+')) {
            (true, true) => is_strict || is_loose || self.replaces_similar(replaced, file),
            // Where a line has the space of a context line, the minus is a prefix too. Else the line may have got a minus of its
            // own: `-value`, but not `-    value`.
            (true, false) => {
                is_strict && self.has_context()
                    || (is_loose || self.has_context() && self.is_about(replaced, Likeness::Same))
                        && has_code
                        && self.removes_indented()
            }
            (false, true) => {
                let is_near = |likeness| self.has_context() && self.is_about(replaced, likeness);
                let adds = || {
                    (is_loose
                        || !self.has_context()
                        || is_near(Likeness::Same)
                        || self.adds_indented() && is_near(Likeness::Similar))
                        && self.adds_code(replaced, file)
                };
                has_code && (is_strict || adds())
            }
            (false, false) => false,
        }
    }

    /// Checks whether removed lines, with the new ones directly after them, and all lines that stay are similar to those of a file.
    fn replaces_similar(&self, replaced: &[Cow<'_, str>], file: &File<'_>) -> bool {
        let likeness = match FileKind::of(file.edit.path) {
            FileKind::Table => return false,
            // Their lists may begin with a minus.
            FileKind::Markdown | FileKind::PlainText => Likeness::Same,
            FileKind::Other => Likeness::SimilarText,
            _ => Likeness::Similar,
        };
        let is_replaced = |pair: &[&str]| pair[0].starts_with('-') && pair[1].starts_with('+');
        let is_signed = |line: &Cow<'_, str>| line.starts_with('+') || line.starts_with("@@");
        self.lines.windows(2).any(is_replaced)
            && self.lines.iter().any(|line| line.strip_prefix('-').is_some_and(has_text))
            && !file.is_diff()
            && !replaced.iter().any(is_signed)
            && self.is_about(replaced, likeness)
    }

    /// Checks whether all lines that the file had are like lines of it.
    fn is_about(&self, replaced: &[Cow<'_, str>], likeness: Likeness) -> bool {
        let old = self.lines.iter().filter(|line| !line.starts_with('+'));
        let old: Vec<OldLine<'_>> =
            old.map(|line| line.strip_prefix('-').map_or(OldLine::Kept(line), OldLine::Removed)).collect();
        are_of_file(&old, replaced, likeness)
    }

    /// Returns the lines of the hunk that the file had; `None` if they have no text, or a context line lacks its prefix.
    fn old_lines(&self, context: Context) -> Option<Vec<&'l str>> {
        let mut old = Vec::new();
        for line in self.lines.iter().filter(|line| !line.starts_with('+')) {
            old.push(match line.strip_prefix('-') {
                Some(removed) => removed,
                None if context == Context::Bare || line.is_empty() => line,
                None => line.strip_prefix(' ')?,
            });
        }
        old.iter().any(|line| !line.trim().is_empty()).then_some(old)
    }

    fn has_context(&self) -> bool {
        self.lines.iter().any(|line| !line.starts_with(['-', '+']) && !line.trim().is_empty())
    }

    fn removes_indented(&self) -> bool {
        self.lines.iter().any(|line| line.strip_prefix('-').is_some_and(|line| line.starts_with([' ', '\t'])))
    }

    fn adds_indented(&self) -> bool {
        self.lines.iter().any(|line| line.strip_prefix('+').is_some_and(is_indented))
    }

    /// Checks whether lines of code with a plus are added lines of a diff. The plus may also be an operator (`+ 1`, `+1`,
    /// `+{`), and the file may have a diff in a string.
    fn adds_code(&self, replaced: &[Cow<'_, str>], file: &File<'_>) -> bool {
        let added = || self.lines.iter().filter_map(|line| line.strip_prefix('+'));
        let is_operand = |line: &str| {
            let is_spaced = line.starts_with(' ') && !line.starts_with("  ");
            is_spaced || line.starts_with(|first: char| first.is_ascii_digit() || "({[".contains(first))
        };
        let is_signed = |line: &Cow<'_, str>| {
            line.starts_with("@@") || line.strip_prefix('-').is_some_and(|rest| !rest.starts_with(' '))
        };
        !self.is_within_lines
            && added().any(|line| !line.trim().is_empty() && !is_operand(line))
            && !replaced.iter().any(is_signed)
            && !file.has_added_line()
    }
}

/// The most lines that a range may have more than its hunk, so that the work is bounded by the length of the new lines.
const MOST_MORE_LINES: usize = 100;

/// The form of the lines of a hunk that stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// After a space, as in every diff.
    Prefixed,
    /// As they are in the file.
    Bare,
}

/// Returns the lines that an operation replaces in a text, with `around` lines on both sides; an end past the last line means that
/// line. For a search text, these are its own lines.
fn replaced_lines<'r>(
    requested: &'r ModifyOperation,
    source: &'r Source<'_>,
    around: usize,
) -> Vec<Cow<'r, str>> {
    if let ModifyOperation::ReplaceText { old_text, .. } = requested {
        return old_text.lines().map(Cow::Borrowed).collect();
    }
    let Some((first, last, _)) = new_lines(requested) else { return Vec::new() };
    let number = |line: i64| usize::try_from(line).unwrap_or(0);
    let first = number(first).saturating_sub(around).max(1);
    let last = number(last).min(first.saturating_add(around + MOST_MORE_LINES));
    let last = last.saturating_add(around).min(source.total_lines());
    (first..=last).filter_map(|line| source.line_text(line)).collect()
}

/// Checks whether lines occur one after the other in others, apart from whitespace at their ends.
fn occurs(lines: &[&str], others: &[Cow<'_, str>]) -> bool {
    let joined = |lines: &mut dyn Iterator<Item = &str>| {
        let mut text = "\n".to_owned();
        for line in lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    };
    joined(&mut others.iter().map(AsRef::as_ref)).contains(&joined(&mut lines.iter().copied()))
}
