//! The lines that tests reach.

mod figures;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::figures::LinesByCrate;
use crate::{CrateList, Step, TaskError};

pub(crate) use self::tools::{CoverageTools, coverage_package, has_coverage_tools};

/// The folder of the instrumented build and its counters, relative to the root.
const FOLDER: &str = "target/coverage";

/// Builds the tests of some crates, or of all, with counters in them, runs them, and prints the lines that were reached by crate.
///
/// A line counts for its crate whichever of these tests has reached it. Tests of processes that see no other folder than their
/// workspace, such as confined agents, have nowhere to write their counters, and a process that is killed writes none: what
/// only those reach is missing in the figures. For the same reason a test that looks at the output of such a process may fail; its
/// name is printed, and the others count.
///
/// # Errors
///
/// [`TaskError::NoCoverageTools`], and those of building the tests.
pub fn coverage(root: &Path, crates: &[String]) -> Result<(), TaskError> {
    let tools = CoverageTools::find()?;
    let folder = root.join(FOLDER);
    let counters = folder.join("counters");
    if counters.exists() {
        fs::remove_dir_all(&counters).map_err(unwritable(&counters))?;
    }
    fs::create_dir_all(&counters).map_err(unwritable(&counters))?;
    let mut scope: Vec<String> =
        crates.iter().flat_map(|one| ["--package".to_owned(), one.clone()]).collect();
    if scope.is_empty() {
        scope.push("--workspace".to_owned());
    }
    let cargo = |name: &str, more: &[&str]| {
        let arguments: Vec<String> = ["test", "--tests"]
            .iter()
            .map(|&argument| argument.to_owned())
            .chain(scope.iter().cloned())
            .chain(more.iter().map(|&argument| argument.to_owned()))
            .collect();
        Step::cargo(name, &arguments)
            .variable("RUSTFLAGS", "-Cinstrument-coverage")
            .variable("CARGO_TARGET_DIR", &folder.to_string_lossy())
            .variable("CARGO_PROFILE_DEV_DEBUG", "0")
            // Processes of one program share some files, which they merge their counters into.
            .variable("LLVM_PROFILE_FILE", &counters.join("%m-%4m.profraw").to_string_lossy())
            .folder(root)
    };
    cargo("build", &["--no-run"]).run()?;
    let built = cargo("programs", &["--no-run", "--message-format", "json"]).output()?;
    let programs = programs(&String::from_utf8_lossy(&built));
    // A test that fails only here is named in the output; the counters of the others are there.
    let has_failed = cargo("tests", &["--no-fail-fast"]).run().is_err();
    let profile = tools.merge(&counters, &folder.join("merged.profdata"))?;
    let report = tools.export(&profile, &programs)?;
    let lines = LinesByCrate::read(&report, root, &CrateList::read(root)?);
    print!("{}", lines.table(crates));
    println!("{}", tools.description());
    if has_failed {
        println!("some tests failed with counters in them; see above");
    }
    Ok(())
}

/// Reads the programs that cargo has built for tests, from its messages.
fn programs(messages: &str) -> Vec<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs: Vec<PathBuf> =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect();
    programs.sort();
    programs.dedup();
    programs
}

fn unwritable(path: &Path) -> impl FnOnce(std::io::Error) -> TaskError {
    let path = path.to_owned();
    move |source| TaskError::Unwritable { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_those_with_an_executable_once_each() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
            {\"reason\":\"compiler-artifact\",\"executable\":\"/b\"}\nnot JSON\n\
            {\"reason\":\"compiler-artifact\",\"executable\":\"/a\"}\n{\"reason\":\"x\",\"executable\":\"/b\"}\n";
        assert_eq!(programs(messages), [PathBuf::from("/a"), PathBuf::from("/b")]);
    }
}
