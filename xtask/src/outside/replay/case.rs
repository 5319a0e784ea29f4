//! One reply with the file that it is about, and what has to come of it.

use std::sync::Arc;

use super::damage::{self, Damage};
use super::dice::Dice;
use super::format::Format;
use super::history::Change;
use super::merge::{Same, merged, shifted};
use super::passage::{Passage, Sign, lines, occurrences, passages, with_passages};
use super::reindented::reindented;

/// A change with more passages than this, or more lines, is left out: such a reply is not one edit.
const MOST_PASSAGES: usize = 10;
const MOST_LINES: usize = 400;

/// The lines around a passage that is moved, on both sides.
const MOVED_WITH: usize = 8;

/// The fewest characters of a line by which a change is recognised that was made before.
const TELLING_CHARACTERS: usize = 8;

/// A reply to carry out.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) change: Arc<Change>,
    pub(super) format: Format,
    pub(super) damage: Damage,
    pub(super) reply: String,
    /// The file as the model read it.
    pub(super) as_read: String,
    /// The file as it is when the reply arrives.
    pub(super) before: String,
    /// True if a careful reader could carry it out: see [`Case::make`].
    pub(super) can_land: bool,
    /// The passages without the damage, in the order of the reply.
    passages: Vec<Passage>,
    /// The passages as the reply has them.
    damaged: Vec<Passage>,
}

impl Case {
    /// Makes the reply for a change; `None` if the change cannot have the damage, or the format cannot hold the change.
    pub(super) fn make(
        change: &Arc<Change>,
        format: Format,
        damage: Damage,
        dice: &mut Dice,
    ) -> Option<Case> {
        let original = passages(&change.old, &change.new, format.context());
        let count: usize = original.iter().map(|passage| passage.lines.len()).sum();
        let is_of_use = !original.is_empty() && original.len() <= MOST_PASSAGES && count <= MOST_LINES;
        if !is_of_use || !damage.is_of(format) || !format.can_write(&original) {
            return None;
        }
        // What differs in more than whole lines, as the newline at the end, no passage can say.
        if with_passages(&change.old, &original)? != change.new {
            return None;
        }
        // Nor can it say that the only line of a file, or its last one, has no newline where there was no text before.
        if change.old.is_empty() && !change.new.ends_with('\n') {
            return None;
        }
        // In Markdown, a comment about code left out is content.
        let is_markdown = [".md", ".markdown"].iter().any(|end| change.path.ends_with(end));
        if damage == Damage::Shortened && is_markdown {
            return None;
        }
        let mut damaged = original.clone();
        damage.harm(&mut damaged, dice)?;
        let mut in_order = original;
        if damage == Damage::Reversed {
            in_order.reverse();
        }
        if !format.can_write(&damaged) || !fits(&damaged, &change.old, damage) {
            return None;
        }
        let reply = format.reply(&change.path, &damaged, damage, dice);
        let as_read = if damage == Damage::FileCrlf { with_crlf(&change.old)? } else { change.old.clone() };
        let before = match damage {
            Damage::StaleEarlier => change.earlier.clone().filter(|text| *text != change.old)?,
            Damage::StaleLater => {
                change.later.clone().filter(|text| *text != change.old && *text != change.new)?
            }
            Damage::AppliedBefore => change.new.clone(),
            Damage::Moved => moved(&change.old, &in_order, false)?,
            _ => as_read.clone(),
        };
        let is_plain = format.reply(&change.path, &damaged, Damage::None, dice) == reply;
        if damage == Damage::CurlyQuotes && is_plain {
            return None;
        }
        let change = Arc::clone(change);
        let mut case = Case {
            change,
            format,
            damage,
            reply,
            as_read,
            before,
            can_land: false,
            passages: in_order,
            damaged,
        };
        case.can_land = case.could_land();
        Some(case)
    }

    /// Returns the number of edits of which each may be refused on its own.
    pub(super) fn edits(&self) -> usize {
        if self.format == Format::LineNumbers { self.passages.len() } else { 1 }
    }

