//! The corpus of attacks against a root, with operations built from this crate as an engine builds them.

use rel_path::{PathError, RelPath};
use sandbox_fs::{
    ContentHash, Expected, FileKind, FileMode, FileRoot, FsError, ResolveMethod, Visit, WalkEntry, WalkLimits,
};

use crate::corpus::{Case, NEW_TEXT, Reply, Sandbox, Subject, User, run_all};

#[test]
fn the_corpus_holds_with_openat2() {
    run_all::<FileRoot>(ResolveMethod::Openat2, User::Root);
}

#[test]
fn the_corpus_holds_with_the_walker() {
    run_all::<FileRoot>(ResolveMethod::Walker, User::Root);
}

#[test]
fn the_corpus_holds_for_an_ordinary_user_with_openat2() {
    run_all::<FileRoot>(ResolveMethod::Openat2, User::Ordinary);
}

#[test]
fn the_corpus_holds_for_an_ordinary_user_with_the_walker() {
    run_all::<FileRoot>(ResolveMethod::Walker, User::Ordinary);
}

/// The size limit of a reply in bytes.
const REPLY_BYTES: u64 = 1 << 20;
const MATCHES: u64 = 100;

#[derive(Debug)]
pub(crate) enum Refusal {
    File(FsError),
    /// A version was kept under another name; these are the bytes that another program added to it.
    Kept {
        added: Vec<u8>,
    },
}

impl From<FsError> for Refusal {
    fn from(error: FsError) -> Refusal {
        Refusal::File(error)
    }
}

impl Subject for FileRoot {
    type Refusal = Refusal;

    const NAME: &'static str = "sandbox-fs";
    const READS_TEXT: bool = false;
    const RACE_ROUNDS: u32 = 2_000;

    fn elsewhere(case: &Case) -> Option<&'static str> {
        let says = |word: &str| case.check.contains(word);
        match case.operation.as_str() {
            "read" if says("BINARY_FILE") => Some("the engine decides what is text"),
            "read" if says("masked") => Some("the engine masks credentials"),
            "edit" if says("bytes ") => Some("text-edit keeps line endings"),
            "search" if case.arguments["type"] == "regex" => Some("the engine knows patterns"),
            _ => None,
        }
    }

    fn over(root: FileRoot, _: &Sandbox) -> FileRoot {
        root
    }

    fn perform(&self, case: &Case, sandbox: &Sandbox) -> Result<Reply, Refusal> {
        perform(self, case, sandbox)
    }

    fn text(refusal: &Refusal) -> String {
        match refusal {
            Refusal::File(error) => error.to_string(),
            Refusal::Kept { added } => String::from_utf8_lossy(added).into_owned(),
        }
    }

    fn fits(code: &str, refusal: &Refusal) -> bool {
        matches!(refusal, Refusal::File(error) if fits(code, error))
    }

    fn kept(refusal: &Refusal) -> &[u8] {
        match refusal {
            Refusal::File(_) => &[],
            Refusal::Kept { added } => added,
        }
    }
}

fn perform(root: &FileRoot, case: &Case, sandbox: &Sandbox) -> Result<Reply, Refusal> {
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
        other => panic!("the operation '{other}' is not understood"),
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
    let stage = || root.stage(path, NEW_TEXT.as_bytes(), FileMode::Keep);
    // What is refused makes no folder either.
    let staged = match (stage(), path.parent()) {
        (Err(FsError::ParentMissing { .. }), Some(folder)) => {
            root.create_dirs(&folder)?;
            stage()?
        }
        (staged, _) => staged?,
    };
    staged.publish(Expected::Anything)?;
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
    let entry = |entry: WalkEntry| (entry.path.to_string(), entry.kind);
    let entries = walk.by_ref().map(entry).collect();
    Ok(Reply { entries, truncated: walk.summary().unnameable > 0, ..Reply::default() })
}

fn search(root: &FileRoot, case: &Case, path: &RelPath) -> Result<Reply, FsError> {
    let query = case.arguments["query"].as_str().unwrap();
    let mut walk = root.walk(path, WalkLimits::default())?.visited_by(|_| Visit::Take);
    let mut reply = Reply::default();
    for entry in walk.by_ref().filter(|entry| entry.kind == FileKind::File) {
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
    reply.skipped_folder = walk.summary().unreadable == 1;
    Ok(reply)
}

/// Returns true if the corpus's hint allows the error.
fn fits(code: &str, error: &FsError) -> bool {
    use FsError as E;
    match code {
        "OUTSIDE_WORKSPACE" => {
            matches!(error, E::Path(PathError::Escape | PathError::Absolute) | E::Escape { .. })
        }
        "NOT_FOUND" => matches!(error, E::NotFound { .. } | E::ParentMissing { .. }),
        "INVALID_PATH" => matches!(
            error,
            E::Path(_)
                | E::InvalidName { .. }
                | E::NotAFile { kind: FileKind::Folder, .. }
                | E::NotAFolder { .. }
                | E::Protected { .. }
                | E::NotFound { .. }
                | E::ParentMissing { .. }
        ),
        "PROTECTED" => matches!(error, E::Protected { .. }),
        "NOT_REGULAR" => matches!(error, E::NotAFile { kind, .. } if *kind != FileKind::Folder),
        "IS_DIRECTORY" | "ROOT" => matches!(error, E::NotAFile { kind: FileKind::Folder, .. }),
        "NOT_A_DIRECTORY" => matches!(error, E::NotAFolder { .. }),
        "PERMISSION_DENIED" => matches!(error, E::OsPermission { .. }),
        "LOOP" => matches!(error, E::LinkLoop { .. }),
        "TOO_DEEP" => matches!(error, E::Path(PathError::TooManyComponents)),
        "HARDLINK" => matches!(error, E::HardLinked { .. }),
        "NO_SPACE" => matches!(error, E::NoSpace { .. }),
        "CONFLICT" => matches!(error, E::Changed { .. }),
        "IS_SYMLINK" => matches!(error, E::IsLink { target: Some(_), .. }),
        "ROOT_GONE" => matches!(error, E::RootGone { .. }),
        "ROOT_REPLACED" => matches!(error, E::RootGone { replaced: true }),
        "SIZE_LIMIT_EXCEEDED" => matches!(error, E::TooLarge { .. }),
        other => panic!("the code '{other}' is not understood"),
    }
}
