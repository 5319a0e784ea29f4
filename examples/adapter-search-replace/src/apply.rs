//! Blocks over a workspace: find the lines, then change all files together.

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
    /// A block whose file is not said; the line of the reply.
    #[error("the block at line {0} of the reply does not say its file: put the path on the line before it")]
    NoPath(usize),
    /// A block without an end, or with its parts in another order; the line of the reply.
    #[error("the block at line {0} of the reply is not whole: it needs `=======` and then `>>>>>>> REPLACE`")]
    NotWhole(usize),
    /// A block with a second line that divides it; the line of the reply.
    #[error(
        "the block at line {0} of the reply has two lines `=======`, so where SEARCH ends is not sure: leave one out, or \
         if it belongs to the file, write all three marks of the block with eight signs instead of seven"
    )]
    DividedTwice(usize),
    /// The file of the block at this line of the reply cannot be read.
    #[error("the file of the block at line {0} of the reply: {1}")]
    File(usize, #[source] WapError),
    /// The lines of a block do not stand in its file once: its path, the line of the reply, and what there is instead.
    #[error("'{0}' was not changed, nor anything else: the SEARCH lines at line {1} of the reply {2}")]
    Search(String, usize, String),
    /// The changes could not be made.
    #[error(transparent)]
    NotTogether(#[from] NotTogether),
}

/// A file in the making: its lines as the blocks so far leave them, and what each has exchanged where.
struct Draft {
    path: String,
    version: Option<FileVersion>,
    lines: Vec<String>,
    exchanges: Vec<LineExchange>,
}

/// Carries out all blocks of a reply, or none; answers with what was done to each file.
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
        let (mut old, mut new) = (&block.search[..], &block.replace[..]);
        let mut matches = positions(&self.lines, old, |file, wanted| file == wanted);
        let blank = blank_lines(old);
        if matches.is_empty() && blank < old.len() && new.starts_with(&old[..blank]) {
            // Blank lines that both parts begin with change nothing; models put them there.
            (old, new) = (&old[blank..], &new[blank..]);
            matches = positions(&self.lines, old, |file, wanted| file == wanted);
        }
        let [at] = matches[..] else {
            let why = explain(&self.lines, block, &matches);
            return Err(Refusal::Search(self.path.clone(), block.line_number, why));
        };
        self.lines.splice(at..at + old.len(), new.iter().cloned());
        self.exchanges.push(LineExchange { at, old: old.to_vec(), new: new.to_vec() });
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

/// Returns the line indexes at which some lines occur. An empty list of lines matches everywhere, so exactly once only in an
/// empty file.
fn positions(file: &[String], wanted: &[String], same: impl Fn(&str, &str) -> bool) -> Vec<usize> {
    let ends = (file.len() + 1).saturating_sub(wanted.len());
    let fits = |at: &usize| file[*at..].iter().zip(wanted).all(|(file, wanted)| same(file, wanted));
    (0..ends).filter(fits).collect()
}

/// Describes the file where the lines do not occur exactly once.
fn explain(file: &[String], block: &Block, matches: &[usize]) -> String {
    if block.search.is_empty() {
        return "are empty, which makes a new file, but the file has text already".to_owned();
    }
    if !matches.is_empty() {
        let numbers: Vec<_> = matches.iter().map(|index| (index + 1).to_string()).collect();
        return format!(
            "stand there more than once, at the lines {}: add lines around them",
            numbers.join(", ")
        );
    }
    if let [at] = positions(file, &block.search, |file, wanted| file.trim() == wanted.trim())[..] {
        let mut pairs = file[at..].iter().zip(&block.search).zip(at + 1..);
        let ((has, wanted), number) =
            pairs.find(|((has, wanted), _)| has != wanted).expect("not all are the same");
        return format!("differ in blanks: line {number} of the file is {has:?}, the block has {wanted:?}");
    }
    let blank = blank_lines(&block.search);
    if blank < block.search.len()
        && let [at] = positions(file, &block.search[blank..], |file, wanted| file == wanted)[..]
    {
        let number = at + 1;
        return format!("stand at line {number} without the blank ones before them: leave those out");
    }
    match positions(file, &block.replace, |file, wanted| file == wanted)[..] {
        [at] => format!("are not there, and the REPLACE lines stand at line {} already", at + 1),
        _ => "are not there: read the file again and copy them as they are".to_owned(),
    }
}
