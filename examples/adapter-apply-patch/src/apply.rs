//! A patch over a workspace: all files are read and their changes computed first, then all are changed together.

use wap_core::{
    Call, DeleteFile, FileChange, FileChanged, NotTogether, ReadFile, ReadFileResponse, Reversible, WapError,
    Workspace, WriteFile, WriteMode, change_together,
};

use crate::draft::Draft;
use crate::parse::{ParseError, Section, parse};

/// The reason for a refusal, as a text for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The patch cannot be read.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A file cannot be read.
    #[error("'{0}' cannot be read, so nothing was changed: {1}")]
    File(String, #[source] WapError),
    /// A chunk does not fit its file: the path, the line of the reply, and what is there instead.
    #[error("nothing was changed: the chunk at line {1} of the reply does not fit '{0}': {2}")]
    Chunk(String, usize, String),
    /// A file that is to be deleted or moved, and that could not be put back byte by byte if the rest failed.
    #[error("'{0}' is not UTF-8 text, so a patch does not delete or move it; nothing was changed")]
    NotPlain(String),
    /// The changes could not be made.
    #[error(transparent)]
    NotTogether(#[from] NotTogether),
}

/// Carries out the patch of a reply, or nothing of it; returns the changes, deletions last.
///
/// # Errors
///
/// [`Refusal`]; no file is changed then.
pub fn apply<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    reply: &str,
) -> Result<Vec<FileChanged>, Refusal> {
    let (mut changes, mut deletions) = (Vec::new(), Vec::new());
    for section in parse(reply)? {
        match section {
            Section::Add { path, lines } => changes.push(Reversible::create(&path, &lines)),
            Section::Delete { path } => {
                let file = read(workspace, call, &path)?;
                deletions.push(deletion(&path, &file)?);
            }
            Section::Update { path, move_to, chunks } => {
                let file = read(workspace, call, &path)?;
                let mut draft = Draft::of(&file);
                for chunk in &chunks {
                    let refused = |why| Refusal::Chunk(path.clone(), chunk.line_number, why);
                    draft.take(chunk).map_err(refused)?;
                }
                match move_to {
                    None => changes.push(Reversible::edit(&path, draft.version, &draft.exchanges)),
                    Some(to) => {
                        deletions.push(deletion(&path, &file)?);
                        changes.push(moved(&to, &draft, &file));
                    }
                }
            }
        }
    }
    // A deletion is the hardest to revert, so it comes last.
    changes.extend(deletions);
    Ok(change_together(workspace, call, &changes)?)
}

fn read<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    path: &str,
) -> Result<ReadFileResponse, Refusal> {
    let request = ReadFile { path: path.to_owned(), ..ReadFile::default() };
    workspace.read_file(call, &request).map_err(|error| Refusal::File(path.to_owned(), error))
}

/// Returns the deletion of a file whose bytes are all known.
fn deletion(path: &str, file: &ReadFileResponse) -> Result<Reversible, Refusal> {
    let content = file.content.clone();
    // Bytes that are not text, or in another encoding, have another length as text.
    if file.is_truncated || file.metadata.size != content.len() as u64 {
        return Err(Refusal::NotPlain(path.to_owned()));
    }
    let path = path.to_owned();
    let change = FileChange::Delete(DeleteFile { path: path.clone(), ..DeleteFile::default() });
    let write =
        WriteFile { path, content, mode: Some(WriteMode::Create), create_directories: None, judged: None };
    Ok(Reversible { change, inverse: FileChange::Write(write) })
}

/// The file at its new path.
fn moved(to: &str, draft: &Draft, file: &ReadFileResponse) -> Reversible {
    let mut create = Reversible::create(to, &[]);
    if let FileChange::Write(write) = &mut create.change {
        write.content = draft.text_like(&file.content);
    }
    create
}
