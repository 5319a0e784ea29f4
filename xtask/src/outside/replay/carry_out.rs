//! Carrying out a reply as a session does: the message, the reply, the plan, the journal, the file.

use tag_session::{Applied, ApplyOptions, SessionError, Sessions};
use tagproto::{Dialect, Session, UnobservedExecution};
use wap_core::CancelFlag;

use local_workspace::LocalWorkspace;

use super::case::Case;
use super::verdict::{Outcome, Verdict};
use crate::conformance::{Fixture, Problem};

/// The replies after which a worker begins with an empty journal.
const REPLIES_OF_ONE_JOURNAL: usize = 250;

/// A folder with a workspace and a journal, for one reply after the other.
pub(super) struct Desk {
    fixture: Fixture,
    sessions: Sessions<LocalWorkspace>,
    left: usize,
}

impl Desk {
    pub(super) fn new() -> Result<Desk, Problem> {
        let fixture = Fixture::new()?;
        let sessions = fixture.sessions()?;
        Ok(Desk { fixture, sessions, left: REPLIES_OF_ONE_JOURNAL })
    }

    /// Carries out the reply of a case, and judges what came of it.
    pub(super) fn judge(&mut self, case: &Case) -> Result<Outcome, Problem> {
        if self.left == 0 {
            *self = Desk::new()?;
        }
        self.left -= 1;
        let path = &case.change.path;
        let file = self.fixture.workspace().join(path);
        self.fixture.put(path, &case.as_read)?;
        let outcome = self.replied(case);
        let after = std::fs::read(&file);
        // The workspace is empty again for the next one.
        let first = path.split('/').next().unwrap_or(path);
        let top = self.fixture.workspace().join(first);
        if top.is_dir() {
            std::fs::remove_dir_all(&top)?
        } else {
            std::fs::remove_file(&file)?
        }
        let after = after.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let (is_done, texts) = outcome?;
        let after = after.ok();
        let verdict = Verdict::of(case, &is_done, after.as_deref());
        Ok(Outcome { verdict, texts, is_done, after: after.filter(|_| verdict == Verdict::Wrong) })
    }

    /// Shows the file, lets the user change it if the case says so, and applies the reply. Returns for each edit whether it was
    /// carried out, and the texts of the results.
    fn replied(&self, case: &Case) -> Result<(Vec<bool>, Vec<String>), Problem> {
        let path = &case.change.path;
        let session = self.sessions.create("Replay", Dialect::Agentd, None, &CancelFlag::new())?;
        self.apply(&session, &format!("[READ_FILE path=\"{path}\"]\n"))?;
        if case.before != case.as_read {
            self.fixture.put(path, &case.before)?;
        }
        let results = match self.apply(&session, &case.reply) {
            Ok(Applied::Executed(executed)) => executed.results,
            Ok(Applied::AlreadyDone { .. }) => return Err(Problem::new("the reply was known before")),
            Err(SessionError::Refused(refusal)) => {
                return Ok((vec![false; case.edits()], vec![refusal.to_string()]));
            }
            Err(error) => return Err(error.into()),
        };
        let texts = results.iter().map(|result| format!("{}\n{}", result.summary, result.output)).collect();
        let is_done = match results.len() == case.edits() {
            true => results.iter().map(|result| result.success).collect(),
            // Blocks that were not those which the reply has: all of it counts as one.
            false => vec![!results.is_empty() && results.iter().all(|result| result.success); case.edits()],
        };
        Ok((is_done, texts))
    }

    fn apply(&self, session: &Session, text: &str) -> Result<Applied, SessionError> {
        let (options, cancel) = (ApplyOptions::default(), CancelFlag::new());
        let timeout = std::time::Duration::from_secs(30);
        self.sessions.apply(session.session_id, text, timeout, options, &cancel, &mut UnobservedExecution)
    }
}
