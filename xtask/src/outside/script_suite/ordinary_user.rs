//! Running a suite's scripts as an ordinary user where root runs the task: the reasons of differences are those of such a run.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;
use std::process::Command;

use super::super::suite_error::SuiteError;
use super::ScriptRun;
use crate::TaskError;

/// The user and group of the scripts if root owns the suite's folder. Neither needs an account.
const ORDINARY_USER: u32 = 1000;

/// Runs the chosen scripts of a suite that have no record yet by this same program as another user, who is the owner of the
/// suite's folder unless root is. Their records are added to a file, which that user owns from then on.
///
/// # Errors
///
/// [`TaskError::Unwritable`] for the file of records, [`SuiteError::NotRun`] if not all scripts have run.
pub(super) fn run_scripts(
    suite: &'static str,
    folder: &Path,
    run: &ScriptRun,
    records: &Path,
) -> Result<(), TaskError> {
    let not_run = |why: String| SuiteError::NotRun { script: format!("the scripts of {suite}"), why };
    let user = owner(folder).map_err(|error| not_run(error.to_string()))?;
    give(records, user).map_err(|source| TaskError::Unwritable { path: records.to_owned(), source })?;
    let status = command(suite, folder, run, records, user)
        .and_then(|mut command| command.status())
        .map_err(|error| not_run(format!("setpriv: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(not_run(format!("as user {user} they ended with {status}")).into())
    }
}

fn owner(folder: &Path) -> io::Result<u32> {
    let owner = folder.metadata()?.uid();
    Ok(if owner == 0 { ORDINARY_USER } else { owner })
}

/// Gives a file, which is made if it is missing, to a user.
fn give(file: &Path, user: u32) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(file)?;
    fchown(&file, Some(user), Some(user))
}

fn command(suite: &str, folder: &Path, run: &ScriptRun, records: &Path, user: u32) -> io::Result<Command> {
    let mut command = Command::new("setpriv");
    // Without its parent it ends, too.
    command.args(["--clear-groups", "--pdeathsig", "TERM"]);
    command.args([format!("--reuid={user}"), format!("--regid={user}"), "--".to_owned()]);
    command.arg(std::env::current_exe()?).args(["outside", suite, "--record-only", "--from"]).arg(folder);
    command.arg("--records").arg(records).args(["--jobs", &run.jobs.to_string()]);
    for way in &run.ways {
        command.args(["--level", &way.to_string()]);
    }
    for script in &run.scripts {
        command.args(["--script", script]);
    }
    // Root's folders are not the user's.
    command.env("HOME", "/").env_remove("TMPDIR");
    Ok(command)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use sandbox_exec::Level;

    use super::super::super::way::Way;
    use super::{ScriptRun, command};

    #[test]
    fn the_user_runs_the_same_choice() {
        let run = ScriptRun {
            from: PathBuf::from("/suite"),
            scripts: vec!["t00".to_owned()],
            ways: vec![Way::Confined(Level::Full)],
            records: None,
            jobs: 3,
            print: false,
            record_only: false,
        };
        let command = command("git", Path::new("/suite"), &run, Path::new("/records"), 7).unwrap();
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
        let program = std::env::current_exe().unwrap();
        let (before, after) = arguments.split_at(6);
        assert_eq!(before[..5], ["--clear-groups", "--pdeathsig", "TERM", "--reuid=7", "--regid=7"]);
        assert_eq!(after[0], program.to_string_lossy());
        assert_eq!(
            after[1..].join(" "),
            "outside git --record-only --from /suite --records /records --jobs 3 --level full --script t00"
        );
    }
}
