//! Thinking blocks outside of bodies.
//!
//! Every dialect has closed blocks in the first two spellings. The dialect `agentd` also has the spellings of other models, and
//! thinking without one of its marks: thinking without a closing mark was cut off, and a closing mark without an opening mark
//! ends thinking that began with the reply, or that continued after the previous closing mark. In this dialect, a mark inside an
//! edit in the format of another program is text of that edit, like a mark in a body. Words that other texts have as elements too
//! are marks only in pairs, each alone on its line.

use std::ops::Range;

use crate::{
    BlockKind, Dialect, foreign,
    parse::scan::{Line, after},
    repair::{
        fence::Fence,
        outline::lines_from,
        tag_line::{closing_kind, opening_kind},
    },
};

/// One spelling of the marks.
#[derive(Debug)]
struct Spelling {
    /// The mark at the start of a line.
    opening: &'static str,
    closing: &'static str,
    /// True if chats leave out the opening mark.
    closes_alone: bool,
}

const fn spelling(opening: &'static str, closing: &'static str, closes_alone: bool) -> Spelling {
    Spelling { opening, closing, closes_alone }
}

const SPELLINGS: [Spelling; 20] = [
    spelling("<think>", "</think>", true),
    spelling("<thinking>", "</thinking>", true),
    spelling("<thought>", "</thought>", true),
    spelling("<thoughts>", "</thoughts>", true),
    spelling("<reasoning>", "</reasoning>", true),
    spelling("<reflection>", "</reflection>", true),
    spelling("<scratchpad>", "</scratchpad>", true),
    spelling("<antThinking>", "</antThinking>", true),
    spelling("<seed:think>", "</seed:think>", true),
    spelling("[THINK]", "[/THINK]", true),
    spelling("◁think▷", "◁/think▷", true),
    spelling("<|begin_of_thought|>", "<|end_of_thought|>", true),
    spelling("<|channel|>analysis<|message|>", "<|end|>", false),
    spelling("<details type=\"reasoning\"", "</details>", false),
    spelling("<analysis>", "</analysis>", false),
    spelling("<reasoning_content>", "</reasoning_content>", false),
    spelling("<inner_monologue>", "</inner_monologue>", false),
    spelling("<planning>", "</planning>", false),
    spelling("<example>", "</example>", false),
    spelling("[thinking]", "[/thinking]", false),
];

/// The number of spellings of which one mark suffices, and which may have text on their lines. The others are marks in pairs.
const SINGLE: usize = 14;

/// The number of spellings in the dialect of the first implementation, with exactly these letters.
const ORIGINAL: usize = 2;

/// The thinking of one text, which is searched from start to end.
#[derive(Debug)]
pub(crate) struct Thinking {
    dialect: Dialect,
    marks: Option<Marks>,
    /// Ranges that may not be thinking, or only in part.
    doubtful: Vec<Range<usize>>,
}

impl Thinking {
    pub(crate) fn of(dialect: Dialect) -> Thinking {
        Thinking { dialect, marks: None, doubtful: Vec::new() }
    }

    /// Returns the offset after the thinking block that begins with this line; `None` if none does.
    pub(crate) fn end_of_block(&mut self, text: &str, line: &Line) -> Option<usize> {
        let marks = self.marks.get_or_insert_with(|| Marks::of(text, self.dialect));
        if let Some(leading) = &marks.leading
            && (line.start..=line.end).contains(&leading.range.start)
        {
            self.doubtful.extend(leading.is_doubtful.then(|| leading.range.clone()));
            return Some(leading.range.end);
        }
        let which = opening(&text[line.start..line.end], self.dialect)?;
        if marks.edit_around(line.start).is_some() {
            return None;
        }
        let closing = marks.closing_of(which, line);
        if closing.is_none() && which >= SINGLE {
            return None;
        }
        let Some(at) = closing else {
            // Without a tag inside, it does not matter whether this is thinking.
            let is_cut_off = self.dialect == Dialect::Agentd && marks.last_tag > line.end;
            self.doubtful.extend(is_cut_off.then_some(line.start..text.len()));
            return is_cut_off.then_some(text.len());
        };
        let mut end = after_line(text, at);
        // In the last line of an edit, the closing mark may be its text. An opening mark alone in a fence may be an example.
        if marks.edit_around(at).is_some() || self.dialect == Dialect::Agentd && is_alone_in_fence(text, line)
        {
            self.doubtful.push(line.start..end);
        }
        if self.dialect == Dialect::Agentd {
            let until = marks.next_opening(end).unwrap_or(text.len());
            while let Some(further) = marks.further_end(text, end..until) {
                self.doubtful.push(end..further);
                end = further;
            }
        }
        Some(end)
    }

