//! The rules for files by which git continues work that was left unfinished, such as a rebase.

use crate::own_files::is_hex;
use crate::references::is_reference_name;

/// The reason that such a file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfinishedWorkError {
    /// A rebase's list of steps contains commands.
    #[error(
        "has steps that run commands; of this rebase, `git rebase --abort` works and `--continue` does not"
    )]
    Steps,
    /// An option of a merge, a rebase or of patches.
    #[error("has an option that makes git run a program or write elsewhere")]
    ForeignOption,
    /// Conflicts whose resolution git would record, in files at any path.
    #[error("names files that git would read and write to record how their conflicts are resolved")]
    Resolutions,
    /// References that git removes or moves.
    #[error(
        "names branches that git would remove or move when the work is continued or aborted; if `--abort` fails without it, `git rebase --quit` \
         (or `git cherry-pick --quit`, `git am --quit`) ends the work, and `git switch` returns to a branch"
    )]
    References,
}

/// The lists of steps of a rebase, with the lines that only move commits.
const REBASE_STEPS: [&str; 23] = [
    "pick",
    "p",
    "reword",
    "r",
    "edit",
    "e",
    "squash",
    "s",
    "fixup",
    "f",
    "drop",
    "d",
    "label",
    "l",
    "reset",
    "t",
    "merge",
    "m",
    "noop",
    "break",
    "b",
    "update-ref",
    "u",
];

/// Git's own merge strategies. It runs any other as a program, and `x/../y` is one in the working tree.
const STRATEGIES: [&str; 6] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// The options of git's strategies. Git passes any other to the program of a strategy: for `resolve` that is `git read-tree`,
/// which writes an index to any path.
const STRATEGY_OPTIONS: [&str; 15] = [
    "ours",
    "theirs",
    "subtree",
    "patience",
    "histogram",
    "diff-algorithm",
    "ignore-space-change",
    "ignore-all-space",
    "ignore-space-at-eol",
    "ignore-cr-at-eol",
    "renormalize",
    "no-renormalize",
    "rename-threshold",
    "find-renames",
    "no-renames",
];

/// The options of `git apply` that `git am` keeps.
const APPLY_OPTIONS: [&str; 9] = [
    "-C",
    "-p",
    "--whitespace=",
    "--directory=",
    "--exclude=",
    "--include=",
    "--ignore-whitespace",
    "--ignore-space-change",
    "--reject",
];

/// The whitespace that git skips. Other Unicode whitespace belongs to a word.
const WHITESPACE: [char; 2] = [' ', '\t'];

/// One of these files.
#[derive(Clone, Copy)]
enum UnfinishedFile {
    Steps,
    Strategy,
    StrategyOptions,
    CherryPickOptions,
    ApplyOptions,
    /// The branch or commit that `git bisect reset` checks out.
    BisectStart,
    /// The paths of a bisection. Older versions of git have a shell read them.
    BisectPaths,
    Resolutions,
    /// The references that a rebase removes when it ends.
    RemovedReferences,
    /// The branch that a rebase moves when it ends.
    Branch,
    /// Further branches that a rebase moves when it ends.
    MovedReferences,
}

/// Returns whether git treats a file of a repository's folder, given by the names of its path, as a part of unfinished work
/// that could mislead it. The folder is the repository's own or that of a working tree or submodule.
pub fn is_unfinished_work<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    UnfinishedFile::of(names).is_some()
}

