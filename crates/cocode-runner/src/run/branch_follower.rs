//! Carrying an agent's branch over as it moves.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cocode_env::AgentName;

use crate::objects::object_import::ObjectImport;
use crate::repository::Repository;
use crate::repository::head_log::HeadFollower;
use crate::repository::own_branches::{IndexStamp, OwnBranches};
use crate::run::event::RunObserver;
use crate::run::watch::{INTERVAL, report_commits};

/// How long everything may take that is brought over at once while the agent runs.
const LOOK_LIMIT: Duration = Duration::from_secs(60);

/// How long an index is left to rest before what is staged there is brought over. Mostly it is committed within that time.
const REST: Duration = Duration::from_secs(1);

/// Follows one agent on a thread of its own: what it brings over may take its time, and other agents have deadlines.
pub(crate) struct BranchFollower<'a> {
    agent: AgentName,
    branches: OwnBranches,
    import: ObjectImport,
    repository: &'a Repository,
    log: HeadFollower,
    observer: &'a dyn RunObserver,
    /// The branch and `HEAD` as they were last seen.
    seen: [Option<String>; 2],
    /// The index as it was last seen.
    index: Option<IndexStamp>,
    /// When it was seen to have changed, if nothing has come of that yet.
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
        // The agent may have gone on since it was started.
        let seen = [Some(start_commit.to_owned()), None];
        BranchFollower {
            agent,
            branches,
            import,
            repository,
            log,
            observer,
            seen,
            index: None,
            index_changed: None,
        }
    }

    /// Follows until nobody holds the other end any more, and looks once more then.
    pub(crate) fn follow(mut self, until: &Receiver<()>) {
        loop {
            let is_over = until.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout);
            self.look();
            if is_over {
                return;
            }
        }
    }

    /// Looks once, for a limited time: whoever waits for the agent's end waits for this. What cannot be brought over now is tried again when the agent has ended, and told then.
    fn look(&mut self) {
        self.import.end_at(Instant::now() + LOOK_LIMIT);
        let commits = self.log.new_commits();
        let now = [self.branches.tip(), self.branches.head_commit()];
        // Git writes the log before it moves the branch, and whoever is told of a commit wants to see it.
        if let Some(newest) = commits.last() {
            let _ = self.import.bring(&newest.commit);
        }
        // Before the branch is moved, which takes a call of git more.
        report_commits(&self.agent, commits, self.observer);
        if now != self.seen {
            if now[0] != self.seen[0] && now[0].is_some() {
                let _ = self.branches.carry_over_with(self.repository, &mut self.import);
            }
            if let Some(head) = now[1].as_ref().filter(|_| now[1] != self.seen[1]) {
                let _ = self.import.bring(head);
            }
            self.seen = now;
        }
        self.look_at_index();
    }

    /// Brings over what is staged: git goes through the indexes of all worktrees when it tidies up the repository, and does
    /// nothing where it finds that something is missing.
    fn look_at_index(&mut self) {
        let index = self.branches.index_stamp();
        if index != self.index {
            self.index = index;
            self.index_changed = Some(Instant::now());
        } else if self.index_changed.is_some_and(|changed| changed.elapsed() >= REST) {
            self.index_changed = None;
            let _ = self.import.bring_new();
        }
    }
}