    /// Returns the file that has to come of it if these edits are carried out; `None` if it is not certain.
    pub(super) fn expected(&self, carried_out: &[bool]) -> Option<String> {
        let chosen: Vec<Passage> = match carried_out {
            [all] => self.passages.iter().filter(|_| *all).cloned().collect(),
            each => self
                .passages
                .iter()
                .zip(each)
                .filter(|(_, is)| **is)
                .map(|(passage, _)| passage.clone())
                .collect(),
        };
        let after = with_passages(&self.as_read, &chosen)?;
        match self.damage {
            Damage::StaleEarlier | Damage::StaleLater | Damage::AppliedBefore => {
                // The new lines of an edit by line numbers come without those around them, so that they may well stand elsewhere:
                // where the change was made before, the merge says so.
                let is_by_text = self.format != Format::LineNumbers;
                if is_by_text && carried_out.iter().all(|is| *is) && self.stands_there() {
                    return Some(self.before.clone());
                }
                merged(&self.as_read, &self.before, &after)
                    .or_else(|| self.substituted())
                    .or_else(|| self.carried(&chosen))
            }
            Damage::Moved if chosen.is_empty() => Some(self.before.clone()),
            // Where the file repeats itself, git may see that other lines were moved than these.
            Damage::Moved => self.carried(&chosen).or_else(|| moved(&self.as_read, &chosen, true)),
            _ => Some(after),
        }
    }

    /// Checks whether the reply says wrong lines, and nothing in the edits that were carried out contradicts it: the first line, if
    /// it is given at all, is the same as the one that was meant, or all quoted lines are as they are in the file.
    pub(super) fn is_written_only(&self, carried_out: &[bool]) -> bool {
        let all = lines(&self.as_read);
        let is_same = |passage: &Passage| {
            let was = passage.old().first().copied().unwrap_or_default();
            all.get(passage.at.start).is_some_and(|line| line.trim() == was.trim())
        };
        let mut done = self.damaged.iter().zip(carried_out).filter(|(_, is)| **is);
        match self.damage {
            Damage::OffByOne => true,
            Damage::OffByOneWithWas => done.all(|(passage, _)| is_same(passage)),
            // The quoted lines are as in the file, and only new ones were changed.
            Damage::TabsAndBlanks => {
                let mut pairs = self.passages.iter().zip(&self.damaged);
                pairs.all(|(passage, damaged)| passage.old() == damaged.old())
            }
            // Nothing of a new file says which quotes are its own.
            Damage::CurlyQuotes => self.as_read.is_empty(),
            // The shifted lines are exactly those of another passage, such as one of closing braces.
            Damage::Indentation => self.at_quoted_lines().is_some(),
            _ => false,
        }
    }

    /// Checks whether the damage has made it impossible to say which blanks a line of blanks alone has to have.
    pub(super) fn has_lost_blanks(&self) -> bool {
        self.damage == Damage::TrailingBlanks
    }

    /// Returns the file that a reply gives to another version, where the quoted lines have another indentation than they had, if it is
    /// carried out with that.
    pub(super) fn indented_anew(&self) -> Option<String> {
        let is_stale = matches!(self.damage, Damage::StaleEarlier | Damage::StaleLater);
        if !is_stale || self.format == Format::LineNumbers {
            return None;
        }
        with_passages(&self.before, &reindented(&self.passages, &self.as_read, &self.before)?)
    }

    /// Checks whether the change gives a line other blanks at its end and nothing else, so that a reply with any such blanks cannot say
    /// it.
    pub(super) fn changes_blanks_of(&self, line: &str) -> bool {
        let is_it = |other: &&str| other.trim_end() == line.trim_end();
        self.passages.iter().any(|passage| {
            let (old, new) = (passage.old(), passage.new_lines());
            let has_other = |new: &str| old.iter().copied().filter(is_it).any(|old| old != new);
            new.iter().copied().filter(is_it).any(has_other)
        })
    }