    /// Returns the parts of the thinking passed so far that may not be thinking: cut-off thinking, and blocks before a closing
    /// mark that may be prose.
    pub(crate) fn doubtful(self) -> Vec<Range<usize>> {
        self.doubtful
    }
}

/// Returns the kind of the first block in a text, or of an edit in the format of another program.
pub(crate) fn considered(text: &str) -> Option<BlockKind> {
    text.lines().find_map(kind_of_line)
}

/// Checks whether the last line of a text closes thinking.
pub(crate) fn ends_with_closing_mark(text: &str) -> bool {
    text.trim_end().lines().next_back().is_some_and(|line| closing_edge(line.trim()).is_some())
}

fn kind_of_line(line: &str) -> Option<BlockKind> {
    let line = line.trim();
    let is_edit = || ["<<<<<<<", "@@ ", "*** Begin Patch"].iter().any(|mark| line.starts_with(mark));
    opening_kind(line).or_else(|| is_edit().then_some(BlockKind::EditFile))
}

/// Returns the start of the last line that begins a block.
fn last_tag(text: &str) -> usize {
    let mut end = text.len();
    for line in text.rsplit('\n') {
        let start = end - line.len();
        if kind_of_line(line).is_some() {
            return start;
        }
        end = start.saturating_sub(1);
    }
    0
}

/// The marks of a text with their positions.
#[derive(Debug)]
struct Marks {
    /// The lines that begin with an opening mark, and the closing marks, by spelling.
    openings: [Vec<usize>; SPELLINGS.len()],
    closings: [Vec<Closing>; SPELLINGS.len()],
    /// The edits in the formats of other programs.
    edits: Vec<Range<usize>>,
    /// The start of the last line that begins a block.
    last_tag: usize,
    leading: Option<Leading>,
}

/// A closing mark.
#[derive(Clone, Copy, Debug)]
struct Closing {
    at: usize,
    /// The next mark at the start or the end of a line, possibly this one.
    next_at_edge: Option<usize>,
}

/// Thinking without one of its marks, at the start of a text.
#[derive(Debug)]
struct Leading {
    range: Range<usize>,
    is_doubtful: bool,
}

