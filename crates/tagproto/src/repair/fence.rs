//! Code fences around the whole reply or a body.

/// A line that opens or closes a code fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: u8,
    length: usize,
    has_language: bool,
}

impl Fence {
    /// Parses a line of at least three back-ticks or tildes, indented by at most three spaces.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let indented = line.trim_start_matches(' ');
        let mark = *indented.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let rest = indented.trim_start_matches(char::from(mark));
        let (indent, length) = (line.len() - indented.len(), indented.len() - rest.len());
        let language = rest.trim();
        if indent > 3 || length < 3 || (mark == b'`' && language.contains('`')) {
            return None;
        }
        Some(Self { mark, length, has_language: !language.is_empty() })
    }

    /// Checks whether nothing follows the marks.
    pub(crate) fn is_bare(self) -> bool {
        !self.has_language
    }

    /// Checks whether this line closes the fence of `opening`.
    pub(crate) fn closes(self, opening: Self) -> bool {
        self.mark == opening.mark && self.length >= opening.length && !self.has_language
    }

    /// Returns the fence that is open after a line, given the fence that is open before it.
    pub(crate) fn open_after(line: &str, open: Option<Self>) -> Option<Self> {
        match (Self::read(line), open) {
            (Some(fence), Some(opening)) if fence.closes(opening) => None,
            (Some(fence), None) => Some(fence),
            _ => open,
        }
    }
}

/// Returns the lines inside a fence that encloses them all; `None` without such a fence.
pub(crate) fn unwrapped<'l, 'a>(lines: &'l [&'a str]) -> Option<&'l [&'a str]> {
    let (first, rest) = lines.split_first()?;
    let (last, inner) = rest.split_last()?;
    let opening = Fence::read(first)?;
    let closes = |line: &&str| Fence::read(line).is_some_and(|fence| fence.closes(opening));
    (closes(last) && !inner.iter().any(closes)).then_some(inner)
}

/// Returns the index of the first or last line if it is a fence of back-ticks without its other half. Without a language, the last
/// line may have lost the first one.
pub(crate) fn half(lines: &[&str]) -> Option<usize> {
    let mut open: Option<(Fence, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        open = match (Fence::read(line), open) {
            (Some(fence), Some((opening, _))) if fence.closes(opening) => None,
            (Some(fence), None) => Some((fence, index)),
            (_, open) => open,
        };
    }
    let is_half = |(fence, index): &(Fence, usize)| {
        fence.mark == b'`' && (*index == 0 || index + 1 == lines.len() && fence.is_bare())
    };
    open.filter(is_half).map(|(_, index)| index)
}
