//! Lines to be put into a text, free of any line ending.

/// Whole lines without their endings, as the new content of an edit.
///
/// Each protocol's way of writing lines has a constructor, so an edit never has to decide whether a final newline counts. No line
/// contains a line feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Every line followed by one line feed.
    text: String,
    count: usize,
}

impl Lines {
    /// Returns no lines: replacing with it deletes.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads a content string: one trailing newline adds no further line, and `""` is one blank line.
    ///
    /// One carriage return is dropped from the end of each line; the edited text's own ending is used.
    ///
    /// Source: WAP 1.0, `modifyFile`.
    pub fn from_content(content: &str) -> Self {
        let content = content.strip_suffix('\n').unwrap_or(content);
        Self::from_body(content.split('\n'))
    }

    /// Takes lines one by one, as the body of a block: without items there are no lines, and one empty item is a blank line.
    ///
    /// One carriage return is dropped from the end of each line. An item that contains line feeds is
    /// several lines.
    pub fn from_body<I>(body: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut lines = Self::none();
        for item in body {
            for line in item.as_ref().split('\n') {
                lines.push(line.strip_suffix('\r').unwrap_or(line));
            }
        }
        lines
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Checks whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The lines in order, without endings.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.text.split_terminator('\n')
    }

    /// Returns the lines, joined by line feeds and cut at `limit_chars`.
    pub(crate) fn quote(&self, limit_chars: usize) -> String {
        let mut quoted = String::new();
        let mut left = limit_chars;
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        crate::source::push_cut(&mut quoted, text, &mut left);
        quoted
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.count += 1;
    }
}
