//! The repair of one block's body, with the reasons to refuse the paste or to fail the block.

use std::borrow::Cow;

use crate::{
    BlockKind, Body, Dialect, ParseErrorKind, Refusal, RefusalKind, RepairKind, RepairSet,
    block::hunk,
    foreign::edit_in_body,
    parse::{assemble, tag::OpeningTag},
    repair::{
        citation, copy_label, doubt, fence,
        file_kind::FileKind,
        gutter::{self, Gutter},
        indentation, omission,
        outline::FoundBlock,
        quote::{self, Quoted},
        view_gutter::{self, ViewNumbers},
    },
    span::line_number,
};

/// A body after its repair.
#[derive(Debug)]
pub(crate) struct RepairedBody<'a> {
    pub(crate) body: Body<'a>,
    pub(crate) repairs: RepairSet,
    /// A fault of the model, which keeps this block from running.
    pub(crate) fault: Option<ParseErrorKind>,
}

/// A closed block with the text between its tags.
#[derive(Debug)]
pub(crate) struct ClosedBlock<'b, 'a> {
    pub(crate) block: &'b FoundBlock<'a>,
    /// The bytes between the tags.
    pub(crate) raw: &'a str,
    /// The number of the body's first line in the paste.
    pub(crate) first_line: usize,
    /// The whitespace in front of the closing tag.
    pub(crate) closing_indent: &'a str,
    /// The lines of both tags.
    pub(crate) tags: [&'a str; 2],
    /// The damage that the body may have, judging by the tags.
    pub(crate) suspected: RepairSet,
    pub(crate) dialect: Dialect,
}

impl<'a> ClosedBlock<'_, 'a> {
    /// Repairs the body.
    ///
    /// Messages and summaries are only shown: quote marks are removed, and nothing is checked.
    pub(crate) fn repaired_body(&self) -> Result<RepairedBody<'a>, Refusal> {
        let body = assemble::body(self.raw);
        let tag = &self.block.opening.tag;
        let file = match tag.kind {
            BlockKind::CreateFile | BlockKind::EditFile => match tag.usable_path() {
                Some(path) => Some(FileKind::of(path)),
                // The block fails for its path, so its body is not used.
                None => return Ok(untouched(body)),
            },
            _ => None,
        };
        let is_shown_only = matches!(tag.kind, BlockKind::Message | BlockKind::Done);
        let lines: Vec<&str> = body.lines().collect();
        let mut text =
            Lines { lines: Cow::Borrowed(&lines), first_line: self.first_line, repairs: RepairSet::EMPTY };
        self.unquote(&mut text, is_shown_only)?;
        let fault = if is_shown_only { None } else { self.repair_content(&mut text, file)? };
        if text.repairs.is_empty() {
            return Ok(RepairedBody { fault, ..untouched(body) });
        }
        let repaired = match text.lines.len() {
            0 => Body::no_lines(),
            count => Body::counted(Cow::Owned(text.lines.join("\n")), count),
        };
        Ok(RepairedBody { body: repaired, repairs: text.repairs, fault })
    }

    fn unquote(&self, text: &mut Lines<'_>, is_shown_only: bool) -> Result<(), Refusal> {
        if !self.block.opening.damage.contains(RepairKind::Quote) {
            return Ok(());
        }
        match quote::unquoted(&text.lines, self.block.indent, self.tags) {
            Quoted::None => {}
            Quoted::All(bare) => text.replace(bare, RepairKind::Quote),
            Quoted::Some { line_index } if !is_shown_only => {
                return Err(text.refusal(RefusalKind::QuoteIncomplete, line_index));
            }
            Quoted::Some { .. } => {}
        }
        Ok(())
    }

    fn repair_content(
        &self,
        text: &mut Lines<'_>,
        file: Option<FileKind>,
    ) -> Result<Option<ParseErrorKind>, Refusal> {
        let tag = &self.block.opening.tag;
        // Doubts come before repairs: a repair would remove the evidence.
        if self.is_indented_with_its_list_item(&text.lines) || self.is_indented_as_a_whole(&text.lines, file)
        {
            return Err(text.refusal(RefusalKind::ListIndent, 0));
        }
        if let Some(index) = self.no_break_spaces_at(&text.lines, file) {
            return Err(text.refusal(RefusalKind::NbspInBody, index));
        }
        if let Some(kind) = doubt::about(&text.lines, self.suspected) {
            return Err(text.refusal(kind, 0));
        }
        if copy_label::begins(&text.lines, file) {
            return Err(text.refusal(RefusalKind::CopyLabel, 0));
        }
        // The fence is removed before the gutter inside it.
        text.unwrap_fence(tag.kind, file);
        if let Some(file) = file {
            if let Some(fault) = text.remove_gutter(tag, file, self.dialect)? {
                return Ok(Some(fault));
            }
            // Last, since fence and gutter hide the start of the lines.
            let lost = match file {
                FileKind::Python => self.python_lost_at(&text.lines).zip(Some(RefusalKind::IndentationLost)),
                FileKind::Makefile => {
                    indentation::makefile_tabs_lost_at(&text.lines).zip(Some(RefusalKind::TabsLost))
                }
                _ => None,
            };
            if let Some((line_index, kind)) = lost {
                return Err(text.refusal(kind, line_index));
            }
        }
        Ok(self.fault(&text.lines, file))
    }

    /// Returns the line of a Python body that lost its indentation. The parts of hunks are checked one by one: the marks
    /// between them are not Python.
    fn python_lost_at(&self, lines: &[&str]) -> Option<usize> {
        let is_indented = |line: &&str| line.starts_with([' ', '\t']) && !line.trim().is_empty();
        if !self.has_hunks(lines) {
            return indentation::python_lost_at(lines);
        }
        if lines.iter().any(is_indented) {
            return None;
        }
        let mut start = 0;
        for part in lines.split(|line| hunk::is_any_mark(line)) {
            if let Some(index) = indentation::python_lost_at(part) {
                return Some(start + index);
            }
            start += part.len() + 1;
        }
        None
    }

    fn has_hunks(&self, lines: &[&str]) -> bool {
        let is_edit = self.block.opening.tag.kind == BlockKind::EditFile;
        self.dialect == Dialect::Agentd && is_edit && hunk::begin(lines)
    }

    /// Returns a fault of the model. In Markdown, such text is content.
    fn fault(&self, lines: &[&str], file: Option<FileKind>) -> Option<ParseErrorKind> {
        let path = self.block.opening.tag.usable_path().filter(|_| file.is_some()).map(str::to_owned);
        if self.dialect == Dialect::Agentd
            && let (Some(path), Some(file)) = (&path, file)
            && let Some(index) = edit_in_body(lines, path, self.block.opening.tag.kind, file)
        {
            return Some(ParseErrorKind::EditInBody {
                path: path.clone(),
                line_number: line_number(index + 1),
            });
        }
        if self.dialect == Dialect::Agentd
            && !self.has_hunks(lines)
            && file.is_none_or(|file| file.is_code() || file == FileKind::Yaml)
            && let Some(index) = self.half_fence_at(lines)
        {
            return Some(ParseErrorKind::FenceInBody { path, line_number: line_number(index + 1) });
        }
        if file == Some(FileKind::Markdown) {
            return None;
        }
        // Counted within the body: the model does not know the line numbers of the paste.
        if let Some(index) = citation::first_line_with(lines) {
            return Some(ParseErrorKind::CitationInBody { path, line_number: line_number(index + 1) });
        }
        let line_index = omission::first_line_with(lines);
        if let Some(path) = &path
            && self.has_hunks(lines)
            && let Some(Ok(hunks)) = hunk::hunks(lines.iter().copied(), 0)
            && hunks.iter().all(|hunk| hunk.omitted(path).is_none())
        {
            return None;
        }
        path.zip(line_index)
            .map(|(path, index)| ParseErrorKind::OmittedCode { path, line_number: line_number(index + 1) })
    }

    /// Returns the first or last line of a body if it is one half of a code fence. Lines of an edit may begin with a whole fence,
    /// in a text of the file.
    fn half_fence_at(&self, lines: &[&str]) -> Option<usize> {
        let is_text = |line: &&str| !line.trim().is_empty();
        let first = lines.iter().position(is_text)?;
        let last = lines.iter().rposition(is_text)?;
        let half = fence::half(&lines[first..=last]).map(|index| first + index);
        let is_fence = |line: &str| line.starts_with("```") && fence::Fence::read(line).is_some();
        let begins = || {
            (self.block.opening.tag.kind != BlockKind::EditFile && is_fence(lines[first])).then_some(first)
        };
        half.or_else(begins)
    }

    /// Returns the first line of a command or a new file that has no-break spaces instead of plain ones. For an edit, the file
    /// itself shows whether they are intended.
    fn no_break_spaces_at(&self, lines: &[&str], file: Option<FileKind>) -> Option<usize> {
        match self.block.opening.tag.kind {
            BlockKind::CreateFile => indentation::no_break_spaces_at(lines.iter().copied(), file?),
            BlockKind::RunCommand => indentation::no_break_spaces_in_command(lines),
            _ => None,
        }
    }

    /// Checks for a block with both tags and all lines indented: its list marker may have been lost, or a chat has indented it,
    /// so the indentation of the file cannot be determined.
    ///
    /// The shell ignores spaces before a command, but not before the end of a here-document.
    fn is_indented_as_a_whole(&self, lines: &[&str], file: Option<FileKind>) -> bool {
        let FoundBlock { opening, indent, span, .. } = self.block;
        // Chats trim the start of a reply.
        let indent = if span.start == 0 && indent.is_empty() { self.closing_indent } else { indent };
        let has_lines = || lines.iter().any(|line| !line.trim().is_empty());
        let belongs = |line: &&str| line.starts_with(indent) || line.trim().is_empty();
        let has_meaning = || file.is_some() || lines.iter().any(|line| line.contains("<<"));
        !indent.is_empty()
            && self.closing_indent == indent
            && !opening.damage.contains(RepairKind::Quote)
            && has_lines()
            && has_meaning()
            && lines.iter().all(belongs)
    }

    /// Checks for a block after a list marker whose lines were indented with it: their original indentation cannot be determined.
    fn is_indented_with_its_list_item(&self, lines: &[&str]) -> bool {
        let FoundBlock { opening, indent, is_in_list_item, .. } = self.block;
        if lines.iter().all(|line| line.trim().is_empty()) {
            return false;
        }
        if *is_in_list_item && !indent.is_empty() {
            let belongs = |line: &&str| line.starts_with(indent) || line.trim().is_empty();
            return lines.iter().all(belongs);
        }
        if !opening.damage.contains(RepairKind::List) {
            return false;
        }
        let is_indented = |line: &&str| line.starts_with([' ', '\t']) || line.trim().is_empty();
        self.closing_indent.len() > self.block.indent.len()
            || (opening.tag.kind == BlockKind::CreateFile && lines.iter().all(is_indented))
    }
}