impl Marks {
    fn of(text: &str, dialect: Dialect) -> Marks {
        let mut marks = Marks {
            openings: Default::default(),
            closings: Default::default(),
            edits: Vec::new(),
            last_tag: 0,
            leading: None,
        };
        let count = spellings(dialect).len();
        for line in lines_from(text, 0) {
            let content = &text[line.start..line.end];
            if let Some(which) = opening(content, dialect) {
                marks.openings[which].push(line.start);
            }
            // Few brackets begin a mark: the characters after them are rarer.
            for second in memchr::memchr2_iter(b'/', b'|', content.as_bytes()) {
                let Some(at) = content[..second].strip_suffix(['<', '[', '◁']).map(str::len) else {
                    continue;
                };
                let rest = &content[at..];
                let closes = |which: &usize| {
                    let closing = SPELLINGS[*which].closing;
                    match *which < SINGLE {
                        true => begins(rest, closing, dialect),
                        false => {
                            let mark = rest.get(..closing.len());
                            mark.is_some_and(|mark| mark.eq_ignore_ascii_case(closing))
                                && is_blank_around(&content[..at], &rest[closing.len()..])
                        }
                    }
                };
                let Some(which) = (0..count).find(closes) else { continue };
                let tail = &rest[SPELLINGS[which].closing.len()..];
                // The first implementation accepts a mark anywhere in a line.
                let is_at_edge =
                    dialect == Dialect::Agentd && (content[..at].trim().is_empty() || tail.trim().is_empty());
                let at = line.start + at;
                marks.closings[which].push(Closing { at, next_at_edge: is_at_edge.then_some(at) });
            }
        }
        if dialect == Dialect::Agentd {
            marks.remove_marks_in_edits(text);
        }
        for closings in &mut marks.closings {
            let mut next = None;
            for closing in closings.iter_mut().rev() {
                next = closing.next_at_edge.or(next);
                closing.next_at_edge = next;
            }
        }
        let has_openings = marks.openings.iter().any(|openings| !openings.is_empty());
        marks.last_tag = if has_openings { last_tag(text) } else { 0 };
        marks.leading = if dialect == Dialect::Agentd { marks.leading(text) } else { None };
        marks
    }

    /// Removes the marks that are text of edits. A closing mark in the last line of an edit stays: it may close thinking that
    /// ends there.
    fn remove_marks_in_edits(&mut self, text: &str) {
        if self.openings.iter().all(Vec::is_empty) && self.closings.iter().all(Vec::is_empty) {
            return;
        }
        self.edits = foreign::extents(text);
        let edits = &self.edits;
        // The edits without their last lines.
        let start_of_line = |at: usize| text[..at].rfind('\n').map_or(0, |lf| lf + 1);
        let insides: Vec<_> = edits.iter().map(|edit| edit.start..start_of_line(edit.end)).collect();
        for openings in &mut self.openings {
            openings.retain(|at| edit_around(edits, *at).is_none());
        }
        for closings in &mut self.closings {
            closings.retain(|closing| edit_around(&insides, closing.at).is_none());
        }
    }

    /// Returns the edit in the format of another program that contains a position.
    fn edit_around(&self, at: usize) -> Option<&Range<usize>> {
        edit_around(&self.edits, at)
    }

    /// Returns the closing mark of the block that begins with a line. A mark within a line may be text if a mark at the edge of a
    /// line follows.
    fn closing_of(&self, which: usize, line: &Line) -> Option<usize> {
        let closings = &self.closings[which];
        let closing = closings.get(closings.partition_point(|closing| closing.at < line.start))?;
        let at_edge = closing.next_at_edge.filter(|at_edge| {
            let openings = &self.openings[which];
            let next = openings.get(openings.partition_point(|opening| *opening <= closing.at));
            closing.at > line.end && next.is_none_or(|next| next > at_edge)
        });
        Some(at_edge.unwrap_or(closing.at))
    }

    /// Returns the first line at or after an offset that begins with an opening mark.
    fn next_opening(&self, from: usize) -> Option<usize> {
        let next = |openings: &Vec<usize>| openings.get(openings.partition_point(|at| *at < from)).copied();
        self.openings.iter().filter_map(next).min()
    }

    /// Returns the offset after a closing mark in a range without an opening mark.
    fn further_end(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let is_in_range = |closings: &Vec<Closing>| {
            let next = closings.get(closings.partition_point(|closing| closing.at < range.start));
            next.is_some_and(|closing| closing.at < range.end)
        };
        self.closings.iter().any(is_in_range).then_some(())?;
        let (end, evidence) = end_without_opening(text, range, &self.edits)?;
        (evidence == Evidence::Clear).then_some(end)
    }

