//! Replies: the passages of a change in the five formats that models write.

use std::fmt::Write as _;

use super::damage::{Damage, with_curly_quotes};
use super::dice::Dice;
use super::passage::{Context, Passage, Sign};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Format {
    LineNumbers,
    Hunks,
    SearchReplace,
    UnifiedDiff,
    BeginPatch,
}

impl Format {
    pub(super) const ALL: [Format; 5] =
        [Format::LineNumbers, Format::Hunks, Format::SearchReplace, Format::UnifiedDiff, Format::BeginPatch];

    /// Returns the name in the report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Format::LineNumbers => "EDIT_FILE by line numbers",
            Format::Hunks => "EDIT_FILE by text",
            Format::SearchReplace => "SEARCH/REPLACE under a file name",
            Format::UnifiedDiff => "unified diff",
            Format::BeginPatch => "`*** Begin Patch`",
        }
    }

    /// Returns the context that a model gives in this format. In those that want a text which occurs once, it is as long as
    /// that takes.
    pub(super) const fn context(self) -> Context {
        match self {
            Format::LineNumbers => Context::Least,
            Format::Hunks | Format::SearchReplace => Context::Unique(2),
            Format::UnifiedDiff | Format::BeginPatch => Context::Lines(3),
        }
    }

    /// Checks whether the passages can be written: a line could be a mark of the format itself.
    pub(super) fn can_write(self, passages: &[Passage]) -> bool {
        let lines = || passages.iter().flat_map(|passage| &passage.lines).map(|line| line.text.trim());
        let marks: &[&str] = match self {
            Format::LineNumbers => &["[/EDIT_FILE]"],
            Format::Hunks | Format::SearchReplace => &["[/EDIT_FILE]", "<<<<<<<", "=======", ">>>>>>>"],
            Format::UnifiedDiff | Format::BeginPatch => &[],
        };
        // What the user's own text holds of our tags would be a block of the reply in the other formats.
        let is_free =
            |line: &str| !line.starts_with("```") && !marks.iter().any(|mark| line.starts_with(mark));
        lines().all(is_free) && lines().all(|line| !line.contains(['\r', '\u{c}', '\u{2028}', '\u{85}']))
    }

    /// Writes a reply.
    pub(super) fn reply(self, path: &str, passages: &[Passage], damage: Damage, dice: &mut Dice) -> String {
        let mut text = "Here is the change.\n\n".to_owned();
        match self {
            Format::LineNumbers => line_numbers(&mut text, path, passages, damage),
            Format::Hunks => {
                let _ = writeln!(text, "[EDIT_FILE path=\"{path}\"]");
                passages.iter().for_each(|passage| hunk(&mut text, passage, damage));
                text.push_str("[/EDIT_FILE]\n");
            }
            Format::SearchReplace => {
                for passage in passages {
                    let _ = writeln!(text, "{path}\n```");
                    hunk(&mut text, passage, damage);
                    text.push_str("```\n\n");
                }
            }
            Format::UnifiedDiff => unified_diff(&mut text, path, passages, damage, dice),
            Format::BeginPatch => {
                let _ = writeln!(text, "*** Begin Patch\n*** Update File: {path}");
                for passage in passages {
                    text.push_str("@@\n");
                    signed(&mut text, passage);
                }
                text.push_str("*** End Patch\n");
            }
        }
        match damage {
            Damage::CurlyQuotes => with_curly_quotes(&text),
            Damage::ReplyCrlf => text.replace('\n', "\r\n"),
            _ => text,
        }
    }
}

fn line_numbers(text: &mut String, path: &str, passages: &[Passage], damage: Damage) {
    for passage in passages {
        let (first, last) = (passage.at.start + 1, passage.at.end);
        let _ = write!(text, "[EDIT_FILE path=\"{path}\" start_line=\"{first}\" end_line=\"{last}\"");
        if damage == Damage::OffByOneWithWas
            && let Some(was) = passage.old().first()
        {
            let _ = write!(text, " was=\"{was}\"");
        }
        text.push_str("]\n");
        side(text, passage, &passage.new_lines(), damage);
        text.push_str("[/EDIT_FILE]\n");
    }
}

fn hunk(text: &mut String, passage: &Passage, damage: Damage) {
    text.push_str("<<<<<<< SEARCH\n");
    side(text, passage, &passage.old(), damage);
    text.push_str("=======\n");
    side(text, passage, &passage.new_lines(), damage);
    text.push_str(">>>>>>> REPLACE\n");
}

/// Writes the lines of one side, with the numbers of a view if that is the damage.
fn side(text: &mut String, passage: &Passage, lines: &[&str], damage: Damage) {
    for (number, line) in (passage.at.start + 1..).zip(lines) {
        let numbers = if damage == Damage::ViewNumbers { format!("{number}|") } else { String::new() };
        push_line(text, &numbers, line);
    }
}

fn unified_diff(text: &mut String, path: &str, passages: &[Passage], damage: Damage, dice: &mut Dice) {
    let _ = writeln!(text, "```diff\n--- a/{path}\n+++ b/{path}");
    for passage in passages {
        let lines_before = |lines: fn(&Passage) -> usize| -> usize {
            passages.iter().filter(|other| other.at.start < passage.at.start).map(lines).sum()
        };
        let come = lines_before(|other| other.new_lines().len());
        let gone = lines_before(|other| other.old().len());
        let (old, new) = (passage.old().len(), passage.new_lines().len());
        let (at, old, new) = match damage {
            Damage::HeaderNumbers => (dice.below(2_000) + 1, old + dice.below(4), new + dice.below(4)),
            _ => (passage.at.start + 1, old, new),
        };
        let _ = writeln!(text, "@@ -{at},{old} +{},{new} @@", (at + come).saturating_sub(gone));
        signed(text, passage);
    }
    text.push_str("```\n");
}

fn signed(text: &mut String, passage: &Passage) {
    for line in &passage.lines {
        let sign = match line.sign {
            Sign::Keep => " ",
            Sign::Remove => "-",
            Sign::Add => "+",
        };
        push_line(text, sign, &line.text);
    }
}

fn push_line(text: &mut String, sign: &str, line: &str) {
    text.push_str(sign);
    text.push_str(line);
    text.push('\n');
}
