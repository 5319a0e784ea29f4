//! The outcome of an undo as text.

use std::collections::BTreeSet;

use local_workspace::{KeptBranch, KeptCommits, UndoEffect, Undone, UndonePath};
use wap_core::visible_line;

use crate::owner::checkout_command::way_back;
use crate::{Obstacle, SecretRules, UndoAnswer, UndoRefusal};

/// The maximum number of characters of a command.
const LINE_CHARACTERS: usize = 70;

/// The characters of a commit's name, as git shortens it in large repositories.
const SHORT_COMMIT: usize = 12;

/// The maximum number of branches that are named.
const NAMED_BRANCHES: usize = 3;

/// Renders the outcome of an undo for a model, without secrets, in at most about `characters`.
///
/// # Errors
/// A refusal, as text.
pub fn undo_text(
    answer: Result<UndoAnswer, UndoRefusal>,
    characters: usize,
    rules: &SecretRules,
) -> Result<String, String> {
    let mut page = Page { text: String::new(), left: characters, left_out: 0 };
    match answer {
        Ok(answer) => {
            let commands = |command: &str, most: usize| rules.mask_line(command, most);
            lines(&answer.undone, |path| rules.mask_rest(path), commands)
                .iter()
                .for_each(|line| page.add(line));
            let run = answer.undone.run;
            page.end(&format!(
                "log {{\"before\":{},\"limit\":1}} lists what this undo did",
                run.saturating_add(1)
            ));
            if let Some(number) = answer.taken_back_by {
                page.text.push_str(&format!("undoing change {number} reverts this"));
            }
            Ok(page.text.trim_end().to_owned())
        }
        Err(refusal) => {
            page.add(&rules.mask_rest(&refusal.message));
            for obstacle in refusal.obstacles {
                page.add(&rules.mask_rest(&format!("`{}` {}", obstacle.path, obstacle.why)));
                // Masked whole, before the page ends within it.
                visible_diff(&obstacle, rules).lines().for_each(|line| page.add(line));
            }
            page.end(
                "undo with the number of one change shows what is in its way, readFile what a file holds now",
            );
            Err(page.text.trim_end().to_owned())
        }
    }
}

/// Returns the difference of an obstructing path as a model may see it.
fn visible_diff(obstacle: &Obstacle, rules: &SecretRules) -> String {
    match &obstacle.visible_diff {
        _ if rules.secrets.is_none() || obstacle.diff.is_empty() => obstacle.diff.clone(),
        Some(visible) if visible.is_empty() => {
            "only secrets have changed, whose values are not kept".to_owned()
        }
        Some(visible) => rules.mask_rest(visible),
        // The process with the texts shows secrets, and in their difference a line of a key is not recognised by
        // itself.
        None => "the difference is left out, since it may hold secrets; readFile shows what it holds now"
            .to_owned(),
    }
}

/// Lines, as many as fit.
struct Page {
    text: String,
    left: usize,
    left_out: usize,
}

