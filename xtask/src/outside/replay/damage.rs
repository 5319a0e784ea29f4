//! The usual damages of a reply, and of the file that it is about.

use super::dice::Dice;
use super::format::Format;
use super::passage::{Line, Passage, Sign};

/// A damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Damage {
    /// None.
    None,
    /// Line numbers that are one too high or too low, and nothing else in the reply that says so.
    OffByOne,
    /// The same with the first line in `was`.
    OffByOneWithWas,
    /// Positions and lengths in hunk headers that are wrong.
    HeaderNumbers,
    /// Blanks at line ends that the file does not have.
    TrailingBlanks,
    /// All lines of a passage with less indentation, or more.
    Indentation,
    /// Tabs instead of blanks, or blanks instead of tabs.
    TabsAndBlanks,
    /// Curly quotes all over the reply.
    CurlyQuotes,
    /// The numbers of a view in front of lines.
    ViewNumbers,
    /// The reply's lines end with CRLF.
    ReplyCrlf,
    /// The file's lines end with CRLF.
    FileCrlf,
    /// The file is an earlier version than the one that the reply is about.
    StaleEarlier,
    /// The file is a later version.
    StaleLater,
    /// The change has been made already.
    AppliedBefore,
    /// The passage was moved to another position of the file.
    Moved,
    /// The passages stand in the reply in the reverse order.
    Reversed,
    /// New lines are left out, with a comment that says so.
    Shortened,
}

impl Damage {
    pub(super) const ALL: [Damage; 17] = [
        Damage::None,
        Damage::OffByOne,
        Damage::OffByOneWithWas,
        Damage::HeaderNumbers,
        Damage::TrailingBlanks,
        Damage::Indentation,
        Damage::TabsAndBlanks,
        Damage::CurlyQuotes,
        Damage::ViewNumbers,
        Damage::ReplyCrlf,
        Damage::FileCrlf,
        Damage::StaleEarlier,
        Damage::StaleLater,
        Damage::AppliedBefore,
        Damage::Moved,
        Damage::Reversed,
        Damage::Shortened,
    ];

    /// Returns the name in the report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Damage::None => "none",
            Damage::OffByOne => "off by one",
            Damage::OffByOneWithWas => "off by one, with `was`",
            Damage::HeaderNumbers => "hunk headers wrong",
            Damage::TrailingBlanks => "blanks at line ends",
            Damage::Indentation => "indentation shifted",
            Damage::TabsAndBlanks => "tabs against blanks",
            Damage::CurlyQuotes => "quotes made curly",
            Damage::ViewNumbers => "numbers of the view",
            Damage::ReplyCrlf => "reply with CRLF",
            Damage::FileCrlf => "file with CRLF",
            Damage::StaleEarlier => "stale: earlier file",
            Damage::StaleLater => "stale: later file",
            Damage::AppliedBefore => "applied before",
            Damage::Moved => "passage moved",
            Damage::Reversed => "hunks in reverse order",
            Damage::Shortened => "body shortened",
        }
    }

    /// Checks whether replies in a format can have the damage.
    pub(super) fn is_of(self, format: Format) -> bool {
        match self {
            Damage::OffByOne | Damage::OffByOneWithWas => format == Format::LineNumbers,
            Damage::HeaderNumbers => format == Format::UnifiedDiff,
            // The body of an edit by line numbers says what the file is to have, and nothing contradicts it.
            Damage::TrailingBlanks | Damage::Indentation | Damage::TabsAndBlanks => {
                format != Format::LineNumbers
            }
            Damage::ViewNumbers => {
                matches!(format, Format::LineNumbers | Format::Hunks | Format::SearchReplace)
            }
            _ => true,
        }
    }

    /// Damages the passages of a reply. `None` if they cannot have it.
    pub(super) fn harm(self, passages: &mut [Passage], dice: &mut Dice) -> Option<()> {
        match self {
            Damage::OffByOne | Damage::OffByOneWithWas => {
                for passage in passages {
                    let by_less = passage.at.start > 0 && dice.below(2) == 0;
                    let shift = |index: usize| if by_less { index - 1 } else { index + 1 };
                    passage.at = shift(passage.at.start)..shift(passage.at.end);
                }
            }
            Damage::TrailingBlanks => {
                for line in every_few(passages, dice, |line| line.sign != Sign::Add)? {
                    line.text.push_str("  ");
                }
            }
            Damage::Indentation => passages.iter_mut().for_each(shift_indentation),
            Damage::TabsAndBlanks => {
                let mut lines: Vec<&mut Line> =
                    passages.iter_mut().flat_map(|passage| &mut passage.lines).collect();
                let with_tabs = lines.iter().any(|line| line.text.starts_with('\t'));
                let mut has_changed = false;
                for line in &mut lines {
                    has_changed |= exchange_indentation(&mut line.text, with_tabs);
                }
                has_changed.then_some(())?;
            }
            Damage::Reversed => {
                (passages.len() > 1).then_some(())?;
                passages.reverse();
            }
            Damage::Shortened => shorten(passages)?,
            Damage::None
            | Damage::HeaderNumbers
            | Damage::CurlyQuotes
            | Damage::ViewNumbers
            | Damage::ReplyCrlf
            | Damage::FileCrlf
            | Damage::StaleEarlier
            | Damage::StaleLater
            | Damage::AppliedBefore
            | Damage::Moved => {}
        }
        Some(())
    }
}

