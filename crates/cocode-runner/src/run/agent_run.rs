//! One agent's run, from its worktree to its end, in five steps.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::sync::{Arc, PoisonError, mpsc};
use std::time::Instant;

use cocode_env::{AgentState, LogLine, LogStream};
use sandbox_exec::{Launcher, Outcome, OutputStream, Policy, Running, WaitError};

use super::Shared;
use crate::error::{RunnerError, error_chain};
use crate::objects::loose_objects;
use crate::objects::object_import::ObjectImport;
use crate::plan::PlannedAgent;
use crate::record::AgentRecord;
use crate::record::agent_confinement::AgentConfinement;
use crate::repository::head_log::HeadFollower;
use crate::repository::own_branches::OwnBranches;
use crate::repository::own_repository::OwnRepository;
use crate::repository::worktree::{Worktree, file_error};
use crate::run::branch_follower::BranchFollower;
use crate::run::check_run::network_fault;
use crate::run::ended::Ended;
use crate::run::event::RunEvent;
use crate::run::log_file::LogFile;
use crate::run::stop::StopNote;
use crate::run::watch::Watched;
use crate::runner::{Runner, now_ms};

/// The run of one agent.
pub(super) struct AgentRun<'a> {
    pub(super) runner: &'a Runner,
    pub(super) shared: &'a Shared<'a>,
    pub(super) agent: &'a PlannedAgent,
}

/// The confinement of an agent, before it is started.
struct Confines {
    /// Its own view of the repository, if it has its own file tree.
    own: Option<OwnRepository>,
    policy: Policy,
    head_log: HeadFollower,
}

