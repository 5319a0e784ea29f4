//! The paths of a workspace that git obeys because the user's git settings name them.
//!
//! | kind | list | reason |
//! | --- | --- | --- |
//! | a file of settings | *never* | git starts what it names with the next `git status` |
//! | a program | *never* | git runs it, some with the next `git status` |
//! | a folder of hooks | *reported* | as `.husky` and `.githooks`, which people have edited. It does not matter if git tracks the folder: a command may add files to the index, and what husky generates is not tracked |
//! | a hook to which a link in such a folder, or in `.git/hooks`, leads | *reported* | the same |
//! | a folder of the search path | *reported* | git and shells run programs in it by name, and people have their own scripts edited |
//! | a file or folder that a program is given | *reported* | the program may run it, take settings from it, or only read it |
//! | a file of attributes | *reported* | as `.gitattributes`: it chooses among programs that the user has set |
//! | any of these four in `.git` | *never* | no person edits it there |
//! | every other path, if settings name more than is read | *reported* | git may obey it |

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rel_path::{FoundName, NameRule, NameSource, ProtectedNames, RelPath};
use sandbox_exec::{LeftOut, ObeyedAs, ObeyedPath, ObeyedPaths};

use crate::confinement;
use crate::notices::SharedNotices;
use crate::options::HostOptions;

/// The maximum number of names that one process collects of those whose changes are only reported. All are kept, and
/// each change is compared with all: a command that leaves new symlinks among the hooks each time could make every
/// later one slow.
const COLLECTED_LIMIT: usize = 2000;

/// Finds such paths each time the settings have changed.
#[derive(Debug)]
pub(crate) struct GitNames {
    workspace: PathBuf,
    lists: Lists,
    state: Mutex<Looks>,
}

/// The searches so far.
#[derive(Debug, Default)]
struct Looks {
    /// The outcome of the last search.
    latest: Option<ObeyedPaths>,
    /// The names that were returned.
    collected: BTreeSet<(RelPath, NameRule, bool)>,
}

impl GitNames {
    /// Returns the source for the workspace of the options; `None` if there is no such folder.
    pub(crate) fn of(options: &HostOptions) -> Option<GitNames> {
        let workspace = std::fs::canonicalize(&options.workspace).ok()?;
        Some(GitNames { workspace, lists: Lists::of(options), state: Mutex::default() })
    }
}

impl NameSource for GitNames {
    fn look(&self) -> Vec<FoundName> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.latest.as_ref().is_some_and(ObeyedPaths::is_unchanged) {
            return Vec::new();
        }
        let now = find(&self.workspace);
        let names = now.paths.iter().filter_map(|path| self.lists.name(path)).collect();
        let left_out = now.left_out.first().copied();
        state.latest = Some(now);
        state.further(names, left_out)
    }
}

impl Looks {
    /// Returns the names that are not collected yet, or the entry of every path if needed.
    fn further(&mut self, mut names: Vec<FoundName>, left_out: Option<LeftOut>) -> Vec<FoundName> {
        let key = |name: &FoundName| (name.path.clone(), name.rule, name.is_at_any_depth);
        names.retain(|name| !self.collected.contains(&key(name)));
        let count = names.len();
        if self.collected.len() + count > COLLECTED_LIMIT {
            // The entry of every path stands for the others.
            names.retain(|name| name.rule == NameRule::Never);
        }
        let is_over = names.len() < count;
        self.collected.extend(names.iter().map(key));
        names.extend(left_out.or(is_over.then_some(LeftOut::Paths)).map(every_path));
        names
    }
}

fn find(workspace: &Path) -> ObeyedPaths {
    let variable = |name: &str| -> Option<OsString> { std::env::var_os(name) };
    // Without a home folder, git reads no settings of the user.
    let home = confinement::home().unwrap_or_else(|| PathBuf::from("/nonexistent"));
    ObeyedPaths::find(workspace, &home, variable)
}

/// Returns the entry of every path: git obeys more paths than are listed, and any may be one of them.
fn every_path(left_out: LeftOut) -> FoundName {
    let path = RelPath::from_bytes(b"*").expect("it is a name");
    let reason = format!("git may obey it: {}", left_out.cause());
    FoundName { path, rule: NameRule::Reported, reason, is_at_any_depth: false }
}

