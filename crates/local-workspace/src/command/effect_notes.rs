//! Warnings about unexpected effects, for the answer of a command.

use std::collections::HashMap;
use std::fmt::Display;

use sandbox_fs::FileRoot;
use wap_core::ExecuteCommandResponse;

use crate::change::present::PresentKind;
use crate::command::answer::CommandOutcome;
use crate::command::effect::{Effect, EffectSide};
use crate::command::forge_names::PushedFolders;
use crate::command::rights::Right;
use crate::command::unnoticed_changes;
use crate::git::access::loses_access;
use crate::git::guard::{Refusal, directions};
use crate::git::history;
use crate::git::rebases::left_work;
use crate::git::version_control;

/// The number of paths that a warning names.
const NAMED: usize = 8;

/// The effects that an answer warns about.
#[derive(Clone, Debug, Default)]
pub(crate) struct EffectNotes {
    /// Paths that were not adopted, with the reason.
    pub refused: Vec<(String, Refusal)>,
    /// Files in build folders that git would obey and that were renamed, with the reason.
    pub taken_away: Vec<(String, Refusal)>,
    /// Such files that could not be renamed.
    pub not_taken_away: Vec<(String, Refusal)>,
    /// Paths that were not adopted and could not be restored either.
    pub not_put_back: Vec<String>,
    /// Paths that another program has changed, which keep its version.
    pub conflicts: Vec<String>,
    /// Repositories that another program has changed, which keep its version.
    pub repositories: Vec<String>,
    /// Files that indicate that another program may be changing repositories, which stay unchanged.
    pub locks: Vec<String>,
    /// Names of hard-linked files that were not adopted, because a separate copy would exceed the limit.
    pub left_names: Vec<String>,
    /// Repositories with such names, which stay as they are.
    pub left_repositories: Vec<String>,
    /// Paths with rights that were removed.
    pub rights: Vec<(String, Right)>,
    /// Paths whose set-user-ID and set-group-ID bits could not be removed.
    pub rights_kept: Vec<String>,
    /// Paths that users other than the owner can newly read or write, with the modes.
    pub widened: Vec<String>,
    /// Paths that git or an editor would obey and whose earlier state is unknown.
    pub unprotected: Vec<String>,
    /// Folders that the user may not list, so that their changes are unknown.
    pub closed_folders: Vec<String>,
    /// Paths that could not be published, with the reason.
    pub failed: Vec<(String, String)>,
    /// Paths for which the journal lacks the state before or after.
    pub not_undoable: Vec<String>,
    /// Settings of repositories that now fetch from or push to elsewhere, by the settings file.
    pub directions: Vec<(String, Vec<String>)>,
    /// Files that make git show other commits than there are, with the replaced ones.
    pub histories: Vec<(String, Vec<String>)>,
    /// Files that make git notice or record fewer changes, with their statements.
    pub unnoticed: Vec<(String, Vec<String>)>,
    /// Files and folders by which the command leaves or changes unfinished work of git, with what that is.
    pub unfinished: Vec<(String, String)>,
    /// Paths with names that other programs obey, with those programs.
    pub obeyed: Vec<(String, String)>,
    /// Whole sentences.
    pub other: Vec<String>,
}

impl EffectNotes {
    /// Adds a warning for each kind of thing.
    pub(crate) fn add_to(&self, outcome: CommandOutcome) -> CommandOutcome {
        let warnings = self.warnings();
        if warnings.is_empty() {
            return outcome;
        }
        match outcome {
            Ok(response) => {
                let warnings = response.warnings.into_iter().chain(warnings).collect();
                Ok(ExecuteCommandResponse { warnings, ..response })
            }
            Err(error) => {
                let had = error.detail("warnings").and_then(|value| value.as_array().cloned());
                let had = had.unwrap_or_default().into_iter();
                let all: Vec<_> = had.chain(warnings.into_iter().map(Into::into)).collect();
                Err(error.with("warnings", all))
            }
        }
    }

