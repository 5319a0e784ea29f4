//! pjdfstest, the tests of file systems against POSIX, run on a layer and without one.

use std::path::Path;

use super::script_suite::{ScriptRun, ScriptSuite, names_in, quoted};
use super::suite_error::SuiteError;
use crate::TaskError;

const ADVICE: &str =
    "give a checkout of pjdfstest in which `autoreconf -ifs && ./configure && make pjdfstest` has run";

const ABOUT: &str = "pjdfstest calls the file system some 9,000 times and compares each answer with what POSIX says. Each of its scripts is run on the
bare file system, and as a command of a workspace at each level: at `full` the calls meet a layer. They run as an ordinary user, also where root
starts them: cases that need another user, a device or a capability fail in all ways, and say nothing. `cargo xtask outside posix --from DIR` repeats the run, where DIR is a checkout in which it is built.";

/// Runs pjdfstest in all ways; prints the section, and writes it into the page.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if the folder is not that of pjdfstest, [`SuiteError::Unexplained`] if there is a difference
/// without a reason, and the others of running and writing.
pub fn posix_tests(root: &Path, run: &ScriptRun) -> Result<(), TaskError> {
    let no_suite = || SuiteError::NoSuite { folder: run.from.clone(), advice: ADVICE };
    let from = run.from.canonicalize().map_err(|_| no_suite())?;
    let tests = from.join("tests");
    let scripts = scripts(&tests);
    if scripts.is_empty() || !from.join("pjdfstest").is_file() {
        return Err(no_suite().into());
    }
    let suite = ScriptSuite {
        name: "posix",
        heading: "pjdfstest",
        about: ABOUT,
        reasons: "fixtures/outside/posix.toml",
        folder: &from,
        version: &version(&from),
        scripts: &scripts,
        command: &|script, work| command(&tests, script, work),
        group: |script| script.split('/').next().unwrap_or_default().to_owned(),
    };
    suite.measure(root, run)
}

/// Returns the scripts as `FOLDER/NAME`, sorted.
fn scripts(tests: &Path) -> Vec<String> {
    let in_folder = |folder: String| {
        let names = names_in(&tests.join(&folder)).into_iter().filter(|name| name.ends_with(".t"));
        names.map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    names_in(tests).into_iter().flat_map(in_folder).collect()
}

/// Returns the commit of a checkout; one without history has the version `unknown`.
fn version(from: &Path) -> String {
    let mut git = std::process::Command::new("git");
    // The checkout may be another user's: its commit is read alone.
    git.args(["-c", "safe.directory=*", "-C"])
        .arg(from)
        .args(["rev-parse", "--short=12", "HEAD"])
        .stderr(std::process::Stdio::null());
    let output = git.output().ok().filter(|output| output.status.success());
    let commit = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    commit.unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the command that runs a script in the working directory, and empties that afterwards.
fn command(tests: &Path, script: &str, work: &Path) -> String {
    let (script, work) = (quoted(&tests.join(script)), quoted(work));
    format!(
        "( cd {work} && exec sh {script} )\ncode=$?\n\
         cd {work} && {{ chmod -R u+rwx . ; rm -rf ./* ; }} 2>&-\nexit $code"
    )
}

#[cfg(test)]
mod tests {
    use super::{scripts, version};

    #[test]
    fn scripts_are_those_of_all_folders() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/01.t", "b/00.t", "a/00.t", "a/read.me"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::write(folder.path().join("conf"), "").unwrap();
        assert_eq!(scripts(folder.path()), ["a/00.t", "b/00.t", "b/01.t"]);
        assert_eq!(scripts(&folder.path().join("none")), [""; 0]);
    }

    #[test]
    fn a_folder_without_history_has_no_version() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(version(folder.path()), "unknown");
    }
}