fn untouched(body: Body<'_>) -> RepairedBody<'_> {
    RepairedBody { body, repairs: RepairSet::EMPTY, fault: None }
}

/// The lines of a body during its repair.
struct Lines<'l> {
    lines: Cow<'l, [&'l str]>,
    /// The number of the first line in the paste.
    first_line: usize,
    repairs: RepairSet,
}

impl<'l> Lines<'l> {
    fn replace(&mut self, lines: Vec<&'l str>, kind: RepairKind) {
        self.lines = Cow::Owned(lines);
        self.repairs.insert(kind);
    }

    fn refusal(&self, kind: RefusalKind, line_index: usize) -> Refusal {
        Refusal { kind, line_number: line_number(self.first_line + line_index) }
    }

    /// Removes a code fence that encloses everything, unless fences can be content.
    fn unwrap_fence(&mut self, kind: BlockKind, file: Option<FileKind>) {
        if file == Some(FileKind::Markdown) {
            return;
        }
        let is_blank = |line: &&str| line.trim().is_empty();
        // A command is trimmed later, so blank lines around its fence can be ignored; in a file they are content.
        let blank_lines = if kind == BlockKind::RunCommand {
            self.lines.iter().take_while(|line| is_blank(line)).count()
        } else {
            0
        };
        let mut fenced = &self.lines[blank_lines..];
        while let [rest @ .., last] = fenced
            && kind == BlockKind::RunCommand
            && is_blank(last)
        {
            fenced = rest;
        }
        if let Some(inner) = fence::unwrapped(fenced) {
            let inner = inner.to_vec();
            self.first_line += blank_lines + 1;
            self.replace(inner, RepairKind::BodyFence);
        }
    }