    /// Returns the warnings, each of which is about one kind of effect.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut say = |paths: Vec<String>, words: &str| {
            if !paths.is_empty() {
                warnings.push(format!("{words}{}", listed(&paths)));
            }
        };
        let with_reason = |(path, why): &(String, String)| format!("`{path}` ({why})");
        say(by_reason(&self.obeyed), "edits files that other programs obey, show them to the user: ");
        let (refused, others): (Vec<_>, Vec<_>) =
            self.refused.iter().cloned().partition(|(_, why)| why.is_about_programs());
        say(by_reason(&refused), "not kept, because git or an editor would obey it: ");
        say(by_reason(&others), "not kept: ");
        say(
            by_reason(&self.taken_away),
            "in build folders, renamed to end in `.agentd-refused`, because git would obey it: ",
        );
        say(
            by_reason(&self.not_taken_away),
            "in build folders, git would obey it, and it could not be renamed; remove it before you use git there: ",
        );
        for right in Right::ALL {
            let paths: Vec<_> = self
                .rights
                .iter()
                .filter(|(_, other)| other == right)
                .map(|(path, _)| path.clone())
                .collect();
            say(quoted(&paths), right.refusal());
        }
        say(
            quoted(&self.rights_kept),
            "have set-user-ID or set-group-ID bits that could not be taken away: ",
        );
        say(
            self.unprotected.clone(),
            "git or an editor would obey these, which the command changed; look before you use either here: ",
        );
        say(
            quoted(&self.closed_folders),
            "not kept: permission bits of these folders, and changes in them, because in the workspace this user may not list \
             them; ask the user for `chmod u+rwx` there, and run the command again: ",
        );
        say(
            self.widened.clone(),
            "other users of the machine may read or write more than before, show it to the user: ",
        );
        say(quoted(&self.not_put_back), "could not be restored, look before you use git or an editor here: ");
        say(
            quoted(&self.conflicts),
            "saved by another program while the command ran, or not readable, so that version stayed and the journal keeps the command's: ",
        );
        say(
            quoted(&self.repositories),
            "nothing that git did in these repositories was kept (no commit, branch or index), because another program changed \
             them while the command ran; run its git commands again: ",
        );
        say(
            quoted(&self.locks),
            "nothing that git did was kept (no commit, branch or index), because git may be running alongside the command: these \
             files are there; if no git runs, ask the user to remove them, then run the git commands again: ",
        );
        say(
            quoted(&self.left_names),
            "not kept, because each name of a hard-linked file becomes a copy, and those of one command may take 4 GiB; use symbolic \
             links, or `cp` in place of `ln`, and run the command again: ",
        );
        say(
            quoted(&self.left_repositories),
            "nothing that git did in these repositories was kept (no commit, branch or index), because a hard-linked file of theirs \
             was not kept; run its git commands again without the links: ",
        );
        say(self.failed.iter().map(with_reason).collect(), "could not be written: ");
        let by_file = |(path, settings): &(String, Vec<String>)| format!("`{path}`: {}", listed(settings));
        say(
            self.directions.iter().map(by_file).collect(),
            "changed where git fetches from or pushes to, show it to the user: ",
        );
        say(
            self.histories.iter().map(by_file).collect(),
            "changed which commits git shows, not which it pushes, show it to the user: ",
        );
        say(
            self.unnoticed.iter().map(by_file).collect(),
            "changed which changes git notices or records, show it to the user: ",
        );
        say(
            self.unfinished.iter().map(with_reason).collect(),
            "leaves work of git unfinished, which `git status` shows how to continue or abort: ",
        );
        say(quoted(&self.not_undoable), "changed, not undoable: ");
        warnings.extend(self.other.iter().cloned());
        warnings
    }
}

/// One text per reason, with its paths, the outermost first.
fn by_reason<Why: Display>(paths: &[(String, Why)]) -> Vec<String> {
    let mut by_reason: Vec<(String, Vec<&str>)> = Vec::new();
    // There may be as many reasons as paths.
    let mut indexes: HashMap<String, usize> = HashMap::new();
    for (path, why) in paths {
        let why = why.to_string();
        let index = *indexes.entry(why.clone()).or_insert(by_reason.len());
        if index == by_reason.len() {
            by_reason.push((why, Vec::new()));
        }
        by_reason[index].1.push(path);
    }
    let text = |(why, mut paths): (String, Vec<&str>)| {
        paths.sort_by_key(|path| path.matches('/').count());
        let paths: Vec<_> = paths.into_iter().map(str::to_owned).collect();
        format!("{} ({why})", listed(&quoted(&paths)))
    };
    by_reason.into_iter().map(text).collect()
}

