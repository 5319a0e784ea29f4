//! Closing tags that close no block.
//!
//! A body ends at its first closing tag, also if that one stands in an example within the text of a file. What follows is then
//! read as blocks, although it was meant as text. A later closing tag without a block shows it.

use std::ops::Range;

use crate::{
    BlockKind, Item, LineRange, ParseErrorKind, near_miss::Fault, parse::scan::opening_kinds,
    span::line_number,
};

/// A closing tag of the protocol outside of all blocks.
pub(super) struct StrayCloser {
    pub(super) kind: BlockKind,
    pub(super) span: Range<usize>,
    pub(super) line_number: usize,
}

/// Returns the faults that these tags show, which are in the order of the text.
///
/// A block with opening tags of its own kind in its body, and as many of the closing tags behind it as it has of these, is one
/// fault from its opening tag to the last of these closing tags.
pub(super) fn faults(text: &str, items: &[Item<'_>], closers: &[StrayCloser]) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    let mut outer: [Option<Outer>; BlockKind::ALL.len()] = Default::default();
    let mut items = items.iter().peekable();
    for closer in closers {
        while let Some(item) = items.next_if(|item| item.span().start < closer.span.start) {
            if let Some(block) = Outer::of(text, item) {
                outer[item.kind() as usize] = Some(block);
            }
        }
        let last = line_number(closer.line_number);
        let Some(outer) = outer[closer.kind as usize].as_mut().filter(|outer| outer.open > 0) else {
            let lines = LineRange { first: last, last };
            let kind = ParseErrorKind::StrayClosing { line_number: last };
            faults.push(Fault { range: closer.span.clone(), lines, command: closer.kind, kind });
            continue;
        };
        outer.open -= 1;
        let index = *outer.fault.get_or_insert(faults.len());
        let fault = Fault {
            range: outer.start..closer.span.end,
            lines: LineRange { first: outer.first_line, last },
            command: closer.kind,
            kind: ParseErrorKind::EndUnclear { line_number: last, not_run: 0 },
        };
        match faults.get_mut(index) {
            Some(earlier) => *earlier = fault,
            None => faults.push(fault),
        }
    }
    disjoint(faults)
}

/// Sorts faults and extends each over those that begin in it: they are a part of its text.
fn disjoint(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by_key(|fault| fault.range.start);
    let mut all: Vec<Fault> = Vec::with_capacity(faults.len());
    for fault in faults {
        match all.last_mut().filter(|outer| fault.range.start < outer.range.end) {
            Some(outer) if fault.range.end > outer.range.end => {
                outer.range.end = fault.range.end;
                outer.lines.last = fault.lines.last;
                outer.kind = ParseErrorKind::EndUnclear { line_number: fault.lines.last, not_run: 0 };
            }
            Some(_) => {}
            None => all.push(fault),
        }
    }
    all
}

/// The latest block of a kind that has opening tags of that kind in its body.
struct Outer {
    /// The number of these tags for which no closing tag was passed.
    open: usize,
    start: usize,
    first_line: u32,
    /// The index of its fault, once it has one.
    fault: Option<usize>,
}

impl Outer {
    fn of(text: &str, item: &Item<'_>) -> Option<Outer> {
        let (kind, span) = (item.kind(), item.span());
        // A block of one line has no body.
        let (_, body) = text[span.range()].split_once('\n').filter(|_| kind.has_body())?;
        let open = opening_kinds(body).filter(|inner| *inner == kind).count();
        let first_line = item.lines().first;
        (open > 0).then_some(Outer { open, start: span.start, first_line, fault: None })
    }
}
