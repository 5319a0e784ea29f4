//! git's own tests, run inside the confinement and without it.

use std::path::{Path, PathBuf};

use super::difference_reasons::Reasons;
use super::script_record::Records;
use super::script_report::{ScriptReport, report};
use super::script_suite::{ScriptSuite, scripts_in};
use super::suite_error::SuiteError;
use super::way::Way;
use crate::TaskError;

/// A run of git's own tests.
#[derive(Clone, Debug)]
pub struct GitTests {
    /// The folder of git's source code, in which git is built.
    pub from: PathBuf,
    /// The beginnings of the names of the scripts to run; those of t0 to t7 if there is none.
    pub scripts: Vec<String>,
    /// The confined ways to run them.
    pub ways: Vec<Way>,
    /// A file that keeps the outcomes, so that a later run goes on with the scripts that are left.
    pub records: Option<PathBuf>,
    /// The number of scripts that run at once.
    pub jobs: usize,
    /// Prints the section alone, and writes no page.
    pub print: bool,
}

const ADVICE: &str =
    "give the folder of git's source package in which `make NO_GETTEXT=1 NO_TCLTK=1 NO_CURL=1` has run";

/// The reasons of known differences, relative to the repository.
const REASONS: &str = "fixtures/outside/git.toml";

const HEADING: &str = "git's own tests";

/// Runs git's tests in all ways; prints the section, and writes it into the page.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if the folder is not git's, [`SuiteError::Unexplained`] if there is a difference without a
/// reason, and the others of running and writing.
pub fn git_tests(root: &Path, run: &GitTests) -> Result<(), TaskError> {
    let no_suite = || SuiteError::NoSuite { folder: run.from.clone(), advice: ADVICE };
    let from = run.from.canonicalize().map_err(|_| no_suite())?;
    let version = version(&std::fs::read_to_string(from.join("GIT-VERSION-FILE")).map_err(|_| no_suite())?)
        .ok_or_else(no_suite)?;
    let tests = from.join("t");
    let all = scripts_in(&tests, is_script, &[], ADVICE)?;
    let scripts = scripts_in(&tests, is_script, &run.scripts, ADVICE)?;
    let records = Records::open(run.records.as_deref(), &version)?;
    let suite = ScriptSuite {
        folder: &from,
        version: &version,
        scripts: &scripts,
        ways: &run.ways,
        jobs: run.jobs,
        command: &|script, work| command(&tests, script, work),
    };
    let records = suite.run(records)?;
    let reasons_file = root.join(REASONS);
    let reasons = std::fs::read_to_string(&reasons_file)
        .map_err(|source| TaskError::Unreadable { path: reasons_file, source })?;
    let reasons = Reasons::parse(REASONS, &reasons)?;
    let report = report(&records, &run.ways, &reasons, |script| script[..2].to_owned());
    let measured = records.all().count();
    let section = section(&version, &report, measured, all.len());
    println!("{section}");
    if !run.print {
        super::page::write_section(&root.join("docs/outside.md"), super::BEGINNING, HEADING, &section)?;
    }
    match report.unexplained {
        0 => Ok(()),
        count => Err(SuiteError::Unexplained { count }.into()),
    }
}

/// Reads the file in which git's build writes its version.
fn version(text: &str) -> Option<String> {
    let version = text.split_once('=')?.1.trim();
    (!version.is_empty()).then(|| version.to_owned())
}

/// Checks whether a file is a script of the parts that need no network: t0 to t7.
fn is_script(name: &str) -> bool {
    let mut characters = name.chars();
    let is_group =
        characters.next() == Some('t') && characters.next().is_some_and(|group| ('0'..='7').contains(&group));
    is_group && name.ends_with(".sh") && name.as_bytes()[2..5].iter().all(u8::is_ascii_digit)
}

/// Returns the command that runs a script with its folder in the working directory, and empties that afterwards.
fn command(tests: &Path, script: &str, work: &Path) -> String {
    let (tests, work) = (quoted(tests), quoted(work));
    format!(
        "( cd {tests} && exec sh ./{script} --root={work} )\ncode=$?\n\
         cd {work} && {{ chmod -R u+rwx . ; rm -rf ./* ; }} 2>&-\nexit $code"
    )
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

fn section(version: &str, report: &ScriptReport, measured: usize, all: usize) -> String {
    let user = if crate::setup::is_root() { "root" } else { "an ordinary user" };
    let ScriptReport { text, .. } = report;
    format!(
        "git {version}, as {user}: {measured} of the {all} scripts of t0 to t7, each of them run without confinement and as a command of a \
         workspace, with the same environment and with limits that it does not come to. A script whose outcomes differ is run \
         again, up to three times. \
         `cargo xtask outside git --from DIR` repeats it, where DIR is git's source code in which git is built; `--records FILE` \
         lets it go on where it was.\n\n{text}"
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{command, is_script, version};

    #[test]
    fn scripts_are_those_of_t0_to_t7() {
        assert!(is_script("t0000-basic.sh"));
        assert!(is_script("t7900-maintenance.sh"));
        for name in [
            "t9001-send-email.sh",
            "t8001-annotate.sh",
            "test-lib.sh",
            "t0000",
            "t0000-basic.perl",
            "t",
            "t0.sh",
        ] {
            assert!(!is_script(name), "{name}");
        }
    }

    #[test]
    fn a_version_is_read() {
        assert_eq!(version("GIT_VERSION = 2.1.0\n").as_deref(), Some("2.1.0"));
        assert_eq!(version("GIT_VERSION=2.1.0\n").as_deref(), Some("2.1.0"));
        assert_eq!(version("x\n"), None);
        assert_eq!(version("GIT_VERSION =\n"), None);
    }

    #[test]
    fn a_command_runs_in_the_suite_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (tests, work) = (folder.path().join("it's t"), folder.path().join("work"));
        std::fs::create_dir(&tests).unwrap();
        std::fs::create_dir(&work).unwrap();
        std::fs::write(tests.join("t0001-a.sh"), "mkdir \"${1#--root=}/trash\" && pwd && ls .. && exit 3\n")
            .unwrap();
        let command = command(&tests, "t0001-a.sh", &work);
        let end = std::process::Command::new("sh").arg("-c").arg(command).output().unwrap();
        assert_eq!(String::from_utf8(end.stdout).unwrap(), format!("{}\nit's t\nwork\n", tests.display()));
        assert_eq!(end.status.code(), Some(3));
        assert_eq!(std::fs::read_dir(Path::new(&work)).unwrap().count(), 0);
    }
}
