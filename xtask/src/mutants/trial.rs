//! The state of a crate that is tried, and the date.

use std::path::Path;

use super::subject::Subject;
use crate::repository::today::today;
use crate::{Step, TaskError};

/// A state of a crate, and when its mutants were tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    /// The id that git gives to the crate's folder, with its tests and what is not committed.
    pub(super) tree: String,
    /// The date in UTC, `2026-01-02`.
    pub(super) date: String,
}

impl Trial {
    /// Returns the state of a crate as it is now, with the date of today.
    ///
    /// # Errors
    ///
    /// [`TaskError::StepFailed`] if the repository is not one of git.
    pub(super) fn of_now(root: &Path, subject: &Subject) -> Result<Trial, TaskError> {
        let tree = tree_of(root, &format!("crates/{}", subject.package))?;
        Ok(Trial { tree, date: today() })
    }

    /// Reads what [`line`](Self::line) has written.
    pub(super) fn parse(line: &str) -> Option<Trial> {
        let (tree, date) = line.split_once('\t')?;
        Some(Trial { tree: tree.to_owned(), date: date.to_owned() })
    }

    /// Returns it as two columns.
    pub(super) fn line(&self) -> String {
        format!("{}\t{}", self.tree, self.date)
    }
}

/// Returns the id that git gives to a folder as its files are, without those that it ignores.
fn tree_of(root: &Path, folder: &str) -> Result<String, TaskError> {
    // An index of its own: what the person has staged stays as it is.
    let unwritable = |source| TaskError::Unwritable { path: std::env::temp_dir(), source };
    let scratch = tempfile::tempdir().map_err(unwritable)?;
    let index = scratch.path().join("index").to_string_lossy().into_owned();
    let git = |arguments: &[&str]| {
        let step = Step::new("read the state of the crate", "git", arguments).folder(root);
        step.variable("GIT_INDEX_FILE", &index).output()
    };
    git(&["add", "--all", "--", folder])?;
    let tree = git(&["write-tree", &format!("--prefix={folder}/")])?;
    Ok(String::from_utf8_lossy(&tree).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_tree_is_that_of_the_files_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let named = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let output =
                Step::new("git", "git", &[&named, arguments].concat()).folder(folder.path()).output();
            String::from_utf8(output.unwrap()).unwrap().trim().to_owned()
        };
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        git(&["init", "--quiet"]);
        fs::create_dir_all(folder.path().join("crates/a")).unwrap();
        write("crates/a/b.rs", "one");
        write("other", "one");
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", "x"]);
        let committed = git(&["rev-parse", "HEAD:crates/a"]);
        let tree = || tree_of(folder.path(), "crates/a").unwrap();
        assert_eq!(tree(), committed);
        write("other", "two");
        assert_eq!(tree(), committed, "another folder");
        write("crates/a/b.rs", "two");
        let changed = tree();
        assert_ne!(changed, committed, "a change that is not committed");
        write("crates/a/new.rs", "three");
        assert_ne!(tree(), changed, "a file that is not added");
        assert_eq!(git(&["diff", "--cached", "--name-only"]), "", "nothing was staged");
    }
}
