//! The work of an agent that continued a conversation. It started from uncommitted files, so it is adopted as a difference to
//! these files and not as a merge.

use std::fs;
use std::io::{Seek, SeekFrom};

use cocode_env::{AgentName, Verdict};
use serde::Serialize;

use crate::error::RunnerError;
use crate::objects::object_import::LIMIT;
use crate::record::AgentRecord;
use crate::repository::git::WITH_SUBMODULES;
use crate::runner::Runner;
use crate::verdict::obeyed_files::ObeyedFiles;

/// Git's arguments for a difference that does not depend on the user's settings.
const DIFFERENCE: [&str; 12] = [
    "diff-tree",
    "-r",
    "-p",
    "--binary",
    "--full-index",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    WITH_SUBMODULES,
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Git's arguments for applying it: all or nothing, and without changing any line.
const APPLICATION: [&str; 5] = ["-c", "apply.ignoreWhitespace=no", "-c", "apply.whitespace=nowarn", "apply"];

/// The work of an agent that continued a conversation, ready to be adopted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContinuedWork {
    /// The agent.
    pub agent: AgentName,
    /// The conversation that it continued, by its name in the journal.
    pub conversation: String,
    /// Its branch.
    pub branch: String,
    /// The commit with its work.
    pub commit: String,
    /// True if the files already contain it.
    pub is_there: bool,
    /// True if the agent is verified ready.
    pub is_ready: bool,
    /// True if a check command has passed as part of the verdict.
    pub is_checked: bool,
    /// The files of the work that other programs obey, for the user to review.
    #[serde(rename = "asked")]
    pub to_review: ObeyedFiles,
    #[serde(skip)]
    start_commit: String,
}

impl ContinuedWork {
    /// Returns the shell command, for the repository's root, that adopts the work: all of it, or nothing with exit code 1 or more.
    /// It changes no branch and no index.
    #[must_use]
    pub fn command(&self) -> String {
        let (difference, application) = (DIFFERENCE.join(" "), APPLICATION.join(" "));
        let (start, commit) = (&self.start_commit, &self.commit);
        format!(
            "export GIT_NO_REPLACE_OBJECTS=1 GIT_OPTIONAL_LOCKS=0; work=$(mktemp) && \
             git {difference} {start} {commit} >\"$work\" && git {application} \"$work\""
        )
    }
}

impl Runner {
    /// Checks the work of an agent that continued a conversation, and that it applies to the current files. Nothing is changed.
    ///
    /// # Errors
    /// [`RunnerError::NotEnded`], [`RunnerError::NothingToPick`], [`RunnerError::Unsound`], [`RunnerError::Obeyed`],
    /// [`RunnerError::BelowTheRoot`], [`RunnerError::DoesNotFit`].
    pub fn continued_work(
        &self,
        record: &AgentRecord,
        conversation: &str,
    ) -> Result<ContinuedWork, RunnerError> {
        self.is_at_root()?;
        let commit = self.sound_work(record)?;
        let to_review = self.files_to_review(record, [&record.start_commit, &commit])?;
        let (agent, start_commit) = (record.agent.clone(), record.start_commit.clone());
        let is_there = match self.is_there(&start_commit, &commit)? {
            Ok(is_there) => is_there,
            Err(why) => return Err(RunnerError::DoesNotFit { agent, why }),
        };
        Ok(ContinuedWork {
            agent,
            conversation: conversation.to_owned(),
            branch: record.branch.clone(),
            commit,
            is_there,
            is_ready: record.verdict.as_ref().is_some_and(|verdict| verdict.ready),
            is_checked: record.verdict.as_ref().is_some_and(Verdict::is_checked),
            to_review,
            start_commit,
        })
    }

    /// Returns whether the files already contain a difference; `Err` with git's reason if they are neither before nor after it.
    fn is_there(&self, start: &str, commit: &str) -> Result<Result<bool, String>, RunnerError> {
        let path = self.config.state_folder.join("work.diff");
        let failed = |source| RunnerError::File { what: "write", path: path.clone(), source };
        let mut options = fs::File::options();
        let mut file =
            options.read(true).write(true).create(true).truncate(true).open(&path).map_err(failed)?;
        // The open file is all that is needed.
        fs::remove_file(&path).map_err(failed)?;
        let (git, location) = (&self.repository.git.within(LIMIT), self.repository.location());
        let again = || file.try_clone().map_err(failed);
        git.write_to(location, &[&DIFFERENCE[..], &[start, commit]].concat(), "", again()?)?;
        let mut judge = |options: &[&str]| {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            let arguments = [&APPLICATION[..], &["--check"], options, &["-"]].concat();
            Ok::<_, RunnerError>(git.judge_from(location, &arguments, file.try_clone().map_err(failed)?)?)
        };
        let (fits, errors) = judge(&[])?;
        if fits {
            return Ok(Ok(false));
        }
        let (is_there, _) = judge(&["--reverse"])?;
        Ok(if is_there { Ok(true) } else { Err(crate::repository::git::reason(&errors)) })
    }
}