    /// Removes line numbers; returns the fault of numbers that do not fit.
    fn remove_gutter(
        &mut self,
        tag: &OpeningTag<'_>,
        file: FileKind,
        dialect: Dialect,
    ) -> Result<Option<ParseErrorKind>, Refusal> {
        // The numbers of an edit begin with its `start_line`. Without a valid one there is nothing to compare with.
        let first = match tag.kind {
            BlockKind::EditFile => tag.start_line.value().and_then(|line| line.trim().parse::<u32>().ok()),
            _ => Some(1),
        };
        let Some(first) = first.map(u64::from) else { return Ok(None) };
        let view = match dialect {
            Dialect::Agentd => {
                view_gutter::without(&self.lines, first, tag.kind == BlockKind::EditFile, file)
            }
            Dialect::CodingAgent => ViewNumbers::None,
        };
        match view {
            ViewNumbers::None => {}
            ViewNumbers::Fit(bare) => {
                self.replace(bare, RepairKind::Gutter);
                return Ok(None);
            }
            ViewNumbers::OfFile => return Ok(None),
            ViewNumbers::Unfit => {
                let path = tag.usable_path().unwrap_or_default().to_owned();
                return Ok(Some(ParseErrorKind::NumbersInBody { path }));
            }
        }
        match gutter::without(&self.lines, first, file) {
            Gutter::None => Ok(None),
            Gutter::All(bare) => {
                self.replace(bare, RepairKind::Gutter);
                Ok(None)
            }
            Gutter::Incomplete { line_index } => Err(self.refusal(RefusalKind::GutterIncomplete, line_index)),
        }
    }
}
