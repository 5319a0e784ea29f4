//! Edits in the formats of other programs in a reply that also has blocks.
//!
//! The blocks count. If the edits were treated as prose, a model would continue as if they had been carried out, so each is an
//! error.

use super::unified_diff::is_hunk_header;
use super::{Ending, ForeignFault, ReplyLine, items_of, unnamed_diff};
use crate::near_miss::lines_outside;
use crate::repair::{Thinking, opening_kind};
use crate::{Dialect, Item, ParseError, ParseErrorKind};

/// Returns an error for each edit outside of the blocks of a reply, in the order of the text. Takes time linear in the text.
pub(crate) fn alongside_blocks<'a>(text: &'a str, blocks: &[Item<'_>]) -> Vec<Item<'a>> {
    let mut thinking = Thinking::of(Dialect::Agentd);
    let outside = lines_outside(text, blocks.iter().map(Item::span), &mut thinking);
    let lines: Vec<ReplyLine<'a>> = outside.map(|(index, line)| ReplyLine::of(text, index, &line)).collect();
    let ending = Ending::of(text, &lines);
    // An edit cannot extend across a block.
    let between = lines.chunk_by(|line, next| next.number == line.number + 1);
    between.flat_map(|lines| items_of(lines, ending)).filter_map(|item| error_of(text, item)).collect()
}

/// Checks for a diff without a file name.
pub(super) fn is_nameless(item: &Item<'_>) -> bool {
    let Item::Error(error) = item else { return false };
    matches!(error.kind, ParseErrorKind::Foreign(ForeignFault::UnnamedDiff))
}

/// Returns the error of an edit. Returns `None` for a diff without a file name or tags, which shows what a block changes, and for
/// a diff without any hunk.
fn error_of<'a>(text: &str, item: Item<'a>) -> Option<Item<'a>> {
    let (span, lines, command) = (item.span(), item.lines(), item.kind());
    let edit = &text[span.start..span.end];
    let half_named = is_nameless(&item).then(|| unnamed_diff::named_file(edit)).flatten().map(str::to_owned);
    let has_tags = || edit.lines().any(|line| opening_kind(line).is_some());
    if is_nameless(&item) && half_named.is_none() && !has_tags() {
        return None;
    }
    let path = match item {
        Item::Block(block) => block.value.path().map(str::to_owned),
        Item::Error(_) if half_named.is_some() => half_named,
        Item::Error(error) => match error.kind {
            ParseErrorKind::Foreign(ForeignFault::Empty { .. }) if !edit.lines().any(is_hunk_header) => {
                return None;
            }
            ParseErrorKind::Foreign(ForeignFault::Empty { path } | ForeignFault::CutOff { path }) => {
                Some(path)
            }
            ParseErrorKind::Foreign(ref fault) if fault.remains_in_a_block() => {
                return Some(Item::Error(error));
            }
            _ => None,
        },
    };
    Some(Item::Error(ParseError { command, kind: ParseErrorKind::AlongsideBlocks { path }, span, lines }))
}

impl ForeignFault {
    /// Checks whether the edit would fail as a block, too. The other faults are specific to a format.
    fn remains_in_a_block(&self) -> bool {
        match self {
            Self::Rename { .. }
            | Self::Binary { .. }
            | Self::OmittedCode { .. }
            | Self::NoLine { .. }
            | Self::ToolCall { .. } => true,
            Self::Hunk { .. }
            | Self::NoPath { .. }
            | Self::UnchangedFile { .. }
            | Self::TwoNames { .. }
            | Self::NearForm { .. }
            | Self::NamedCode { .. }
            | Self::ShellCode { .. }
            | Self::UnnamedDiff
            | Self::Empty { .. }
            | Self::NoContext { .. }
            | Self::NoEnd
            | Self::CutOff { .. }
            | Self::AfterEnd { .. }
            | Self::Line { .. }
            | Self::Unsigned { .. }
            | Self::ShortHunk { .. } => false,
        }
    }
}