    /// Finds thinking without one of its marks at the start of a text.
    fn leading(&self, text: &str) -> Option<Leading> {
        let content = text.trim_start_matches('\u{feff}').trim_start();
        let first = text.len() - content.len();
        let Some(which) = opening(content.lines().next()?, Dialect::Agentd).filter(|which| *which < SINGLE)
        else {
            self.closings.iter().any(|closings| !closings.is_empty()).then_some(())?;
            let (end, evidence) = end_without_opening(text, 0..text.len(), &self.edits)?;
            // Without a block after it, the blocks before it may be the answer.
            let is_doubtful = evidence == Evidence::Mention || last_tag(text) < end;
            return Some(Leading { range: first..end, is_doubtful });
        };
        if !self.closings[which].is_empty() {
            return None;
        }
        // A closing mark in another spelling is better than none.
        let alone = SPELLINGS.iter().zip(&self.closings).filter(|(spelling, _)| spelling.closes_alone);
        let first_outside = |closings: &Vec<Closing>| {
            let mut all = closings.iter().map(|closing| closing.at);
            all.find(|at| self.edit_around(*at).is_none())
        };
        let end = alone.filter_map(|(_, closings)| first_outside(closings)).min();
        let range = first..end.map_or(text.len(), |end| after_line(text, end));
        Some(Leading { range, is_doubtful: end.is_none() })
    }
}

fn spellings(dialect: Dialect) -> &'static [Spelling] {
    match dialect {
        Dialect::Agentd => &SPELLINGS,
        Dialect::CodingAgent => &SPELLINGS[..ORIGINAL],
    }
}

/// Checks whether a text begins with a mark. The dialect `agentd` ignores the case of tags in angle brackets: a word in square
/// brackets may be a link.
fn begins(text: &str, mark: &str, dialect: Dialect) -> bool {
    text.starts_with(mark)
        || dialect == Dialect::Agentd
            && mark.starts_with('<')
            && text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// Returns the spelling of the opening mark with which a line begins.
fn opening(line: &str, dialect: Dialect) -> Option<usize> {
    let content = line.trim_start_matches('\u{feff}').trim_start();
    // A fast path: few lines begin like this.
    if !content.starts_with(['<', '[', '◁']) {
        return None;
    }
    spellings(dialect).iter().enumerate().position(|(which, spelling)| match which < SINGLE {
        true => begins(content, spelling.opening, dialect),
        false => content.trim_end().eq_ignore_ascii_case(spelling.opening),
    })
}

/// Checks whether the texts before and after a mark are blank. Searches from the mark, since a line may have many marks.
fn is_blank_around(before: &str, after: &str) -> bool {
    before.chars().rev().all(char::is_whitespace) && after.chars().all(char::is_whitespace)
}

/// Returns the offset after the line that contains a position.
fn after_line(text: &str, at: usize) -> usize {
    let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |lf| at + lf);
    after(text, &Line { start: at, end })
}

/// The position of a closing mark in its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// Alone, or directly adjacent to text.
    Clear,
    /// Separated from text by whitespace: prose may mention it there.
    Spaced,
}

/// Returns how a closing mark with an optional opening mark is placed at the start or end of a trimmed line.
fn closing_edge(content: &str) -> Option<Edge> {
    let dialect = Dialect::Agentd;
    let closings = SPELLINGS.iter().filter(|spelling| spelling.closes_alone).map(|spelling| spelling.closing);
    let is_spaced = closings.into_iter().find_map(|closing| {
        if begins(content, closing, dialect) {
            return Some(content[closing.len()..].starts_with(char::is_whitespace));
        }
        let at = content.len().checked_sub(closing.len()).filter(|at| content.is_char_boundary(*at))?;
        let is_at_end = begins(&content[at..], closing, dialect);
        is_at_end.then(|| content[..at].ends_with(char::is_whitespace))
    })?;
    Some(if is_spaced { Edge::Spaced } else { Edge::Clear })
}

/// Returns the range that contains a position. The ranges must be sorted and disjoint.
fn edit_around(edits: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    edits.get(edits.partition_point(|edit| edit.end <= at)).filter(|edit| edit.start <= at)
}

