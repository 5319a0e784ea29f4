//! The text of a patch as sections, one for each file. This part knows no workspace.

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// Makes a new file.
    Add {
        /// The path.
        path: String,
        /// Its lines.
        lines: Vec<String>,
    },
    /// Deletes a file.
    Delete {
        /// The path.
        path: String,
    },
    /// Changes a file, and moves it if there is a new path.
    Update {
        /// The path.
        path: String,
        /// The new path.
        move_to: Option<String>,
        /// The changes, from the top of the file to its end.
        chunks: Vec<Chunk>,
    },
}

/// Lines to find in a file, and their replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Lines that stand above, each after the one before.
    pub anchors: Vec<String>,
    /// The lines to find: those that stay and those that go.
    pub old: Vec<String>,
    /// The lines to put there: those that stay and those that come.
    pub new: Vec<String>,
    /// The lines that stay: their indexes in `old` and in `new`.
    pub kept: Vec<(usize, usize)>,
    /// The number of blank lines without a sign at the end. They are context, or merely separate parts of the patch.
    pub unsigned_blank: usize,
    /// True if the lines are the last ones of the file.
    pub is_at_end: bool,
    /// The line of the reply at which the chunk begins, 1-based.
    pub line_number: usize,
}

/// A patch that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// No patch at all.
    #[error("there is no `*** Begin Patch` in the reply")]
    NoPatch,
    /// No end: it may have been cut off.
    #[error("the patch has no `*** End Patch`: send all of it again")]
    NoEnd,
    /// More than one patch.
    #[error("there is a second patch at line {0} of the reply: send one, with a section for each file")]
    Second(usize),
    /// A line that means nothing at its position.
    #[error("line {0} of the reply means nothing there: {1:?}")]
    Line(usize, String),
    /// A section that does nothing.
    #[error("the section at line {0} of the reply changes nothing")]
    Empty(usize),
    /// Two sections about one file.
    #[error("line {0} of the reply begins a second section for '{1}': put all chunks of a file into one")]
    Twice(usize, String),
}

impl Section {
    /// The file that the section is about.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Section::Add { path, .. } | Section::Delete { path } | Section::Update { path, .. } => path,
        }
    }

    fn is_empty(&self) -> bool {
        let changes = |chunk: &Chunk| chunk.old != chunk.new;
        matches!(self, Section::Update { move_to: None, chunks, .. } if !chunks.iter().any(changes))
    }
}

/// The line before a patch.
const BEGIN: &str = "*** Begin Patch";
/// The line after it.
const END: &str = "*** End Patch";

/// Reads the patch of a reply; the text before and after it is prose.
///
/// # Errors
///
/// [`ParseError`]. A patch is read whole or refused.
pub fn parse(reply: &str) -> Result<Vec<Section>, ParseError> {
    let mut lines = (1..).zip(reply.lines()).skip_while(|(_, line)| line.trim() != BEGIN).peekable();
    let (_, first) = lines.peek().ok_or(ParseError::NoPatch)?;
    let indentation = indentation(first, reply);
    lines.next();
    let mut sections: Vec<(usize, Section)> = Vec::new();
    let mut blank_number = None;
    loop {
        let (number, line) = lines.next().ok_or(ParseError::NoEnd)?;
        let line = line.strip_prefix(indentation).unwrap_or(line);
        if line.trim() == END {
            break;
        }
        // Within an update, an indented line is one of the file.
        let is_update = matches!(sections.last(), Some((_, Section::Update { .. })));
        if let Some(section) = header(if is_update { line } else { line.trim_start() }) {
            blank_number = None;
            if sections.iter().any(|(_, other)| other.path() == section.path()) {
                return Err(ParseError::Twice(number, section.path().to_owned()));
            }
            sections.push((number, section));
            continue;
        }
        if !is_update && line.trim().is_empty() {
            // A blank line between sections has no meaning; a new file does not continue behind one.
            blank_number = blank_number.or(Some((number, line)));
            continue;
        }
        if let Some((number, line)) = blank_number {
            return Err(ParseError::Line(number, line.to_owned()));
        }
        let is_taken = sections.last_mut().is_some_and(|(_, section)| take(section, number, line));
        if !is_taken {
            return Err(ParseError::Line(number, line.chars().take(100).collect()));
        }
    }
    if let Some((number, _)) = lines.find(|(_, line)| line.trim() == BEGIN) {
        return Err(ParseError::Second(number));
    }
    match sections.iter().find(|(_, section)| section.is_empty()) {
        Some((number, _)) => Err(ParseError::Empty(*number)),
        None if sections.is_empty() => Err(ParseError::Empty(1)),
        None => Ok(sections.into_iter().map(|(_, section)| section).collect()),
    }
}

