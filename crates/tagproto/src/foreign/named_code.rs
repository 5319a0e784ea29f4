//! Code blocks that write a file, in a reply that changes no file.
//!
//! A model that has not used blocks before writes a file like this, under its name or as a here-document of a shell, and takes it
//! for written. As prose it would be lost without a word, and DONE would end the session.

mod here_document;
mod language;
mod view;

use self::language::Language;
use self::view::Views;
use super::file_name::{FileName, is_file_name, is_usual_name};
use super::markup_name::Markup;
use super::{ForeignFault, ReplyLine, extent};
use crate::near_miss::lines_outside;
use crate::repair::{Fence, Thinking};
use crate::{BlockKind, Dialect, Item, ParseError, ParseErrorKind};

/// Returns an error for each code block that writes a file, if no block of the reply changes a file or has an error. Takes time
/// linear in the text.
pub(crate) fn named_code<'a>(text: &'a str, blocks: &[Item<'_>]) -> Vec<Item<'a>> {
    let block_of = |item: &Item<'_>| match item {
        Item::Block(block) => Some(block.value.kind()),
        Item::Error(_) => None,
    };
    let Some(kinds) = blocks.iter().map(block_of).collect::<Option<Vec<BlockKind>>>() else {
        return Vec::new();
    };
    if kinds.iter().any(|kind| CHANGES.contains(kind)) {
        return Vec::new();
    }
    let mut thinking = Thinking::of(Dialect::Agentd);
    let outside = lines_outside(text, blocks.iter().map(Item::span), &mut thinking);
    let lines: Vec<ReplyLine<'a>> = outside.map(|(index, line)| ReplyLine::of(text, index, &line)).collect();
    let runs_commands = kinds.contains(&BlockKind::RunCommand);
    // A code block cannot extend across a block.
    let between = lines.chunk_by(|line, next| next.number == line.number + 1);
    between.flat_map(|lines| read(lines, runs_commands)).collect()
}

/// The blocks that change files.
const CHANGES: [BlockKind; 3] = [BlockKind::CreateFile, BlockKind::EditFile, BlockKind::DeleteFile];

fn read<'a>(lines: &[ReplyLine<'a>], runs_commands: bool) -> Vec<Item<'a>> {
    let views = Views::of(lines);
    let mut name = FileName::default();
    let mut items = Vec::new();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        if let Some((path, last)) = views.beginning_at(lines, index).filter(|(path, _)| is_name(path)) {
            let code = view::without_numbers(&lines[index + 1..last]);
            items.extend(named(&lines[index..=last], path, vec![code.join("\n")]));
            index = last + 1;
            continue;
        }
        name.pass(line.text, line.number);
        index += 1;
        let Some(opening) = name.fence() else { continue };
        let closes = |line: &ReplyLine<'_>| Fence::read(line.text).is_some_and(|fence| fence.closes(opening));
        // A block without an end may have been cut off: that is reported elsewhere, if at all.
        let Some(length) = lines[index..].iter().position(closes) else { break };
        let last = index + length;
        let mut code: Vec<&str> = lines[index..last].iter().map(|line| line.text).collect();
        // The name may also be in a comment on the first line.
        if code.first().is_some_and(|line| names_a_file(line)) {
            name.pass(code.remove(0), lines[index].number);
        }
        let language = Language::of(line.text);
        let block = &lines[index - 1..=last];
        match name.given().filter(|path| is_name(path) && language.can_be_of(path)) {
            Some(path) => items.extend(named(block, path, language.new_passages(&code))),
            None if language.is_shell() && !runs_commands => items.extend(shell(block, &code)),
            None => {}
        }
        name.pass(lines[last].text, lines[last].number);
        name.forget();
        index = last + 1;
    }
    items
}

/// Returns the error of a code block that names its file, unless it is empty.
fn named<'a>(block: &[ReplyLine<'a>], path: &str, passages: Vec<String>) -> Option<Item<'a>> {
    let path = path.to_owned();
    let is_empty = passages.iter().all(|passage| passage.trim().is_empty());
    (!is_empty).then(|| {
        let line_number = block[0].number;
        error(block, BlockKind::CreateFile, ForeignFault::NamedCode { line_number, path, passages })
    })
}

/// Returns the error of a code block with shell text that writes a file.
fn shell<'a>(block: &[ReplyLine<'a>], code: &[&str]) -> Option<Item<'a>> {
    let (path, text) = here_document::first(code)?;
    let (line_number, path) = (block[0].number, path.to_owned());
    let fault = ForeignFault::ShellCode { line_number, path, passages: vec![text] };
    Some(error(block, BlockKind::RunCommand, fault))
}

fn error<'a>(block: &[ReplyLine<'a>], command: BlockKind, fault: ForeignFault) -> Item<'a> {
    let (span, lines) = extent(block);
    Item::Error(ParseError { command, kind: ParseErrorKind::Foreign(fault), span, lines })
}

fn names_a_file(line: &str) -> bool {
    let line = line.trim();
    let markup = Markup::read(line).or_else(|| Markup::of_code_comment(line, true));
    matches!(markup, Some(Markup::File(_)))
}

fn is_name(path: &str) -> bool {
    is_file_name(path, "", false) || is_usual_name(path)
}