    /// Returns the file that a reply gives which says wrong lines, if it is carried out as it says.
    pub(super) fn as_written(&self, carried_out: &[bool]) -> Option<String> {
        if self.damage == Damage::Indentation {
            return with_passages(&self.as_read, &self.at_quoted_lines()?);
        }
        if self.format != Format::LineNumbers {
            return with_passages(&self.as_read, &self.damaged);
        }
        let old = lines(&self.as_read);
        let passages = self.damaged.iter().zip(carried_out).filter(|(_, is)| **is).map(|(passage, _)| {
            let at = passage.at.start..passage.at.end.min(old.len());
            let gone = old.get(at.clone())?.iter().map(|text| (Sign::Remove, *text));
            let come = passage.new_lines().into_iter().map(|text| (Sign::Add, text));
            let lines =
                gone.chain(come).map(|(sign, text)| super::passage::Line { sign, text: text.to_owned() });
            Some(Passage { at, lines: lines.collect() })
        });
        with_passages(&self.as_read, &passages.collect::<Option<Vec<_>>>()?)
    }

    /// Returns the passages where a reply with another indentation quotes them: at the only lines that are exactly as it says, or
    /// where they were meant. `None` if all are where they were meant.
    fn at_quoted_lines(&self) -> Option<Vec<Passage>> {
        let all = lines(&self.as_read);
        let quoted = |(meant, damaged): (&Passage, &Passage)| {
            let old = damaged.old();
            let mut exact = all.windows(old.len().max(1)).enumerate().filter(|(_, window)| *window == old);
            match (exact.next(), exact.next()) {
                (Some((start, _)), None) => {
                    Passage { at: start..start + old.len(), lines: damaged.lines.clone() }
                }
                _ => meant.clone(),
            }
        };
        let passages: Vec<Passage> = self.passages.iter().zip(&self.damaged).map(quoted).collect();
        let is_elsewhere = passages.iter().zip(&self.passages).any(|(quoted, meant)| quoted.at != meant.at);
        is_elsewhere.then_some(passages)
    }

    /// Checks whether the reply, as it is, says without doubt what is to be done.
    fn could_land(&self) -> bool {
        let Some(expected) = self.expected(&vec![true; self.edits()]) else { return false };
        let is_foreign =
            matches!(self.format, Format::SearchReplace | Format::UnifiedDiff | Format::BeginPatch);
        match self.damage {
            Damage::OffByOne | Damage::OffByOneWithWas | Damage::Shortened => return false,
            Damage::CurlyQuotes => {
                let has_quotes = |lines: &[&str]| lines.iter().any(|line| line.contains(['"', '\'']));
                let is_curly = |text: &str| text.contains(['\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}']);
                let says_so =
                    |passage: &Passage| has_quotes(&passage.old()) || !has_quotes(&passage.new_lines());
                // A paste whose tags were changed, too, is refused as a whole.
                if !is_foreign || is_curly(&expected) || !self.passages.iter().all(says_so) {
                    return false;
                }
            }
            // An edit by line numbers is refused there: the lines have changed.
            Damage::AppliedBefore => return self.format != Format::LineNumbers && self.stands_there(),
            Damage::StaleLater if self.format == Format::LineNumbers && expected == self.before => {
                return false;
            }
            Damage::TabsAndBlanks if !self.shows_indentation() => return false,
            Damage::Moved if self.format == Format::LineNumbers => return false,
            _ => {}
        }
        self.format == Format::LineNumbers || self.substituted().as_ref() == Some(&expected)
    }

    /// Checks whether the new text of every passage stands in the file once, with a line by which it is recognised: the change has
    /// been made.
    fn stands_there(&self) -> bool {
        let all = lines(&self.before);
        self.passages.iter().all(|passage| stands_once(&all, passage))
    }

    /// Replaces each passage where git says that its lines are, if none of them has changed.
    fn carried(&self, chosen: &[Passage]) -> Option<String> {
        if self.format != Format::LineNumbers {
            return None;
        }
        let carry = |passage: &Passage| {
            let at = shifted(&self.as_read, &self.before, &passage.at, Same::Exactly)?;
            Some(Passage { at, lines: passage.lines.clone() })
        };
        with_passages(&self.before, &chosen.iter().map(carry).collect::<Option<Vec<_>>>()?)
    }

