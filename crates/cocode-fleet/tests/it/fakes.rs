//! A journal with a judge, and an executor, that do what a test says and report what was asked of them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cocode_fleet::{
    Claim, ClaimedState, Confinement, Delivered, EventSink, ExecuteError, HostName, HostOffer, JudgeError,
    Notice, ResultJudge, StopSignal, SubmittedTask, Task, TaskExecutor, TaskName, TaskOutcome,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Something that home reported.
#[derive(Debug)]
pub(crate) enum Report {
    Notice(TaskName, Notice),
    Lines(TaskName, HostName, Vec<String>, u64),
    Judged { name: TaskName, host: HostName, epoch: u64, claim: Claim, bundle: Option<Vec<u8>> },
    Ended(TaskName, Notice),
    Connection(Option<String>),
}

type Verdict = Box<dyn Fn(&Delivered) -> Result<(), JudgeError> + Send + Sync>;

/// The journal and the judge.
pub(crate) struct FakeJudge {
    journal: Mutex<HashMap<TaskName, SubmittedTask>>,
    epochs: Mutex<HashMap<TaskName, u64>>,
    verdict: Verdict,
    sender: UnboundedSender<Report>,
}

/// The reports of a judge, in order.
pub(crate) struct Reports(UnboundedReceiver<Report>);

impl FakeJudge {
    pub(crate) fn new() -> (Arc<FakeJudge>, Reports) {
        FakeJudge::with_verdict(|_| Ok(()))
    }

    pub(crate) fn with_verdict(
        verdict: impl Fn(&Delivered) -> Result<(), JudgeError> + Send + Sync + 'static,
    ) -> (Arc<FakeJudge>, Reports) {
        let (sender, receiver) = unbounded_channel();
        let judge = FakeJudge {
            journal: Mutex::default(),
            epochs: Mutex::default(),
            verdict: Box::new(verdict),
            sender,
        };
        (Arc::new(judge), Reports(receiver))
    }

    pub(crate) fn add(&self, submitted: SubmittedTask) {
        self.journal.lock().unwrap().insert(submitted.task.name.clone(), submitted);
    }

    pub(crate) fn unresolved_count(&self) -> usize {
        self.journal.lock().unwrap().len()
    }

    fn send(&self, report: Report) {
        // The test may have seen enough.
        let _ = self.sender.send(report);
    }
}

impl ResultJudge for FakeJudge {
    fn unresolved(&self) -> Result<Vec<TaskName>, JudgeError> {
        Ok(self.journal.lock().unwrap().keys().cloned().collect())
    }

    fn task(&self, name: &TaskName) -> Result<SubmittedTask, JudgeError> {
        let journal = self.journal.lock().unwrap();
        journal.get(name).cloned().ok_or_else(|| JudgeError::Failed(format!("{name} is not in the journal")))
    }

    fn last_epoch(&self, name: &TaskName) -> Result<u64, JudgeError> {
        Ok(self.epochs.lock().unwrap().get(name).copied().unwrap_or(0))
    }

    fn notice(&self, name: &TaskName, notice: &Notice) {
        if let Notice::Running { epoch, .. } | Notice::PublishedAgain { epoch } = notice {
            let mut epochs = self.epochs.lock().unwrap();
            let last = epochs.entry(name.clone()).or_default();
            *last = (*last).max(*epoch);
        }
        self.send(Report::Notice(name.clone(), notice.clone()));
    }

    fn log_lines(&self, name: &TaskName, host: &HostName, lines: &[String], left_out: u64) {
        self.send(Report::Lines(name.clone(), host.clone(), lines.to_vec(), left_out));
    }

    fn judge(&self, delivery: &Delivered) -> Result<(), JudgeError> {
        (self.verdict)(delivery)?;
        self.journal.lock().unwrap().remove(&delivery.task.name);
        self.send(Report::Judged {
            name: delivery.task.name.clone(),
            host: delivery.host.clone(),
            epoch: delivery.epoch,
            claim: delivery.claim.clone(),
            bundle: delivery.bundle.as_ref().map(|path| std::fs::read(path).unwrap()),
        });
        Ok(())
    }

    fn ended(&self, name: &TaskName, end: &Notice) -> Result<(), JudgeError> {
        self.journal.lock().unwrap().remove(name);
        self.send(Report::Ended(name.clone(), end.clone()));
        Ok(())
    }

    fn connection_changed(&self, problem: Option<&str>) {
        self.send(Report::Connection(problem.map(str::to_owned)));
    }
}

impl Reports {
    /// Waits for a report that `pick` takes something from. Others before it are dropped, and shown if it does not come.
    pub(crate) async fn wait<T>(&mut self, mut pick: impl FnMut(&Report) -> Option<T>) -> T {
        let mut dropped = Vec::new();
        let waiting = async {
            loop {
                let report = self.0.recv().await.expect("the judge is there");
                if let Some(value) = pick(&report) {
                    return value;
                }
                dropped.push(report);
            }
        };
        let value = tokio::time::timeout(Duration::from_secs(60), waiting).await;
        value.unwrap_or_else(|_| panic!("the report did not come; there were {dropped:#?}"))
    }