/// Checks that git runs no program and writes to no path chosen by the file's author when it continues work with this file.
/// The content is `None` if it could not be read completely.
///
/// # Errors
///
/// The reason that git must not find the file, which is then best removed or renamed.
pub fn check_unfinished_work<'a>(
    names: impl IntoIterator<Item = &'a [u8]>,
    content: Option<&[u8]>,
) -> Result<(), UnfinishedWorkError> {
    let Some(file) = UnfinishedFile::of(names) else { return Ok(()) };
    let text = content.and_then(|content| std::str::from_utf8(content).ok());
    let (is_sound, error) = match file {
        UnfinishedFile::Steps => (text.is_some_and(only_moves_commits), UnfinishedWorkError::Steps),
        UnfinishedFile::Strategy => (
            text.is_some_and(|text| STRATEGIES.contains(&text.strip_suffix('\n').unwrap_or(text))),
            UnfinishedWorkError::ForeignOption,
        ),
        UnfinishedFile::StrategyOptions => {
            (text.is_some_and(are_strategy_options), UnfinishedWorkError::ForeignOption)
        }
        UnfinishedFile::CherryPickOptions => {
            (text.is_some_and(are_cherry_pick_options), UnfinishedWorkError::ForeignOption)
        }
        UnfinishedFile::ApplyOptions => {
            (text.is_some_and(are_apply_options), UnfinishedWorkError::ForeignOption)
        }
        UnfinishedFile::BisectStart => {
            (text.is_some_and(is_branch_or_commit), UnfinishedWorkError::ForeignOption)
        }
        UnfinishedFile::BisectPaths => {
            (text.is_some_and(are_quoted_plainly), UnfinishedWorkError::ForeignOption)
        }
        // The path may become a link later: git would copy its target into the repository.
        UnfinishedFile::Resolutions => {
            (content.is_some_and(<[u8]>::is_empty), UnfinishedWorkError::Resolutions)
        }
        UnfinishedFile::RemovedReferences => {
            (content.is_some_and(are_labels), UnfinishedWorkError::References)
        }
        UnfinishedFile::Branch => (content.is_some_and(is_rebased_branch), UnfinishedWorkError::References),
        UnfinishedFile::MovedReferences => {
            (content.is_some_and(|text| moved_references(text).is_some()), UnfinishedWorkError::References)
        }
    };
    if is_sound { Ok(()) } else { Err(error) }
}

impl UnfinishedFile {
    fn of<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Option<UnfinishedFile> {
        let (mut folder, mut name): (&[u8], &[u8]) = (b"", b"");
        for next in names {
            (folder, name) = (name, next);
        }
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        let is_in = |wanted: &[&str]| wanted.iter().any(|one| folder.eq_ignore_ascii_case(one.as_bytes()));
        let of_rebase = is_in(&["rebase-merge", "rebase-apply"]);
        if is("git-rebase-todo") {
            Some(UnfinishedFile::Steps)
        } else if is("strategy") && of_rebase {
            Some(UnfinishedFile::Strategy)
        } else if is("strategy_opts") && of_rebase {
            Some(UnfinishedFile::StrategyOptions)
        } else if is("opts") && is_in(&["sequencer"]) {
            Some(UnfinishedFile::CherryPickOptions)
        } else if is("apply-opt") && of_rebase {
            Some(UnfinishedFile::ApplyOptions)
        } else if is("BISECT_START") {
            Some(UnfinishedFile::BisectStart)
        } else if is("BISECT_NAMES") {
            Some(UnfinishedFile::BisectPaths)
        } else if is("MERGE_RR") {
            Some(UnfinishedFile::Resolutions)
        } else if is("refs-to-delete") && of_rebase {
            Some(UnfinishedFile::RemovedReferences)
        } else if is("head-name") && of_rebase {
            Some(UnfinishedFile::Branch)
        } else if is("update-refs") && of_rebase {
            Some(UnfinishedFile::MovedReferences)
        } else {
            None
        }
    }
}

/// A line of the list of branches that a rebase moves when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedReference<'a> {
    /// The full name.
    pub name: &'a [u8],
    /// The object that it names before the rebase ends, in hexadecimal digits.
    pub before: &'a [u8],
    /// The object that it will name; zeros if no step has determined it.
    pub after: &'a [u8],
}