/// Returns the files among effects that other programs obey, with those programs. Folders alone do not count, unless
/// their owner has less access to them than before.
pub(crate) fn obeyed_names(root: &FileRoot, effects: &[Effect]) -> Vec<(String, String)> {
    let pushed = PushedFolders::of(root, effects);
    let is_folder = |effect: &Effect| {
        let kinds = [effect.kind_before(), effect.kind_after()];
        kinds.into_iter().flatten().all(|kind| kind == PresentKind::Folder)
            && !loses_access(effect, PresentKind::Folder)
    };
    let files = effects.iter().filter(|effect| !is_folder(effect));
    let obeyed = |effect: &Effect| {
        if history::changes_resolution(effect) {
            let reason = "git resolves the same conflict by it in later merges";
            return Some((effect.path.to_string(), reason.to_owned()));
        }
        let entry = version_control::reported(&root.policy().protected, &effect.path)?;
        let is_obeyed = !pushed.lack(entry, &effect.path);
        is_obeyed.then(|| (effect.path.to_string(), entry.reason().to_owned()))
    };
    files.filter_map(obeyed).collect()
}

/// Returns the paths to which effects give the group or others new rights to read or write, with the modes before and
/// after. Access control lists are not considered.
pub(crate) fn widened_access<'a>(effects: impl IntoIterator<Item = &'a Effect>) -> Vec<String> {
    const READ_AND_WRITE: u32 = 0o066;
    let widened = |effect: &Effect| {
        let [before, after] =
            [&effect.before, &effect.after].map(|side| side.as_ref().and_then(EffectSide::mode));
        let (before, after) = (before? & 0o777, after? & 0o777);
        let is_wider = after & !before & READ_AND_WRITE != 0;
        (is_wider && effect.kind_before() == effect.kind_after())
            .then(|| format!("`{}` ({before:03o} to {after:03o})", effect.path))
    };
    effects.into_iter().filter_map(widened).collect()
}

/// Returns what effects change about where git fetches from and pushes to, by settings file.
pub(crate) fn changed_directions<'a>(
    root: &FileRoot,
    effects: impl IntoIterator<Item = &'a Effect>,
) -> Vec<(String, Vec<String>)> {
    let named = effects.into_iter().map(|effect| (effect.path.to_string(), directions(root, effect)));
    named.filter(|(_, settings)| !settings.is_empty()).collect()
}

/// Returns the files by which effects make git show other commits than there are.
pub(crate) fn changed_histories(root: &FileRoot, effects: &[Effect]) -> Vec<(String, Vec<String>)> {
    let named = history::changed(root, effects).into_iter();
    named.map(|(path, what)| (path.to_string(), what)).collect()
}

/// Returns the files by which effects make git notice or record fewer changes.
pub(crate) fn unnoticed_changes(root: &FileRoot, effects: &[Effect]) -> Vec<(String, Vec<String>)> {
    let named = unnoticed_changes::changed(root, effects).into_iter();
    named.map(|(path, what)| (path.to_string(), what)).collect()
}

/// Returns the files by which effects leave unfinished work of git.
pub(crate) fn unfinished_work(root: &FileRoot, effects: &[Effect]) -> Vec<(String, String)> {
    let left = left_work::left(root, effects).into_iter();
    left.map(|(path, what)| (path.to_string(), what.to_owned())).collect()
}

fn quoted(paths: &[String]) -> Vec<String> {
    paths.iter().map(|path| format!("`{path}`")).collect()
}

fn listed<T: Display>(items: &[T]) -> String {
    let named: Vec<_> = items.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = items.len() - named.len();
    if rest > 0 { format!("{} and {rest} more", named.join(", ")) } else { named.join(", ") }
}