impl AgentRun<'_> {
    /// Carries out the steps: worktree, files, confinement, start, and following the agent to its end.
    ///
    /// # Errors
    ///
    /// Those of making the worktree, the files and the confinement. An agent that cannot be started has ended, with the
    /// reason.
    pub(super) fn to_its_end(&self, record: &mut AgentRecord) -> Result<Ended, RunnerError> {
        let worktree = self.make_worktree(record)?;
        let mut log = self.make_files(record)?;
        let launcher = match self.launcher() {
            Ok(launcher) => launcher,
            Err(detail) => return Ok(Ended::unstarted(detail)),
        };
        let confines = self.confine(launcher, &worktree, record)?;
        let note = Arc::new(StopNote::default());
        let running = match self.start(launcher, &confines, record, &note)? {
            Ok(running) => running,
            Err(detail) => return Ok(Ended::unstarted(detail)),
        };
        let is_shared = confines.own.is_none();
        let waited = self.follow(running, confines, &mut log, &note);
        self.shared.watch.remove(&self.agent.definition.name, self.shared.observer);
        if is_shared && loose_objects::reopen(&self.runner.repository.common_folder.join("objects")) {
            record
                .warnings
                .push("it had removed its permissions on folders of the repository's objects".to_owned());
        }
        if let Some(kind) = log.failure() {
            record.warnings.push(format!("lines of its log are missing: {kind}"));
        }
        Ok(Ended::of(waited, note.reason()))
    }

    /// Makes the worktree with its branch; one at a time, because git would wait for its own locks anyway.
    fn make_worktree(&self, record: &mut AgentRecord) -> Result<Worktree, RunnerError> {
        let _making = self.shared.making.lock().unwrap_or_else(PoisonError::into_inner);
        let parent = self.runner.worktrees_folder();
        let made = DirBuilder::new().mode(0o700).recursive(true).create(parent);
        made.map_err(file_error("make", parent))?;
        let (agent, start) = (self.agent, &self.shared.plan.base.commit);
        let worktree = Worktree::create(&self.runner.repository, &agent.branch, &agent.worktree, start)?;
        record.git_folder = Some(worktree.git_folder.clone());
        Ok(worktree)
    }

    /// Writes the file with the issue's text, and makes the log.
    fn make_files(&self, record: &AgentRecord) -> Result<LogFile, RunnerError> {
        let body_path = self.agent.context.issue_body_file();
        // `create_new` does not follow a symlink that another process has put there.
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(body_path);
        made.and_then(|mut file| file.write_all(self.shared.body.as_bytes()))
            .map_err(file_error("write", body_path))?;
        let log_path = self.runner.log_path(record);
        LogFile::create(&log_path).map_err(file_error("write", &log_path))
    }

    /// Returns the launcher, or the reason that it may not start this agent.
    fn launcher(&self) -> Result<&Launcher, String> {
        let definition = &self.agent.definition;
        let launcher = self.runner.shared_launcher(self.shared, definition.is_confined)?;
        if let Some(fault) = network_fault(definition, launcher) {
            return Err(fault.to_owned());
        }
        Ok(launcher)
    }

    /// Makes the agent's own view of the repository, and its policy.
    fn confine(
        &self,
        launcher: &Launcher,
        worktree: &Worktree,
        record: &mut AgentRecord,
    ) -> Result<Confines, RunnerError> {
        let (runner, shared, agent) = (self.runner, self.shared, self.agent);
        let own = runner.own_repository(launcher, agent, worktree);
        match &own {
            Some(own) => own.make(&runner.repository, &shared.plan.base.commit)?,
            None if agent.definition.is_confined => {
                OwnBranches::make_shared(&runner.repository.common_folder)?;
                record.warnings.extend(runner.pack_once(shared));
            }
            None => {}
        }
        record.own_branches = own.is_some();
        record.own_objects = own.is_some();
        let mut git_folder = worktree.git_folder.as_path();
        if let Some(own) = &own {
            own.git_folder.begin()?;
            git_folder = own.git_folder.path();
        }
        let head_log = HeadFollower::new(git_folder);
        let policy = runner.policy(shared, agent, worktree, own.as_ref())?;
        Ok(Confines { own, policy, head_log })
    }

    /// Records that the agent runs, starts it, and watches its deadline. The inner error is the reason that it did not
    /// start.
    fn start(
        &self,
        launcher: &Launcher,
        confines: &Confines,
        record: &mut AgentRecord,
        note: &Arc<StopNote>,
    ) -> Result<Result<Running, String>, RunnerError> {
        let (runner, shared, agent) = (self.runner, self.shared, self.agent);
        record.launched_at_ms = Some(now_ms());
        let confinement = AgentConfinement::of(launcher.report(), &agent.definition);
        record.confinement = Some(confinement.clone());
        record.state = AgentState::Running;
        // Before the process exists, so that a crash at any later moment leaves a record of it.
        runner.store.put(record)?;
        let running = match launcher.spawn(&confines.policy, &agent.command) {
            Ok(running) => running,
            Err(error) => return Ok(Err(error_chain(&error))),
        };
        let name = &agent.definition.name;
        shared.observer.event(&RunEvent::Started {
            agent: name.clone(),
            branch: agent.branch.clone(),
            worktree: agent.worktree.clone(),
            confinement,
        });
        shared.watch.add(Watched {
            agent: name.clone(),
            killer: running.killer(),
            deadline: Instant::now() + agent.timeout,
            cancel_file: runner.cancel_path(record),
            log: confines.own.is_none().then(|| confines.head_log.clone()),
            repository: runner.repository.clone(),
            note: Arc::clone(note),
            stopping_since: None,
        });
        Ok(Ok(running))
    }

    /// Writes the log and copies the agent's branch to the repository until the agent has ended.
    fn follow(
        &self,
        running: Running,
        confines: Confines,
        log: &mut LogFile,
        note: &StopNote,
    ) -> Result<Outcome, WaitError> {
        let (repository, observer) = (&self.runner.repository, self.shared.observer);
        let (name, start) = (&self.agent.definition.name, &self.shared.plan.base.commit);
        let Confines { own, head_log, .. } = confines;
        let follower = own.map(|own| {
            let import = ObjectImport::new(repository, own.objects, start);
            let branches = own.branches.while_in(own.git_folder.path());
            BranchFollower::new(name.clone(), branches, import, repository, head_log, observer, start)
        });
        let mut streams = [LogStream::new(), LogStream::new()];
        let packed_refs = repository.common_folder.join("packed-refs.lock");
        let untidied = format!("error: Unable to create '{}': ", packed_refs.display());
        let is_confined = self.agent.definition.is_confined;
        let mut take = |line: &str| {
            // Some commits make git tidy up the packed references, which a confined agent may not do. The commit itself
            // succeeds, so the line would be misleading.
            if is_confined && line.starts_with(&untidied) {
                return;
            }
            log.add(line);
            observer.event(&RunEvent::Log { agent: name.clone(), line: LogLine::parse(line) });
        };
        let waited = std::thread::scope(|scope| {
            let (is_running, until) = mpsc::channel::<()>();
            if let Some(follower) = follower {
                scope.spawn(move || follower.follow(&until));
            }
            let mut output = |stream: OutputStream, bytes: &[u8]| {
                let stream = match stream {
                    OutputStream::Stdout => &mut streams[0],
                    OutputStream::Stderr => &mut streams[1],
                };
                stream.push(bytes, &mut take);
            };
            let waited = running.wait_with(&mut output, None);
            // The last check may be slow, and no deadline applies to it.
            note.close();
            // Ends the follower, which checks once more.
            drop(is_running);
            waited
        });
        for stream in streams {
            stream.finish(&mut take);
        }
        waited
    }
}