/// The evidence that a closing mark without an opening mark ends thinking.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evidence {
    Clear,
    /// The mark is in a block that is not closed before the next block.
    InBlock,
    /// Prose or code after a block may mention the mark, or it is text of a block whose closing tag is misspelt.
    Mention,
}

/// Returns the offset after the first closing mark in a range of lines without an opening mark.
///
/// The mark is outside of all blocks and edits, or in a block that a tag of its own kind follows: then that block was part of the
/// thinking, and its own closing tag is missing. In any other body, the mark may be text.
fn end_without_opening(text: &str, range: Range<usize>, edits: &[Range<usize>]) -> Option<(usize, Evidence)> {
    let (mut open, mut in_body, mut is_opened_in_body) = (None, None, false);
    let mut outside = Outside::default();
    for line in lines_from(text, range.start).take_while(|line| line.start < range.end) {
        if open.is_none() && edit_around(edits, line.start).is_some() {
            outside.follows_block = true;
            continue;
        }
        let whole = text[line.start..line.end].trim_start_matches('\u{feff}');
        let content = whole.trim();
        let opens = opening(content, Dialect::Agentd).is_some_and(|which| which < SINGLE);
        if open.is_none() {
            if opens {
                return None;
            }
            if let Some(edge) = closing_edge(content) {
                return Some((after(text, &line), outside.evidence(whole, edge)));
            }
            outside.pass_fence(whole);
            let kind = opening_kind(content);
            outside.follows_block |= kind.is_some_and(|kind| !kind.has_body());
            open = kind.filter(|kind| kind.has_body());
            (in_body, is_opened_in_body) = (None, false);
        } else if closing_kind(content) == open {
            open = None;
            outside.follows_block = true;
        } else if in_body.is_some() && opening_kind(content) == open {
            return in_body;
        } else if opens {
            is_opened_in_body = true;
        } else if let Some((end, Evidence::InBlock)) = in_body
            && resembles_closing_tag(content)
        {
            in_body = Some((end, Evidence::Mention));
        } else if !is_opened_in_body && in_body.is_none() && closing_edge(content).is_some() {
            in_body = Some((after(text, &line), Evidence::InBlock));
        }
    }
    None
}

/// Checks whether a line is the only line of a code fence.
fn is_alone_in_fence(text: &str, line: &Line) -> bool {
    let before = text[..line.start].lines().next_back().and_then(Fence::read);
    let next = text[after(text, line)..].lines().next().and_then(Fence::read);
    before.zip(next).is_some_and(|(opening, fence)| fence.closes(opening))
}

/// Checks for a line that may have been meant to close a block.
fn resembles_closing_tag(content: &str) -> bool {
    ["[/", "[END", "</"].iter().any(|start| content.starts_with(start)) && content.ends_with([']', '>'])
}

/// The state of the lines passed outside of blocks, by which a closing mark counts as a mention.
#[derive(Default)]
struct Outside {
    /// True after a block or an edit.
    follows_block: bool,
    /// The open code fence, and true if it follows a block.
    fence: Option<(Fence, bool)>,
}

impl Outside {
    fn pass_fence(&mut self, line: &str) {
        let Some(fence) = Fence::read(line.trim_end()) else { return };
        self.fence = match self.fence {
            Some((opening, _)) if fence.closes(opening) => None,
            Some(open) => Some(open),
            None => Some((fence, self.follows_block)),
        };
    }

    /// Returns the evidence of a closing mark at the edge of a line.
    fn evidence(&self, line: &str, edge: Edge) -> Evidence {
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        let is_code = is_indented || self.fence.is_some_and(|(_, follows_block)| follows_block);
        let is_mention = self.follows_block && (edge == Edge::Spaced || is_code);
        if is_mention { Evidence::Mention } else { Evidence::Clear }
    }
}
