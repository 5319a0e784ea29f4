//! The thread that copies an agent's branch to the repository as it moves.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cocode_env::AgentName;

use crate::objects::object_import::ObjectImport;
use crate::repository::Repository;
use crate::repository::head_log::HeadFollower;
use crate::repository::own_branches::{IndexStamp, OwnBranches};
use crate::run::event::RunObserver;
use crate::run::watch::{INTERVAL, report_commits};

/// The time limit of one check while the agent runs.
const LOOK_LIMIT: Duration = Duration::from_secs(60);

/// The time for which an index must be unchanged before its staged objects are imported. Most are committed earlier.
const REST: Duration = Duration::from_secs(1);

/// Follows one agent on its own thread: an import may be slow, and other agents have deadlines.
pub(crate) struct BranchFollower<'a> {
    agent: AgentName,
    branches: OwnBranches,
    import: ObjectImport,
    repository: &'a Repository,
    log: HeadFollower,
    observer: &'a dyn RunObserver,
    /// The commits of the branch and of `HEAD` at the last check.
    tips: [Option<String>; 2],
    /// The index at the last check.
    index: Option<IndexStamp>,
    /// The time of the index's last change; `None` once its objects were imported.
    index_changed: Option<Instant>,
}

impl<'a> BranchFollower<'a> {
    pub(crate) fn new(
        agent: AgentName,
        branches: OwnBranches,
        import: ObjectImport,
        repository: &'a Repository,
        log: HeadFollower,
        observer: &'a dyn RunObserver,
        start_commit: &str,
    ) -> BranchFollower<'a> {
        // Not read from the branch: the agent already runs, and may have committed.
        let tips = [Some(start_commit.to_owned()), None];
        BranchFollower {
            agent,
            branches,
            import,
            repository,
            log,
            observer,
            tips,
            index: None,
            index_changed: None,
        }
    }

    /// Follows until the other end of the channel is dropped, and then checks once more.
    pub(crate) fn follow(mut self, until: &Receiver<()>) {
        loop {
            let is_over = until.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout);
            self.look();
            if is_over {
                return;
            }
        }
    }

    /// Checks once, for a limited time, since the agent's end waits for it. An import that fails here is retried, and
    /// reported, when the agent has ended.
    fn look(&mut self) {
        self.import.end_at(Instant::now() + LOOK_LIMIT);
        let commits = self.log.new_commits();
        let now = [self.branches.tip(), self.branches.head_commit()];
        // Before the report, because an observer may read the commit. Git writes the log before it moves the branch, so the
        // branch may not lead there yet.
        if let Some(newest) = commits.last() {
            let _ = self.import.import_commit(&newest.commit);
        }
        // Before the branch is moved, which takes another call of git.
        report_commits(&self.agent, self.repository, &commits, self.observer);
        if now != self.tips {
            if now[0] != self.tips[0] && now[0].is_some() {
                let _ = self.branches.import_tip(self.repository, &mut self.import);
            }
            if let Some(head) = now[1].as_ref().filter(|_| now[1] != self.tips[1]) {
                let _ = self.import.import_commit(head);
            }
            self.tips = now;
        }
        self.look_at_index();
    }

    /// Imports staged objects: `git gc` reads the indexes of all worktrees, and fails if an object is missing.
    fn look_at_index(&mut self) {
        let index = self.branches.index_stamp();
        if index != self.index {
            self.index = index;
            self.index_changed = Some(Instant::now());
        } else if self.index_changed.is_some_and(|changed| changed.elapsed() >= REST) {
            self.index_changed = None;
            let _ = self.import.import_new();
        }
    }
}
