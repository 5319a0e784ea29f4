//! aider's tests of its edit formats: what its coders make of a reply, beside what ours make of it.

mod comparison;
mod edits;
mod record;
mod section;

use std::path::{Path, PathBuf};

use comparison::{Comparison, compare};
use record::{Call, record};

use super::checkout::{git, version};
use super::reply_reasons::ReplyReasons;
use super::suite_error::SuiteError;
use crate::TaskError;

/// A run of aider's tests.
#[derive(Clone, Debug)]
pub struct AiderTests {
    /// A checkout of aider, or its bare repository.
    pub from: PathBuf,
    /// Prints the section alone, and writes no page.
    pub print: bool,
    /// A new file for the replies that the programs read differently; `None` to keep none.
    pub details: Option<PathBuf>,
}

const ADVICE: &str = "give a checkout of aider, or its repository";

/// The reasons of known differences, relative to the repository.
const REASONS: &str = "fixtures/outside/aider.toml";

/// A test, or one reply of a recorded chat, with the outcome of its comparison.
struct Compared {
    test: String,
    /// The number of the call in its test, 1-based.
    number: usize,
    call: Call,
    comparison: Comparison,
}

/// Runs aider's tests and compares; prints the section, and writes it into the page.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if the folder is not aider's, [`SuiteError::NoProgram`], [`SuiteError::Unexplained`] if there is a
/// difference without a reason, and those of running and writing.
pub fn aider_tests(root: &Path, run: &AiderTests) -> Result<(), TaskError> {
    let scratch =
        tempfile::tempdir().map_err(|source| TaskError::Unwritable { path: "scratch".into(), source })?;
    let checkout = checkout(&run.from, scratch.path())?;
    let mut compared: Vec<Compared> = Vec::new();
    for record in record(&checkout)? {
        let last = compared.last().filter(|last| last.test == record.test);
        let number = last.map_or(1, |last| last.number + 1);
        let not_run = |why: crate::conformance::Problem| SuiteError::NotRun {
            script: record.test.clone(),
            why: why.to_string(),
        };
        let comparison = compare(&record.call).map_err(not_run)?;
        compared.push(Compared { test: record.test, number, call: record.call, comparison });
    }
    let reasons = ReplyReasons::read(root, REASONS)?;
    let (section, unexplained) = section::section(&version(&run.from), &compared, &reasons);
    println!("{section}");
    if let Some(file) = &run.details {
        section::keep_details(file, &compared)?;
    }
    if !run.print {
        super::write_page(root, "aider's tests of edit formats", &section)?;
    }
    super::all_explained(unexplained)
}

/// Returns a folder with the files that the tests need: the checkout itself, or what is copied out of a repository.
fn checkout(from: &Path, scratch: &Path) -> Result<PathBuf, TaskError> {
    if from.join("tests/basic/test_editblock.py").is_file() {
        return Ok(from.to_owned());
    }
    let no_suite = || SuiteError::NoSuite { folder: from.to_owned(), advice: ADVICE };
    let wanted = ["aider/coders", "aider/diffs.py", "tests/basic", "tests/fixtures/chat-history.md"];
    let gold = "tests/fixtures/chat-history-search-replace-gold.txt";
    let list = git(from, &[&["ls-tree", "-r", "--name-only", "HEAD", "--"], &wanted[..], &[gold]].concat());
    let list = list.ok_or_else(no_suite)?;
    let names: Vec<String> = String::from_utf8_lossy(&list).lines().map(str::to_owned).collect();
    if names.is_empty() {
        return Err(no_suite().into());
    }
    for name in names {
        let content = git(from, &["show", &format!("HEAD:{name}")]).ok_or_else(no_suite)?;
        let path = scratch.join(&name);
        let folder = path.parent().unwrap_or(scratch);
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, content));
        written.map_err(|source| TaskError::Unwritable { path, source })?;
    }
    Ok(scratch.to_owned())
}

#[cfg(test)]
mod tests {
    use super::checkout;

    #[test]
    fn a_folder_without_the_suite_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        assert!(checkout(folder.path(), scratch.path()).is_err());
        std::fs::create_dir_all(folder.path().join("tests/basic")).unwrap();
        std::fs::write(folder.path().join("tests/basic/test_editblock.py"), "").unwrap();
        assert_eq!(checkout(folder.path(), scratch.path()).unwrap(), folder.path());
    }
}