impl Page {
    fn add(&mut self, line: &str) {
        let characters = line.chars().count().saturating_add(1);
        if self.left_out > 0 || characters > self.left {
            self.left_out += 1;
            return;
        }
        self.left -= characters;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds the number of lines left out, if any, and how to get them.
    fn end(&mut self, how: &str) {
        if self.left_out > 0 {
            self.text.push_str(&format!("[{} lines are left out; {how}]\n", self.left_out));
        }
    }
}

/// Checks whether a path is that of a repository's folder.
fn is_repository(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Describes the commits that stay in a repository, and how to revert them without losing others.
fn commits_text(repository: &str, kept: Option<&KeptCommits>, visible: &impl Fn(&str) -> String) -> String {
    let short = |commit: &str| commit.get(..SHORT_COMMIT).unwrap_or(commit).to_owned();
    let branches = kept.map(|kept| &kept.branches[..]).unwrap_or_default();
    if let Some(checkout) = kept.and_then(|kept| kept.other_checkout.as_ref()) {
        let back = way_back(checkout).map(|way| format!("; {}", visible(&way))).unwrap_or_default();
        return format!(
            "another branch or commit is checked out than before, so the files that it tracks stay, too{back}"
        );
    }
    if kept.is_some_and(|kept| kept.is_back) {
        return "the previous branch or commit is checked out again, so the files that the checkouts have changed stay"
            .to_owned();
    }
    if kept.is_some_and(|kept| kept.is_of_undo) {
        return "an undone commit is not restored in it".to_owned();
    }
    if let [KeptBranch { name, commit, reset_to: Some(before), left, .. }] = branches {
        let tree = repository.rsplit_once('/').map_or(String::new(), |(tree, _)| format!("in `{tree}`, "));
        let (tree, name) = (visible(&tree), visible(name));
        let (commit, before) = (short(commit), short(before));
        return match left {
            None => format!(
                "`{name}` keeps commit {commit}; {tree}`git reset {before}` takes it back and leaves the files, which are those of \
                 before it"
            ),
            Some(_) => format!(
                "`{name}` was at {before} before, and stays at {commit}; {tree}`git reset {before}` returns to it and leaves the \
                 files, which are those of before"
            ),
        };
    }
    let (left, added): (Vec<_>, Vec<_>) = branches.iter().partition(|branch| branch.left.is_some());
    let mut said = Vec::new();
    if !added.is_empty() || left.is_empty() {
        let named =
            |branch: &&KeptBranch| format!("{} of `{}`", short(&branch.commit), visible(&branch.name));
        let named = first_named(&added, named);
        let named = if named.is_empty() { named } else { format!(" ({named})") };
        said.push(format!("a commit of these changes{named} may be in it still, as `git log` shows"));
    }
    if !left.is_empty() {
        let named = |branch: &&KeptBranch| {
            let before = branch.left.as_deref().map(short).unwrap_or_default();
            format!("`{}` was at {before} before", visible(&branch.name))
        };
        said.push(first_named(&left, named));
    }
    if kept.is_some_and(|kept| kept.restores_tracked) {
        let reverts = if left.is_empty() { ", so that a commit of them reverts it" } else { "" };
        said.push(format!("the files are those of before{reverts}"));
    }
    said.join("; ")
}

/// Names the first of some branches.
fn first_named(branches: &[&KeptBranch], named: impl Fn(&&KeptBranch) -> String) -> String {
    let mut all: Vec<_> = branches.iter().take(NAMED_BRANCHES).map(named).collect();
    if branches.len() > NAMED_BRANCHES {
        all.push("others".to_owned());
    }
    all.join(", ")
}

/// Returns a line for each path that was undone, and for each that was not.
#[must_use]
pub fn undo_lines(undone: &Undone) -> Vec<String> {
    lines(undone, str::to_owned, visible_line)
}

/// Returns the lines, with each path and each shortened command as the reader may see them.
fn lines(
    undone: &Undone,
    visible_path: impl Fn(&str) -> String,
    one_line: impl Fn(&str, usize) -> String,
) -> Vec<String> {
    let path_line = |path: &UndonePath| {
        let effect = match path.effect {
            UndoEffect::Restored => "restored",
            UndoEffect::BroughtBack => "recreated",
            UndoEffect::Removed => "removed",
        };
        format!("{effect:<12}  {}", visible_path(&path.path))
    };
    let interrupted = undone.was_interrupted.then(|| {
        "the last undo was interrupted, and is complete now, with what follows; undo again to undo more"
            .to_owned()
    });
    let mut lines: Vec<_> = interrupted.into_iter().chain(undone.paths.iter().map(path_line)).collect();
    lines.extend(
        undone
            .kept_folders
            .iter()
            .map(|folder| format!("kept          {}/  (it is not empty)", visible_path(folder))),
    );
    let changed: BTreeSet<&String> = undone.changed_since.iter().collect();
    lines.extend(undone.not_undoable.iter().map(|path| {
        let why = match (changed.contains(path), is_repository(path)) {
            (false, _) => {
                "it was too large to be recorded or is not a file, or its old content is not kept any more"
            }
            (true, false) => "another program has changed it since",
            (true, true) => {
                let kept = undone.kept_commits.iter().find(|kept| kept.repository == *path);
                &format!("it has changed since, and stays whole: {}", commits_text(path, kept, &visible_path))
            }
        };
        format!("not undone    {}  ({why})", visible_path(path))
    }));
    let as_before = undone.already_as_before.iter();
    lines.extend(
        as_before
            .map(|path| format!("unchanged     {}  (it is already as it was before)", visible_path(path))),
    );
    if !undone.commands.is_empty() {
        lines.push("not undone: what these commands did to files is not known".to_owned());
        lines.extend(
            undone.commands.iter().map(|command| format!("  $ {}", one_line(command, LINE_CHARACTERS))),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line about a repository that stays.
    fn line(repository: &str, kept: &serde_json::Value) -> String {
        let undone = serde_json::json!({
            "run": 3, "paths": [], "keptFolders": [], "commands": [], "notUndoable": [repository],
            "changedSince": [repository], "keptCommits": [kept],
        });
        let undone: Undone = serde_json::from_value(undone).unwrap();
        undo_lines(&undone).concat()
    }

    #[test]
    fn a_path_that_is_as_before_is_not_said_to_be_restored() {
        let undone = serde_json::json!({
            "run": 3, "paths": [{ "path": "y", "effect": "removed", "undoes": [2] }], "keptFolders": [],
            "commands": [], "alreadyAsBefore": ["new.txt"],
        });
        let undone: Undone = serde_json::from_value(undone).unwrap();
        let expected = ["removed       y", "unchanged     new.txt  (it is already as it was before)"];
        assert_eq!(undo_lines(&undone), expected);
    }

    #[test]
    fn a_reset_is_proposed_only_to_the_recorded_commit() {
        let [before, commit] = ["a", "b"].map(|digit| digit.repeat(40));
        let branch = |name: &str, reset_to: Option<&str>| serde_json::json!({ "name": name, "commit": commit, "resetTo": reset_to });
        let kept = |repository: &str, is_of_undo: bool, branches: &[serde_json::Value]| {
            let kept = serde_json::json!({
                "repository": repository, "isOfUndo": is_of_undo, "branches": branches,
            });
            line(repository, &kept)
        };
        let one = [branch("main", Some(&before))];
        assert!(
            kept(".git", false, &one)
                .contains("`main` keeps commit bbbbbbbbbbbb; `git reset aaaaaaaaaaaa` takes it back")
        );
        assert!(kept("sub/.git", false, &one).contains("; in `sub`, `git reset aaaaaaaaaaaa` takes it back"));
        let moved = kept(".git", false, &[branch("main", None)]);
        assert!(moved.contains("(bbbbbbbbbbbb of `main`) may be in it still, as `git log` shows"), "{moved}");
        let several = kept(".git", false, &[branch("main", Some(&before)), branch("x", None)]);
        let of_undo = kept(".git", true, &one);
        assert!(of_undo.contains("an undone commit is not restored in it"), "{of_undo}");
        let unrecorded = line(
            ".git",
            &serde_json::json!({
                "repository": "sub/.git", "isOfUndo": false, "branches": one,
            }),
        );
        let mut elsewhere =
            serde_json::json!({ "repository": "sub/.git", "isOfUndo": false, "branches": one });
        elsewhere["otherCheckout"] = serde_json::json!({ "former": "ma in", "tree": "sub" });
        let elsewhere = line("sub/.git", &elsewhere);
        assert!(elsewhere.contains("`git -C sub checkout 'ma in'` returns"), "{elsewhere}");
        assert!(!elsewhere.contains("a commit of them"), "{elsewhere}");
        let mut back = serde_json::json!({ "repository": ".git", "isOfUndo": false, "branches": one });
        back["isBack"] = true.into();
        let back = line(".git", &back);
        assert!(back.contains("checked out again, so the files"), "{back}");
        assert!(!back.contains("a commit of them"), "{back}");
        for text in [elsewhere, back, moved, several, of_undo, unrecorded, kept(".git", false, &[])] {
            assert!(!text.contains("git reset"), "{text}");
        }
    }

    #[test]
    fn what_is_said_of_branches_and_files_is_so() {
        let [before, commit] = ["a", "b"].map(|digit| digit.repeat(40));
        let added = serde_json::json!({ "name": "feat", "commit": commit });
        let left = serde_json::json!({ "name": "main", "commit": commit, "left": before });
        let kept = |branches: &[&serde_json::Value], restores_tracked: bool| {
            let kept = serde_json::json!({
                "repository": ".git", "isOfUndo": false, "branches": branches, "restoresTracked": restores_tracked,
            });
            let line = line(".git", &kept);
            line.split_once("stays whole: ").unwrap().1.trim_end_matches(')').to_owned()
        };
        const ADDED: &str =
            "a commit of these changes (bbbbbbbbbbbb of `feat`) may be in it still, as `git log` shows";
        const LEFT: &str = "`main` was at aaaaaaaaaaaa before";
        const REVERTS: &str = "the files are those of before, so that a commit of them reverts it";
        assert_eq!(kept(&[&added], true), format!("{ADDED}; {REVERTS}"), "the control");
        assert_eq!(kept(&[&added], false), ADDED);
        assert_eq!(kept(&[&left], false), LEFT);
        assert_eq!(kept(&[&left], true), format!("{LEFT}; the files are those of before"));
        assert_eq!(kept(&[&left, &added], false), format!("{ADDED}; {LEFT}"));
        let mut reset = left.clone();
        reset["resetTo"] = before.into();
        let text = kept(&[&reset], true);
        assert!(text.starts_with("`main` was at aaaaaaaaaaaa before, and stays at bbbbbbbbbbbb; "), "{text}");
        assert!(text.contains("; `git reset aaaaaaaaaaaa` returns to it and leaves the files"), "{text}");
    }
}
