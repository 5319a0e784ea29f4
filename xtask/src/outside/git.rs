//! git's own tests, run inside the confinement and without it.

use std::path::Path;

use super::script_suite::{ScriptRun, ScriptSuite, names_in, quoted};
use super::suite_error::SuiteError;
use crate::TaskError;

const ADVICE: &str =
    "give the folder of git's source package in which `make NO_GETTEXT=1 NO_TCLTK=1 NO_CURL=1` has run";

const ABOUT: &str = "Each script of git's tests that runs without network (t0 to t7) is run without confinement, and as a command of a workspace
at each level, with the same environment. The limits on time, memory, processes and output are raised for it. A script whose
outcomes differ is run again, up to three times. `cargo xtask outside git --from DIR` repeats the run, where DIR is the source code of git
in which git is built; `--records FILE` continues an earlier run.";

/// Runs git's tests in all ways; prints the section, and writes it into the page.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if the folder is not git's, [`SuiteError::Unexplained`] if there is a difference without a
/// reason, and the others of running and writing.
pub fn git_tests(root: &Path, run: &ScriptRun) -> Result<(), TaskError> {
    let no_suite = || SuiteError::NoSuite { folder: run.from.clone(), advice: ADVICE };
    let from = run.from.canonicalize().map_err(|_| no_suite())?;
    let version = std::fs::read_to_string(from.join("GIT-VERSION-FILE")).map_err(|_| no_suite())?;
    let version = version_in(&version).ok_or_else(no_suite)?;
    let tests = from.join("t");
    let scripts: Vec<String> = names_in(&tests).into_iter().filter(|name| is_script(name)).collect();
    if scripts.is_empty() {
        return Err(no_suite().into());
    }
    let suite = ScriptSuite {
        name: "git",
        heading: "git's own tests",
        about: ABOUT,
        reasons: "fixtures/outside/git.toml",
        folder: &from,
        version: &version,
        scripts: &scripts,
        command: &|script, work| command(&tests, script, work),
        group: |script| script[..2].to_owned(),
    };
    suite.measure(root, run)
}

/// Reads the file in which git's build writes its version.
fn version_in(text: &str) -> Option<String> {
    let version = text.split_once('=')?.1.trim();
    (!version.is_empty()).then(|| version.to_owned())
}

/// Checks whether a file is a script of the parts that need no network: t0 to t7.
fn is_script(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() > 5
        && bytes[0] == b't'
        && (b'0'..=b'7').contains(&bytes[1])
        && bytes[2..5].iter().all(u8::is_ascii_digit)
        && name.ends_with(".sh")
}

/// Returns the command that runs a script with its folder in the working directory, and empties that afterwards.
fn command(tests: &Path, script: &str, work: &Path) -> String {
    let (tests, work) = (quoted(tests), quoted(work));
    format!(
        "( cd {tests} && TEST_OUTPUT_DIRECTORY={work} exec sh ./{script} --root={work} )\ncode=$?\n\
         cd {work} && {{ chmod -R u+rwx . ; rm -rf ./* ; }} 2>&-\nexit $code"
    )
}

#[cfg(test)]
mod tests {
    use super::{command, is_script, version_in};

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
        assert_eq!(version_in("GIT_VERSION = 2.1.0\n").as_deref(), Some("2.1.0"));
        assert_eq!(version_in("GIT_VERSION=2.1.0\n").as_deref(), Some("2.1.0"));
        assert_eq!(version_in("x\n"), None);
        assert_eq!(version_in("GIT_VERSION =\n"), None);
    }

    #[test]
    fn a_command_runs_in_the_suite_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (tests, work) = (folder.path().join("it's t"), folder.path().join("work"));
        std::fs::create_dir(&tests).unwrap();
        std::fs::create_dir(&work).unwrap();
        let script = "mkdir \"${1#--root=}/trash\" && pwd && ls .. && exit 3\n";
        std::fs::write(tests.join("t0001-a.sh"), script).unwrap();
        let command = command(&tests, "t0001-a.sh", &work);
        let end = std::process::Command::new("sh").arg("-c").arg(command).output().unwrap();
        assert_eq!(String::from_utf8(end.stdout).unwrap(), format!("{}\nit's t\nwork\n", tests.display()));
        assert_eq!(end.status.code(), Some(3));
        assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
    }
}