/// Reports settings that name more than can be protected.
pub(crate) fn report(options: &HostOptions, notices: &SharedNotices) {
    let Ok(workspace) = std::fs::canonicalize(&options.workspace) else { return };
    let obeyed = find(&workspace);
    for left_out in &obeyed.left_out {
        notices.notice(&format!(
            "{}, so git may obey files that are on no list: each change of a file is reported; {}, and start again; protect files with \
             --protect NAME",
            left_out.cause(),
            left_out.remedy()
        ));
    }
    let whole = |obeyed_as: ObeyedAs| {
        obeyed.paths.iter().find(|path| path.path.as_os_str().is_empty() && path.obeyed_as == obeyed_as)
    };
    if whole(ObeyedAs::Programs).is_some() {
        notices.notice(
            "PATH has the workspace's own folder: a file there with the name of a program is run instead of it; take the folder out \
             of PATH",
        );
    }
    if let Some(path) = whole(ObeyedAs::Hooks) {
        notices.notice(&format!(
            "git runs hooks of the workspace's own folder ({}): they are not protected; protect their names, such as --protect \
             pre-commit, or keep hooks in a folder of their own",
            path.setting
        ));
    }
}

/// The user's options about names.
#[derive(Debug)]
struct Lists {
    never: ProtectedNames,
    reported: ProtectedNames,
    removed: ProtectedNames,
}

impl Lists {
    fn of(options: &HostOptions) -> Lists {
        Lists {
            never: ProtectedNames::new(&options.protect),
            reported: ProtectedNames::new(&options.ask_about),
            removed: ProtectedNames::new(&options.unprotect),
        }
    }