/// Returns the prefix of every line of the patch, as in a list item; empty if a line does not have it.
fn indentation<'a>(first: &'a str, reply: &str) -> &'a str {
    let blanks = &first[..first.len() - first.trim_start().len()];
    let mut patch = reply.lines().skip_while(|line| line.trim() != BEGIN);
    let is_everywhere = patch
        .by_ref()
        .take_while(|line| line.trim() != END)
        .all(|line| line.trim().is_empty() || line.starts_with(blanks));
    if is_everywhere { blanks } else { "" }
}

/// The line that begins a section.
fn header(line: &str) -> Option<Section> {
    let path = |kind: &str| {
        let path = line.trim_end().strip_prefix("*** ")?.strip_prefix(kind)?.trim();
        (!path.is_empty()).then(|| path.to_owned())
    };
    let add = || Some(Section::Add { path: path("Add File:")?, lines: Vec::new() });
    let delete = || Some(Section::Delete { path: path("Delete File:")? });
    let update = || Some(Section::Update { path: path("Update File:")?, move_to: None, chunks: Vec::new() });
    add().or_else(delete).or_else(update)
}

/// Adds a line to a section; false if it does not belong there.
fn take(section: &mut Section, line_number: usize, line: &str) -> bool {
    match section {
        Section::Delete { .. } => false,
        Section::Add { lines, .. } => {
            line.strip_prefix('+').map(|rest| lines.push(rest.to_owned())).is_some()
        }
        Section::Update { move_to, chunks, .. } => {
            if let Some(path) = line.strip_prefix("*** Move to:") {
                let is_first = move_to.is_none() && chunks.is_empty() && !path.trim().is_empty();
                *move_to = Some(path.trim().to_owned());
                return is_first;
            }
            if line.is_empty() && chunks.last().is_none_or(|last| last.is_at_end) {
                return true;
            }
            if let Some(anchor) = line.strip_prefix("@@") {
                let begins = chunks.last().is_none_or(|last| !last.old.is_empty() || !last.new.is_empty());
                if begins {
                    chunks.push(Chunk { line_number, ..Chunk::default() });
                }
                let anchor = anchor.strip_prefix(' ').unwrap_or(anchor).trim_end();
                let last = chunks.last_mut().expect("there is one now");
                last.anchors.extend((!anchor.trim().is_empty()).then(|| anchor.to_owned()));
                return true;
            }
            if chunks.last().is_none_or(|last| last.is_at_end) {
                chunks.push(Chunk { line_number, ..Chunk::default() });
            }
            chunks.last_mut().expect("there is one now").take(line)
        }
    }
}

impl Chunk {
    fn take(&mut self, line: &str) -> bool {
        if line.trim_end() == "*** End of File" {
            self.is_at_end = true;
            return !self.old.is_empty() || !self.new.is_empty();
        }
        self.unsigned_blank = if line.is_empty() { self.unsigned_blank + 1 } else { 0 };
        let mut characters = line.chars();
        match characters.next() {
            // Models leave out the blank before a blank line that stays.
            None | Some(' ') => {
                self.kept.push((self.old.len(), self.new.len()));
                self.old.push(characters.as_str().to_owned());
                self.new.push(characters.as_str().to_owned());
            }
            Some('-') => self.old.push(characters.as_str().to_owned()),
            Some('+') => self.new.push(characters.as_str().to_owned()),
            Some(_) => return false,
        }
        true
    }

    /// Returns the chunk without the blank lines at its end that have no sign; nothing if there are none.
    pub(crate) fn without_blank_end(&self) -> Option<Chunk> {
        let blank = Some(self.unsigned_blank).filter(|blank| *blank > 0)?;
        let mut chunk = Chunk { unsigned_blank: 0, ..self.clone() };
        chunk.old.truncate(self.old.len() - blank);
        chunk.new.truncate(self.new.len() - blank);
        chunk.kept.truncate(self.kept.len() - blank);
        Some(chunk)
    }
}
