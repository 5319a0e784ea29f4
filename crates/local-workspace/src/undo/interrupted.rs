//! An undo that was interrupted after its commit and before its answer.

use change_journal::{JournalError, RunState};

use crate::engine::LocalWorkspace;
use crate::undo::record::Undone;

impl LocalWorkspace {
    /// Returns the newest work of the journal if it is an undo of a request that was never answered, once: recovery has
    /// completed it. A user who repeats "undo the last change" then means this one, and not the change before it.
    ///
    /// # Errors
    ///
    /// Only if the journal cannot be read, or cannot record that the undo is reported.
    pub fn unanswered_undo(&self) -> Result<Option<Undone>, JournalError> {
        let journal = self.journal.reader();
        let Some(newest) = journal.latest_changes(None, 1)?.pop() else { return Ok(None) };
        let unfinished = || {
            let run = journal.run(newest.run)?.filter(|run| !self.journal.is_open(run.number));
            Ok::<_, JournalError>(run.filter(|run| run.finished_at.is_none() && run.key.sequence == 0))
        };
        if unfinished()?.is_none() {
            return Ok(None);
        }
        // An answered one may only lack the commit of its end, which is lazy.
        self.journal.flush()?;
        let Some(run) = unfinished()? else { return Ok(None) };
        // A later step of the run would revert the undo.
        let undone = journal.steps(newest.run)?.first().and_then(Undone::recorded);
        let Some(undone) = undone.filter(|undone| undone.run == newest.run.0) else { return Ok(None) };
        let RunState::Resumed { run, .. } = self.journal.begin_run(&run.key)? else { return Ok(None) };
        self.journal.finish_run_lazily(run.number(), b"")?;
        Ok(Some(Undone { was_interrupted: true, ..undone }))
    }
}