    /// Returns the entry of a path; `None` if the user has taken it off the lists, or the usual lists have it already.
    fn name(&self, obeyed: &ObeyedPath) -> Option<FoundName> {
        let path =
            RelPath::from_bytes(obeyed.path.as_os_str().as_bytes()).ok().filter(|path| !path.is_root())?;
        let is_in_git = ProtectedNames::new([".git"]).protects(&path);
        let usual = match obeyed.obeyed_as {
            ObeyedAs::Settings | ObeyedAs::Program => NameRule::Never,
            _ if is_in_git && obeyed.obeyed_as != ObeyedAs::Attributes => NameRule::Never,
            ObeyedAs::Hooks
            | ObeyedAs::Hook
            | ObeyedAs::Programs
            | ObeyedAs::Argument
            | ObeyedAs::Attributes => NameRule::Reported,
        };
        // Commands may change other things in `.git`, so its entry does not suffice.
        let is_listed = || {
            let names = ProtectedNames::default();
            names.protects(&path) || usual == NameRule::Reported && names.reported(&path).is_some()
        };
        if !is_in_git && is_listed() {
            return None;
        }
        let text = String::from_utf8_lossy(path.as_bytes());
        let is_on = |list: &ProtectedNames| list.entry(&text).is_some();
        // As with other names, the stricter option holds.
        let rule = if is_on(&self.never) {
            NameRule::Never
        } else if is_on(&self.reported) {
            NameRule::Reported
        } else if is_on(&self.removed) {
            return None;
        } else {
            usual
        };
        let effect = match obeyed.obeyed_as {
            ObeyedAs::Settings => "git obeys the settings in it",
            ObeyedAs::Hooks => "git runs what is in it",
            ObeyedAs::Hook | ObeyedAs::Program => "git runs it",
            ObeyedAs::Programs => "git and shells run programs in it by name",
            ObeyedAs::Argument => "git gives it to a program that it runs",
            ObeyedAs::Attributes => "git takes attributes from it",
        };
        let reason = format!("{effect}: {}", obeyed.setting);
        Some(FoundName { path, rule, reason, is_at_any_depth: obeyed.is_in_every_repository })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(options: &HostOptions, path: &str, obeyed_as: ObeyedAs) -> Option<NameRule> {
        let setting = "core.hooksPath".to_owned();
        let path = ObeyedPath { path: path.into(), obeyed_as, is_in_every_repository: false, setting };
        Lists::of(options).name(&path).map(|name| name.rule)
    }

    #[test]
    fn changes_of_every_path_are_reported_if_something_is_left_out() {
        #[derive(Debug)]
        struct Incomplete(bool);
        impl NameSource for Incomplete {
            fn look(&self) -> Vec<FoundName> {
                self.0.then(|| every_path(LeftOut::Repositories)).into_iter().collect()
            }
        }
        for is_incomplete in [true, false] {
            let names = ProtectedNames::default().with_found(Incomplete(is_incomplete));
            for path in ["run", "src/deep/main.rs", ".hidden", "a*b"] {
                let reason = names.reported(&RelPath::parse(path).unwrap()).map(|name| name.reason());
                let expected = "git may obey it: there are too many submodules or linked working trees";
                assert_eq!(reason, is_incomplete.then_some(expected), "{path}");
            }
            // A closer reason and a stricter list apply as before.
            let path = |path: &str| RelPath::parse(path).unwrap();
            assert!(names.reported(&path(".husky/x")).is_some_and(|name| name.pattern() == ".husky"));
            assert!(names.protects(&path(".git/config")) && names.reported(&path(".git/config")).is_none());
        }
    }

    #[test]
    fn names_are_collected_once_and_up_to_a_limit() {
        let name = |number: usize, rule| FoundName {
            path: RelPath::parse(&format!("n/{number}")).unwrap(),
            rule,
            reason: String::new(),
            is_at_any_depth: false,
        };
        let reported = |numbers: std::ops::Range<usize>| {
            numbers.map(|number| name(number, NameRule::Reported)).collect()
        };
        let mut looks = Looks::default();
        assert_eq!(looks.further(reported(0..COLLECTED_LIMIT), None).len(), COLLECTED_LIMIT);
        assert_eq!(looks.further(reported(0..COLLECTED_LIMIT), None), [], "the control");
        let every = every_path(LeftOut::Paths);
        assert_eq!(looks.further(reported(0..COLLECTED_LIMIT + 1), None), vec![every.clone()]);
        // Never-changed names are collected in any case.
        let never = name(0, NameRule::Never);
        assert_eq!(looks.further(vec![never.clone(), name(3000, NameRule::Reported)], None), [never, every]);
        assert_eq!(looks.further(vec![name(1, NameRule::Never)], None).len(), 1);
    }

    #[test]
    fn each_kind_has_its_list_and_the_options_move_it() {
        let usual = HostOptions::new("/");
        let rows = [
            ("shared.gitconfig", ObeyedAs::Settings, Some(NameRule::Never)),
            ("tools/x", ObeyedAs::Program, Some(NameRule::Never)),
            ("scripts/hooks", ObeyedAs::Hooks, Some(NameRule::Reported)),
            ("bin", ObeyedAs::Programs, Some(NameRule::Reported)),
            ("scripts/check", ObeyedAs::Hook, Some(NameRule::Reported)),
            ("scripts/rules.awk", ObeyedAs::Argument, Some(NameRule::Reported)),
            ("attributes", ObeyedAs::Attributes, Some(NameRule::Reported)),
            (".git/my-hooks", ObeyedAs::Hooks, Some(NameRule::Never)),
            // The usual lists have these.
            (".husky/_", ObeyedAs::Hooks, None),
            (".gitattributes", ObeyedAs::Attributes, None),
            (".vscode/settings.json", ObeyedAs::Settings, None),
            // A stricter one than there.
            (".husky/x", ObeyedAs::Program, Some(NameRule::Never)),
            ("", ObeyedAs::Hooks, None),
        ];
        for (path, obeyed_as, expected) in rows {
            assert_eq!(rule(&usual, path, obeyed_as), expected, "{path}");
        }
        let names = vec!["./scripts/hooks".to_owned()];
        let options = HostOptions { unprotect: names.clone(), ..usual.clone() };
        assert_eq!(rule(&options, "scripts/hooks", ObeyedAs::Hooks), None);
        assert_eq!(
            rule(&options, "scripts/hooks2", ObeyedAs::Hooks),
            Some(NameRule::Reported),
            "the control"
        );
        let options = HostOptions { ask_about: names.clone(), ..options };
        assert_eq!(rule(&options, "scripts/hooks", ObeyedAs::Settings), Some(NameRule::Reported));
        let options = HostOptions { protect: names, ..options };
        assert_eq!(rule(&options, "scripts/hooks", ObeyedAs::Hooks), Some(NameRule::Never));
    }
}