/// Returns the branches in the file `update-refs` of a rebase; `None` if git would not have written it so.
pub fn moved_references(content: &[u8]) -> Option<Vec<MovedReference<'_>>> {
    let Some(content) = content.strip_suffix(b"\n") else { return content.is_empty().then(Vec::new) };
    let lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    let is_object = |text: &[u8]| matches!(text.len(), 40 | 64) && is_hex(text);
    let references = lines.chunks(3).map(|lines| match *lines {
        [name, before, after] if is_reference_name(name) && is_object(before) && is_object(after) => {
            Some(MovedReference { name, before, after })
        }
        _ => None,
    });
    references.collect()
}

/// Returns the branches that the steps of a rebase still have to determine, by its list of steps.
pub fn branches_in_steps(steps: &[u8]) -> impl Iterator<Item = &[u8]> {
    steps.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.next().filter(|command| matches!(*command, b"update-ref" | b"u")).and_then(|_| words.next())
    })
}

/// Returns whether a list of references holds only those that a rebase makes for its own labels.
fn are_labels(text: &[u8]) -> bool {
    let is_label = |name: &[u8]| name.starts_with(b"refs/rewritten/") && is_reference_name(name);
    text.split(|byte| *byte == b'\n').all(|line| line.is_empty() || is_label(line))
}

/// Returns whether a text names a branch, or states that none was checked out.
fn is_rebased_branch(text: &[u8]) -> bool {
    let name = text.strip_suffix(b"\n").unwrap_or(text);
    name == b"detached HEAD" || name.starts_with(b"refs/heads/") && is_reference_name(name)
}

/// Returns whether a list of steps holds no command.
fn only_moves_commits(text: &str) -> bool {
    text.lines().map(|line| line.trim_start_matches(WHITESPACE)).all(|line| {
        let first = line.split_ascii_whitespace().next().unwrap_or_default();
        line.is_empty() || line.starts_with('#') || REBASE_STEPS.contains(&first)
    })
}

/// Returns whether the options of a rebase are those of git's own strategies. Git quotes each of them or none.
fn are_strategy_options(text: &str) -> bool {
    text.split_ascii_whitespace().all(|word| {
        let quoted = |mark| word.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        is_strategy_option(quoted('"').or_else(|| quoted('\'')).unwrap_or(word))
    })
}

fn is_strategy_option(option: &str) -> bool {
    let option = option.strip_prefix("--").unwrap_or(option);
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'%');
    STRATEGY_OPTIONS.contains(&name) && value.bytes().all(is_plain)
}

/// Returns whether the options of a cherry-pick or revert name no foreign strategy and no foreign strategy option.
fn are_cherry_pick_options(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    // Any word that contains it: no spelling of the setting slips through.
    text.match_indices("strategy").all(|(at, word)| {
        let rest = &text[at + word.len()..];
        let value = |rest: &str| {
            let value =
                rest.lines().next().and_then(|line| line.trim_start_matches(WHITESPACE).strip_prefix('='));
            value.map(|value| value.trim_matches(WHITESPACE).to_owned())
        };
        match rest.strip_prefix("-option") {
            Some(rest) => value(rest).is_some_and(|value| is_strategy_option(&value)),
            None => value(rest).is_some_and(|value| STRATEGIES.contains(&value.as_str())),
        }
    })
}

/// Returns whether the options for patches are those that `git am` keeps: others could write an index to any path.
fn are_apply_options(text: &str) -> bool {
    text.split_whitespace().all(|word| {
        let option = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
        option.is_some_and(|option| APPLY_OPTIONS.iter().any(|one| option.starts_with(one)))
    })
}

/// Returns whether a text names a branch or a commit, and is not an option of `git checkout`.
fn is_branch_or_commit(text: &str) -> bool {
    let name = text.strip_suffix('\n').unwrap_or(text);
    !name.starts_with('-') && is_reference_name(format!("refs/heads/{name}").as_bytes())
}

/// Returns whether a shell reads a text as only words in single quotes.
fn are_quoted_plainly(text: &str) -> bool {
    let pieces: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\'').collect();
    // Every second piece is between quotes.
    pieces.len() % 2 == 1 && pieces.iter().step_by(2).all(|outside| outside.bytes().all(|byte| byte == b' '))
}