    /// Checks whether the lines that a reply quotes show how the file is indented: one of each passage was changed by the damage,
    /// and undoing it gives every line as it was.
    fn shows_indentation(&self) -> bool {
        let mut pairs = self.passages.iter().zip(&self.damaged);
        pairs.all(|(passage, damaged)| {
            let mut lines = passage.lines.iter().zip(&damaged.lines);
            let has_changed = |sign: fn(Sign) -> bool| {
                passage.lines.iter().zip(&damaged.lines).any(|(line, other)| sign(line.sign) && line != other)
            };
            let is_shown = has_changed(|sign| sign != Sign::Add) || !has_changed(|sign| sign == Sign::Add);
            is_shown && lines.all(|(line, other)| damage::is_reversible(&line.text, &other.text))
        })
    }

    /// Replaces each passage where its lines stand once; `None` if one does not. Written without the code that is judged.
    fn substituted(&self) -> Option<String> {
        if self.format == Format::LineNumbers {
            return None;
        }
        let is_loose = matches!(
            self.damage,
            Damage::TrailingBlanks | Damage::Indentation | Damage::TabsAndBlanks | Damage::CurlyQuotes
        );
        let is_stale = matches!(self.damage, Damage::StaleEarlier | Damage::StaleLater);
        let key = |text: &str| match (is_loose, is_stale) {
            (true, _) => text.trim().to_owned(),
            // The other version may have other blanks at line ends, which is no reason to refuse.
            (false, true) => text.trim_end().to_owned(),
            (false, false) => text.to_owned(),
        };
        let mut text = self.before.clone();
        for passage in &self.passages {
            if is_stale && stands_once(&lines(&text), passage) {
                continue;
            }
            let all: Vec<String> = lines(&text).into_iter().map(key).collect();
            let wanted: Vec<String> = passage.old().into_iter().map(key).collect();
            let mut at =
                all.windows(wanted.len().max(1)).enumerate().filter(|(_, window)| **window == wanted);
            let (Some((start, _)), None) = (at.next(), at.next()) else { return None };
            let passage = Passage { at: start..start + wanted.len(), lines: passage.lines.clone() };
            text = with_passages(&text, &[passage])?;
        }
        Some(text)
    }
}

/// Checks whether the new text of a passage stands among lines once, with a line by which it is recognised.
fn stands_once(all: &[&str], passage: &Passage) -> bool {
    let is_telling = |line: &super::passage::Line| {
        let characters = line.text.chars().filter(|character| !character.is_whitespace());
        line.sign == Sign::Add && characters.count() >= TELLING_CHARACTERS
    };
    passage.lines.iter().any(is_telling) && occurrences(all, &passage.new_lines()) == 1
}

/// Checks whether damaged line numbers are such that the lines exist.
fn fits(passages: &[Passage], old: &str, damage: Damage) -> bool {
    let count = lines(old).len();
    let is_off = matches!(damage, Damage::OffByOne | Damage::OffByOneWithWas);
    let was = passages.iter().filter_map(|passage| passage.old().first().map(|line| line.contains('"')));
    !is_off
        || (passages.iter().all(|passage| passage.at.end <= count) && !was.into_iter().any(|quoted| quoted))
}

fn with_crlf(text: &str) -> Option<String> {
    (!text.contains('\r')).then(|| text.replace('\n', "\r\n"))
}

/// Moves the only passage with lines around it to the end of the text, or from there to its start. With `is_changed`, the
/// passage is changed on the way.
fn moved(old: &str, passages: &[Passage], is_changed: bool) -> Option<String> {
    let [passage] = passages else { return None };
    let all: Vec<&str> = old.split_inclusive('\n').collect();
    let block = passage.at.start.saturating_sub(MOVED_WITH)..(passage.at.end + MOVED_WITH).min(all.len());
    if !old.ends_with('\n') || block.len() * 2 > all.len() {
        return None;
    }
    let (above, below) = (all[..block.start].concat(), all[block.end..].concat());
    let mut text = all[block.clone()].concat();
    if is_changed {
        let at = passage.at.start - block.start..passage.at.end - block.start;
        text = with_passages(&text, &[Passage { at, lines: passage.lines.clone() }])?;
    }
    Some(if block.end == all.len() { text + &above } else { above + &below + &text })
}
