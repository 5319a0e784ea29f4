//! The operations of the corpus, as an engine would build them from this crate.

use rel_path::RelPath;
use sandbox_fs::{
    ContentHash, Expected, FileMode, FileRoot, FsError, OpenFile, Visit, WalkEntry, WalkLimits, WalkSummary,
};

use super::case::Case;
use crate::fixture::Sandbox;

/// The most that one reply carries.
const REPLY_BYTES: u64 = 1 << 20;
const MATCHES: u64 = 100;
pub(super) const NEW_TEXT: &str = "new text\n";

/// What an operation answered.
#[derive(Default)]
pub(super) struct Reply {
    pub(super) content: Vec<u8>,
    pub(super) entries: Vec<WalkEntry>,
    pub(super) summary: WalkSummary,
    pub(super) matches: u64,
    pub(super) truncated: bool,
    /// The file that a change replaced.
    pub(super) replaced: Option<OpenFile>,
}

#[derive(Debug)]
pub(super) enum Refusal {
    Root(String),
    File(FsError),
    /// A version had to be kept under another name; this is what someone had added to it.
    Kept {
        added: Vec<u8>,
    },
}

impl From<FsError> for Refusal {
    fn from(error: FsError) -> Refusal {
        Refusal::File(error)
    }
}

impl Refusal {
    pub(super) fn text(&self) -> String {
        match self {
            Refusal::Root(text) => text.clone(),
            Refusal::File(error) => error.to_string(),
            Refusal::Kept { added } => String::from_utf8_lossy(added).into_owned(),
        }
    }
}

pub(super) fn perform(root: &FileRoot, case: &Case, sandbox: &Sandbox) -> Result<Reply, Refusal> {
    let text = case.path(sandbox);
    let path = match case.operation.as_str() {
        "list" | "search" => root.parse_folder_path(&text)?,
        _ => root.parse_path(&text)?,
    };
    match case.operation.as_str() {
        "read" => Ok(read(root, case, &path)?),
        "write" => Ok(write(root, &path)?),
        "edit" => edit(root, case, &path),
        "append" => append(root, &path),
        "delete" => Ok(delete(root, &path)?),
        "list" => Ok(list(root, case, &path)?),
        "search" => Ok(search(root, case, &path)?),
        other => panic!("unknown operation {other}"),
    }
}

fn read(root: &FileRoot, case: &Case, path: &RelPath) -> Result<Reply, FsError> {
    let file = root.open_file(path)?;
    let ranged = case.arguments.get("startLine").is_some();
    let content = if ranged { file.read_range(0, REPLY_BYTES)? } else { file.read_to_end(REPLY_BYTES)? };
    let truncated = file.metadata().size_bytes > content.len() as u64;
    Ok(Reply { content, truncated, ..Reply::default() })
}

fn write(root: &FileRoot, path: &RelPath) -> Result<Reply, FsError> {
    if let Some(folder) = path.parent() {
        root.create_dirs(&folder)?;
    }
    root.stage(path, NEW_TEXT.as_bytes(), FileMode::Keep)?.publish(Expected::Anything)?;
    Ok(Reply::default())
}

fn edit(root: &FileRoot, case: &Case, path: &RelPath) -> Result<Reply, Refusal> {
    let before = root.open_file(path)?.read_to_end(REPLY_BYTES)?;
    let line = |key: &str| case.arguments[key].as_u64().map_or(1, |line| usize::try_from(line).unwrap());
    let mut lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
    let text = case.arguments["content"].as_str().unwrap_or("edited").to_owned() + "\n";
    let last = line("end_line").min(lines.len());
    lines.splice(line("start_line") - 1..last, [text.as_bytes()]);
    replace(root, path, &before, &lines.concat())
}

fn append(root: &FileRoot, path: &RelPath) -> Result<Reply, Refusal> {
    let before = root.open_file(path)?.read_to_end(REPLY_BYTES)?;
    replace(root, path, &before, &[&before, NEW_TEXT.as_bytes()].concat())
}

fn replace(root: &FileRoot, path: &RelPath, before: &[u8], after: &[u8]) -> Result<Reply, Refusal> {
    let staged = root.stage(path, after, FileMode::Keep)?;
    match staged.publish(Expected::Content(ContentHash::of(before))) {
        Ok(published) => Ok(Reply { replaced: published.replaced, ..Reply::default() }),
        Err(FsError::LeftBehind { kept_as, .. }) => {
            let kept = root.open_file(&kept_as)?.read_to_end(REPLY_BYTES)?;
            root.remove_file(&kept_as, None)?;
            Err(Refusal::Kept { added: kept.get(after.len()..).unwrap_or_default().to_vec() })
        }
        Err(error) => Err(error.into()),
    }
}

fn delete(root: &FileRoot, path: &RelPath) -> Result<Reply, FsError> {
    root.remove_file(path, None)?;
    Ok(Reply::default())
}

fn list(root: &FileRoot, case: &Case, path: &RelPath) -> Result<Reply, FsError> {
    let recursive = case.arguments["recursive"].as_bool().unwrap_or(false);
    let depth = case.arguments["maxDepth"].as_u64().map_or(3, |depth| usize::try_from(depth).unwrap());
    let limits = WalkLimits { depth: if recursive { depth } else { 1 }, ..WalkLimits::default() };
    let mut walk = root.walk(path, limits)?.with_metadata();
    let entries: Vec<WalkEntry> = walk.by_ref().collect();
    let summary = walk.summary();
    Ok(Reply { entries, summary, truncated: summary.too_deep > 0, ..Reply::default() })
}

fn search(root: &FileRoot, case: &Case, path: &RelPath) -> Result<Reply, FsError> {
    let query = case.arguments["query"].as_str().unwrap();
    let mut walk = root.walk(path, WalkLimits::default())?.visited_by(|_| Visit::Take);
    let mut reply = Reply::default();
    for entry in walk.by_ref().filter(|entry| entry.kind == sandbox_fs::FileKind::File) {
        let Ok(content) = root.open_file(&entry.path).and_then(|file| file.read_to_end(REPLY_BYTES)) else {
            continue;
        };
        let text = String::from_utf8_lossy(&content);
        for line in text.lines().filter(|line| line.contains(query)) {
            reply.truncated = reply.matches == MATCHES;
            if !reply.truncated {
                reply.matches += 1;
                reply.content.extend_from_slice(line.as_bytes());
            }
        }
        if reply.truncated {
            break;
        }
    }
    reply.summary = walk.summary();
    Ok(reply)
}