    /// Waits until a task is judged; returns the lines of agents until then, and the number of those that were left out.
    pub(crate) async fn lines(&mut self) -> (Vec<String>, u64) {
        let (mut lines, mut left_out) = (Vec::new(), 0);
        self.wait(|report| match report {
            Report::Lines(_, _, more, without) => {
                left_out += without;
                lines.extend(more.clone());
                None
            }
            Report::Judged { .. } => Some(()),
            _ => None,
        })
        .await;
        (lines, left_out)
    }

    /// Waits until a task is judged; returns the host, the epoch and the bundle.
    pub(crate) async fn judged(&mut self, task: &TaskName) -> (HostName, u64, Option<Vec<u8>>) {
        self.wait(|report| match report {
            Report::Judged { name, host, epoch, bundle, .. } if name == task => {
                Some((host.clone(), *epoch, bundle.clone()))
            }
            _ => None,
        })
        .await
    }

    /// Waits for a notice about a task.
    pub(crate) async fn notice<T>(
        &mut self,
        task: &TaskName,
        mut pick: impl FnMut(&Notice) -> Option<T>,
    ) -> T {
        self.wait(|report| match report {
            Report::Notice(name, notice) | Report::Ended(name, notice) if name == task => pick(notice),
            _ => None,
        })
        .await
    }

    /// Returns what has been reported and not been waited for.
    pub(crate) fn rest(&mut self) -> Vec<Report> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }
}

type Script = Box<
    dyn Fn(&Task, &StopSignal, &mut dyn EventSink, &Path) -> Result<TaskOutcome, ExecuteError> + Send + Sync,
>;

/// An executor that follows a script.
pub(crate) struct FakeExecutor {
    pub(crate) offer: Mutex<HostOffer>,
    pub(crate) bases: Mutex<HashSet<String>>,
    script: Script,
}

impl FakeExecutor {
    /// Returns an executor of two slots that has the definition `fixer`.
    pub(crate) fn new(
        script: impl Fn(&Task, &StopSignal, &mut dyn EventSink, &Path) -> Result<TaskOutcome, ExecuteError>
        + Send
        + Sync
        + 'static,
    ) -> Arc<FakeExecutor> {
        let offer = HostOffer {
            slots: 2,
            labels: Vec::new(),
            confinement: Confinement::Full,
            agents: vec!["fixer".parse().unwrap()],
            free_disk_bytes: 1 << 40,
            least_free_disk_bytes: 1 << 30,
        };
        Arc::new(FakeExecutor { offer: Mutex::new(offer), bases: Mutex::default(), script: Box::new(script) })
    }

    /// Returns one whose agents print a line and deliver a bundle with `content`.
    pub(crate) fn ready(content: &str) -> Arc<FakeExecutor> {
        let content = content.to_owned();
        FakeExecutor::new(move |task, _, events, result| {
            events.log_line(&format!("working on issue {}", task.issue_number));
            std::fs::write(result, &content).unwrap();
            Ok(ready())
        })
    }
}

impl TaskExecutor for FakeExecutor {
    fn offers(&self) -> HostOffer {
        self.offer.lock().unwrap().clone()
    }

    fn has_base(&self, commit: &str) -> bool {
        self.bases.lock().unwrap().contains(commit)
    }

    fn add_base(&self, bundle: &Path, tip: &str) -> Result<(), ExecuteError> {
        let text = std::fs::read_to_string(bundle).unwrap();
        if !text.starts_with(tip) {
            return Err(ExecuteError::BaseUnusable(format!("the bundle does not lead to {tip}")));
        }
        self.bases.lock().unwrap().insert(tip.to_owned());
        Ok(())
    }

    fn execute(
        &self,
        task: &Task,
        stop: &StopSignal,
        events: &mut dyn EventSink,
        result_file: &Path,
    ) -> Result<TaskOutcome, ExecuteError> {
        (self.script)(task, stop, events, result_file)
    }
}

/// The outcome of an agent that is ready and has left a bundle.
pub(crate) fn ready() -> TaskOutcome {
    TaskOutcome {
        state: ClaimedState::Ready,
        exit_code: Some(0),
        is_clean: None,
        head: Some("b".repeat(40)),
        has_bundle: true,
        detail: String::new(),
    }
}

/// Returns the file of a bundle with a tip.
pub(crate) fn bundle_file(folder: &Path, tip: &str, filling: usize) -> PathBuf {
    let path = folder.join(format!("bundle-{tip}"));
    std::fs::write(&path, format!("{tip}\n{}", "x".repeat(filling))).unwrap();
    path
}
