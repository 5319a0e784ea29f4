//! The call that removes old history.

use change_journal::{GarbageReport, RunNumber};
use serde::{Deserialize, Serialize};
use tagproto::{ExecutionObserver, SessionId};
use wap_core::{Call, Tool};

use crate::failure::{Exit, Failure};
use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::state::{LocalSessions, garbage_keeper};

/// Removes the history of finished sessions beyond a limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CollectGarbage {
    /// The maximum number of bytes of file contents that may stay.
    pub limit_bytes: u64,
}

/// The amounts that were removed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Collected {
    /// File contents that were removed.
    pub contents_removed: u64,
    /// Their size in bytes.
    pub contents_bytes: u64,
    /// Changes that can no longer be undone.
    pub changes_not_undoable: u64,
    /// Files without an entry in the journal that were removed.
    pub stray_files_removed: u64,
    /// Their size in bytes.
    pub stray_files_bytes: u64,
    /// Files that the journal does not know and that stay, because a quarantined database next to it may refer to them.
    #[serde(default)]
    pub stray_files_kept: u64,
    /// Their size in bytes.
    #[serde(default)]
    pub stray_files_kept_bytes: u64,
    /// Outputs of commands that were removed.
    pub outputs_removed: u64,
    /// Their size in bytes.
    pub outputs_bytes: u64,
    /// Bytes of contents that are still kept.
    pub kept_bytes: u64,
    /// Bytes by which the database has shrunk.
    pub database_bytes_freed: u64,
}

impl SessionCall for CollectGarbage {
    const METHOD: &'static str = "agentd/collectGarbage";
    const TOOL: Tool = Tool::WriteFile;
    const IS_CONFINED: bool = false;
    type Answer = Collected;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        caller: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Collected, SessionRefusal> {
        let journal = sessions.journal_reader();
        let unfinished = garbage_keeper::unfinished(journal)?;
        // Files must hold what the journal promises before their contents may be removed.
        sessions.workspace().inner().checkpoint();
        let is_needed = |run: RunNumber| {
            let run = journal.run(run).ok().flatten();
            run.is_some_and(|run| {
                let conversation = &run.key.conversation;
                // A connected client may still read the output of its commands.
                let may_be_connected = caller == Caller::Client && conversation.parse::<SessionId>().is_err();
                may_be_connected || unfinished.contains(conversation)
            })
        };
        let (outputs_removed, outputs_bytes) = sessions.workspace().inner().discard_outputs(&is_needed);
        let rule = garbage_keeper::rule(journal, &unfinished, self.limit_bytes)?;
        // A process that owns the folder only for this call may keep the disk busy; one with clients must not delay
        // them.
        let report = match caller {
            Caller::Owner => sessions.collect_garbage(&rule),
            Caller::Client => sessions.collect_garbage_in_background(&rule, &|| !call.cancel.is_cancelled()),
        };
        let failed = |error| Failure::new(Exit::Failed, format!("the journal failed: {error}"));
        let GarbageReport {
            contents_removed,
            contents_bytes,
            changes_cut,
            files_removed,
            files_bytes,
            files_kept,
            files_kept_bytes,
            kept_bytes,
            database_bytes,
            ..
        } = report.map_err(failed)?;
        Ok(Collected {
            contents_removed,
            contents_bytes,
            changes_not_undoable: changes_cut,
            stray_files_removed: files_removed,
            stray_files_bytes: files_bytes,
            stray_files_kept: files_kept,
            stray_files_kept_bytes: files_kept_bytes,
            outputs_removed,
            outputs_bytes,
            kept_bytes,
            database_bytes_freed: database_bytes,
        })
    }
}