/// Returns about a third of the lines that the condition chooses, at least one.
fn every_few<'p>(
    passages: &'p mut [Passage],
    dice: &mut Dice,
    is_meant: impl Fn(&Line) -> bool,
) -> Option<Vec<&'p mut Line>> {
    let mut lines: Vec<&mut Line> =
        passages.iter_mut().flat_map(|passage| &mut passage.lines).filter(|line| is_meant(line)).collect();
    if lines.is_empty() {
        return None;
    }
    dice.shuffle(&mut lines);
    lines.truncate(lines.len().div_ceil(3));
    Some(lines)
}

fn shift_indentation(passage: &mut Passage) {
    let indent = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let with_text = || passage.lines.iter().filter(|line| !line.text.trim().is_empty());
    let common = with_text().map(|line| indent(&line.text)).min().unwrap_or_default();
    let first = with_text().next().map(|line| line.text[..common].to_owned()).unwrap_or_default();
    let is_common = common > 0 && with_text().all(|line| line.text.starts_with(&first));
    for line in passage.lines.iter_mut().filter(|line| !line.text.trim().is_empty()) {
        if is_common {
            line.text.drain(..common);
        } else {
            line.text.insert_str(0, "    ");
        }
    }
}

/// Writes each leading tab as four blanks, or each four leading blanks as a tab.
fn exchange_indentation(text: &mut String, with_tabs: bool) -> bool {
    let before = text.clone();
    let body = text.trim_start_matches([' ', '\t']);
    let indent = &text[..text.len() - body.len()];
    let indent = if with_tabs { indent.replace('\t', "    ") } else { indent.replace("    ", "\t") };
    *text = format!("{indent}{body}");
    *text != before
}

/// Checks whether exchanging tabs and blanks once more gives the line as it was before.
pub(super) fn is_reversible(before: &str, after: &str) -> bool {
    let mut again = after.to_owned();
    exchange_indentation(&mut again, !before.starts_with('\t'));
    before == after || again == before
}

/// Writes a comment instead of the middle of the longest run of new lines.
fn shorten(passages: &mut [Passage]) -> Option<()> {
    let passage = passages
        .iter_mut()
        .max_by_key(|passage| passage.lines.iter().filter(|line| line.sign == Sign::Add).count())?;
    let added: Vec<usize> = passage
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.sign == Sign::Add)
        .map(|(index, _)| index)
        .collect();
    let [_, middle @ .., _] = added.as_slice() else { return None };
    let first = *middle.first()?;
    "    # ... rest of the code unchanged ...".clone_into(&mut passage.lines[first].text);
    for index in middle[1..].iter().rev() {
        passage.lines.remove(*index);
    }
    Some(())
}

/// Returns a text with the curly quotes that an editor would put there.
pub(super) fn with_curly_quotes(text: &str) -> String {
    let mut curly = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        let opens = before.is_whitespace() || matches!(before, '(' | '[' | '{' | '=' | ',');
        curly.push(match (character, opens) {
            ('"', true) => '\u{201C}',
            ('"', false) => '\u{201D}',
            ('\'', true) => '\u{2018}',
            ('\'', false) => '\u{2019}',
            _ => character,
        });
        before = character;
    }
    curly
}
