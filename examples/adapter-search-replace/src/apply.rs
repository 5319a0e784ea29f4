//! Blocks over a workspace: find the lines, then change all files together.

use text_edit::{MatchRule, SearchText, Source, TextContent, find_text};
use wap_core::{
    Call, FileChanged, FileVersion, LineExchange, NotTogether, ReadFile, Reason, Reversible, WapError,
    Workspace, change_together,
};

use crate::parse::{Block, parse};

/// The reason for a refusal, as a text for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no block at all.
    #[error("there is no SEARCH/REPLACE block in the reply")]
    NoBlock,
    /// A block that does not name its file; the line of the reply.
    #[error("the block at line {0} of the reply does not say its file: put the path on the line before it")]
    NoPath(usize),
    /// A block without an end, or with its parts in another order; the line of the reply.
    #[error("the block at line {0} of the reply is not whole: it needs `=======` and then `>>>>>>> REPLACE`")]
    NotWhole(usize),
    /// A block with a second line that divides it; the line of the reply.
    #[error(
        "the block at line {0} of the reply has two lines `=======`, so it is unclear where SEARCH ends: leave one out, or \
         if it belongs to the file, write all three marks of the block with eight signs instead of seven"
    )]
    DividedTwice(usize),
    /// The file of the block at this line of the reply cannot be read.
    #[error("the file of the block at line {0} of the reply: {1}")]
    File(usize, #[source] WapError),
    /// The lines of a block do not match one passage of its file: its path, the line of the reply, and what is there instead.
    #[error("'{0}' was not changed, nor anything else, for the block at line {1} of the reply: {2}")]
    Search(String, usize, String),
    /// The changes could not be made.
    #[error(transparent)]
    NotTogether(#[from] NotTogether),
}

/// A file that is being changed: its lines after the blocks so far, and what these have exchanged.
struct Draft {
    path: String,
    version: Option<FileVersion>,
    lines: Vec<String>,
    exchanges: Vec<LineExchange>,
}

/// Carries out all blocks of a reply, or none; returns the change of each file.
///
/// # Errors
///
/// [`Refusal`]; no file is changed then.
pub fn apply<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    reply: &str,
) -> Result<Vec<FileChanged>, Refusal> {
    let mut drafts: Vec<Draft> = Vec::new();
    for block in parse(reply)? {
        if !drafts.iter().any(|draft| draft.path == block.path) {
            drafts.push(Draft::open(workspace, call, &block)?);
        }
        drafts
            .iter_mut()
            .filter(|draft| draft.path == block.path)
            .try_for_each(|draft| draft.take(&block))?;
    }
    let changes: Vec<Reversible> = drafts.into_iter().map(Draft::change).collect();
    Ok(change_together(workspace, call, &changes)?)
}

impl Draft {
    fn open<W: Workspace + ?Sized>(workspace: &W, call: &Call<'_>, block: &Block) -> Result<Draft, Refusal> {
        let path = block.path.clone();
        let request = ReadFile { path: path.clone(), ..ReadFile::default() };
        let (version, text) = match workspace.read_file(call, &request) {
            Ok(file) => (file.version, file.content),
            Err(error) if error.code() == Reason::FileNotFound.code() && block.search.is_empty() => {
                (None, String::new())
            }
            Err(error) => return Err(Refusal::File(block.line_number, error)),
        };
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect();
        Ok(Draft { path, version, lines, exchanges: Vec::new() })
    }

    fn take(&mut self, block: &Block) -> Result<(), Refusal> {
        let refusal = |why: String| Refusal::Search(self.path.clone(), block.line_number, why);
        if block.search.is_empty() && !self.lines.is_empty() {
            return Err(refusal(
                "an empty SEARCH makes a new file, but the file has text already".to_owned(),
            ));
        }
        if block.search.is_empty() {
            self.lines = block.replace.clone();
            self.exchanges.push(LineExchange { at: 0, old: Vec::new(), new: block.replace.clone() });
            return Ok(());
        }
        let (mut old, mut new) = (&block.search[..], &block.replace[..]);
        let mut edits = edits(&self.lines, old, new);
        let blank = blank_lines(old);
        if edits.is_err() && blank < old.len() && new.starts_with(&old[..blank]) {
            // Blank lines that both parts begin with change nothing; models put them there.
            (old, new) = (&old[blank..], &new[blank..]);
            edits = self::edits(&self.lines, old, new).or(edits);
        }
        for TextContent { lines, content } in edits.map_err(refusal)?.into_iter().rev() {
            let new: Vec<String> = content.iter().map(str::to_owned).collect();
            let at = lines.start;
            let old = self.lines.splice(lines, new.iter().cloned()).collect();
            self.exchanges.push(LineExchange { at, old, new });
        }
        Ok(())
    }

    fn change(self) -> Reversible {
        match self.version {
            None => Reversible::create(&self.path, &self.lines),
            version => Reversible::edit(&self.path, version, &self.exchanges),
        }
    }
}

/// Counts the blank lines at the beginning of a text.
fn blank_lines(lines: &[String]) -> usize {
    lines.iter().take_while(|line| line.trim().is_empty()).count()
}

/// Returns the edits of a file that replace the one passage that the old lines match, or what is there instead.
fn edits(file: &[String], old: &[String], new: &[String]) -> Result<Vec<TextContent>, String> {
    let ended = |lines: &[String]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    let (text, new) = (ended(file), ended(new));
    let source = Source::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let search = SearchText::of_lines(&ended(old));
    let passage = find_text(&source, &search, &MatchRule::ALL, None).map_err(|reason| reason.to_string())?;
    passage
        .content(&source, &search, &new)
        .ok_or_else(|| "its REPLACE lines have too little indentation".to_owned())
}
