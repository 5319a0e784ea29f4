//! Quote marks that a mail program or a chat window adds to every line.

/// The number of quote marks at the start of the lines of a quoted block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefix {
    marks: usize,
}

impl Prefix {
    pub(super) fn of(line: &str) -> Prefix {
        let mut marks = 0;
        let mut rest = line.trim_start();
        while let Some(tail) = rest.strip_prefix('>') {
            marks += 1;
            rest = tail.trim_start();
        }
        Prefix { marks }
    }

    /// Returns a line without the quote marks; `None` if it has fewer.
    pub(super) fn strip<'a>(&self, line: &'a str) -> Option<&'a str> {
        let mut rest = line;
        for _ in 0..self.marks {
            rest = rest.trim_start().strip_prefix('>')?;
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        Some(rest)
    }

    /// Returns the width of the prefix in characters, if a space follows every mark.
    pub(super) fn characters(&self) -> u32 {
        u32::try_from(self.marks * 2).unwrap_or(u32::MAX)
    }
}
