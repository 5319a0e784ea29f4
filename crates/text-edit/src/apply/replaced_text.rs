//! The operation that replaces a text.

use super::{Draft, Outcome, STEPS_OF_A_PASS};
use crate::line_map::byte_edits;
use crate::regex_edit::Replaced;
use crate::splice::Splice;
use crate::text_match::{ReplacedEverywhere, replaced_everywhere};
use crate::text_replace::{self, Edit};
use crate::{
    EditError, EditErrorKind, Mapped, MatchRule, NoMatch, Numbering, Operation, SearchText, Source,
    TextContent, TextOutcome, find_text,
};

/// The fixed cost in steps of comparing one line with an anchor.
const STEPS_OF_A_LINE: u64 = 16;

impl Draft<'_> {
    pub(super) fn replace_text(
        &mut self,
        operation_index: usize,
        operation: &Operation,
        numbering: Numbering,
    ) -> Result<(), EditError> {
        let refused = |kind| EditError::of(operation_index, kind);
        let Operation::ReplaceText { search, replacement, expected, within } = operation else {
            unreachable!("only texts to replace are passed on");
        };
        if *expected != 1 {
            return self.replace_all_text(operation_index, search, replacement, *expected).map_err(refused);
        }
        let within = match within {
            None => None,
            Some(_) => {
                let lines = self.addressed(operation, numbering).map_err(refused)?;
                Some(match numbering {
                    Numbering::Sequential => lines,
                    Numbering::Original => self.carried(operation_index, &lines, None)?,
                })
            }
        };
        self.work.spend(STEPS_OF_A_PASS + self.bytes.len() as u64).map_err(refused)?;
        let steps_of_an_anchor = self.bytes.len() as u64 + STEPS_OF_A_LINE * self.total_lines as u64;
        self.work
            .spend((search.anchors().len() as u64).saturating_mul(steps_of_an_anchor))
            .map_err(refused)?;
        let base = Source::of_edited(&self.bytes, &self.format);
        let is_anywhere = within.is_none();
        let replaced =
            text_replace::replace((&base, &self.format), search, replacement, within).map_err(refused)?;
        if is_anywhere {
            self.check_not_written(search, &replaced.outcome).map_err(refused)?;
        }
        let contents = match replaced.edit {
            Edit::Lines(contents) => contents,
            Edit::Bytes { bytes, map } => {
                self.indentations.note(operation_index, search, replacement, &replaced.outcome);
                self.texts.push(TextOutcome { operation_index, ..replaced.outcome });
                self.work.spend(STEPS_OF_A_PASS + bytes.len() as u64 / 16).map_err(EditError::of_call)?;
                return self.replaced(operation_index, Replaced { bytes, map, replacements: 0, matches: 0 });
            }
        };
        let splices: Vec<Splice<'_>> = contents
            .iter()
            .map(|TextContent { lines, content }| Splice {
                operation_index,
                addressed: lines.clone(),
                old: lines.clone(),
                content: Some(content),
            })
            .collect();
        self.outcomes.push(Outcome {
            removed_lines: splices.iter().map(|splice| splice.old.len()).sum(),
            added_lines: splices.iter().map(Splice::added_lines).sum(),
            replacements: 0,
            matches: 0,
        });
        self.indentations.note(operation_index, search, replacement, &replaced.outcome);
        self.texts.push(TextOutcome { operation_index, ..replaced.outcome });
        if splices.is_empty() { Ok(()) } else { self.splice(&splices) }
    }

    /// Replaces a text wherever it occurs, if it occurs as often as expected.
    fn replace_all_text(
        &mut self,
        operation_index: usize,
        search: &SearchText,
        replacement: &str,
        expected: usize,
    ) -> Result<(), EditErrorKind> {
        self.work.spend(STEPS_OF_A_PASS + self.bytes.len() as u64)?;
        let base = Source::of_edited(&self.bytes, &self.format);
        let lines = text_replace::lines_of_all(&base, search, expected)?;
        let limit_bytes = self.limits.result_limit_bytes.max(self.original.bytes().len());
        let ReplacedEverywhere { bytes, edits } =
            replaced_everywhere(&base, &self.format, search, replacement, limit_bytes)?;
        let made = edits.len();
        if made != expected {
            // The search runs on the text as a view shows it, the replacement on its bytes.
            let lines =
                lines.first().map_or(1, |first| *first.start())..=lines.last().map_or(1, |last| *last.end());
            return Err(EditErrorKind::UndecodableMatch { lines });
        }
        let map = byte_edits::line_map(&base, &Source::of_edited(&bytes, &self.format), &edits);
        let outcome = TextOutcome { operation_index, lines, rules: Vec::new(), already_applied: false };
        self.texts.push(outcome);
        self.replaced(operation_index, Replaced { bytes, map, replacements: made, matches: made })
            .map_err(|error| error.kind)
    }

    /// Refuses lines that an earlier operation wrote if the text was elsewhere before: either may be meant.
    fn check_not_written(&self, search: &SearchText, outcome: &TextOutcome) -> Result<(), EditErrorKind> {
        let Some(lines) = outcome.lines.first().filter(|_| !self.steps.is_empty()) else { return Ok(()) };
        let map = self.map();
        let is_written =
            map.hunks().iter().any(|hunk| hunk.new.start < *lines.end() && lines.start() <= &hunk.new.end);
        if !is_written {
            return Ok(());
        }
        let Ok(before) = find_text(self.original, search, &MatchRule::ALL, None) else { return Ok(()) };
        if !before.is_different_from(lines, &outcome.rules, &map) {
            return Ok(());
        }
        let mut line_numbers = vec![*lines.start()];
        if let Mapped::Kept(line) = map.map(*before.lines.start()) {
            line_numbers.push(line);
            line_numbers.sort_unstable();
        }
        let reason = NoMatch::Occurs { count: 2, is_more: false, expected: 1, line_numbers };
        Err(EditErrorKind::NoMatch(Box::new(reason)))
    }
}
