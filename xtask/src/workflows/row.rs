//! One row of the matrix: a workflow, run plainly and confined.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use tempfile::TempDir;

use super::account::Account;
use super::confined_shell::{Agentd, ConfinedShell};
use super::plain_shell::PlainShell;
use super::shell::Shell;
use super::step_result::StepResult;
use super::workflow::{Workflow, WorkflowStep};
use crate::TaskError;

/// The time after which a row is measured no further.
const LONG_ROW: Duration = Duration::from_secs(60);

/// The result of one way of running a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Every step is as expected.
    Green,
    /// A step is refused by design, in the expected way.
    Refused,
    /// A step fails without confinement, too, for want of a service on this machine.
    FailsToo,
    /// A step has another result, as described.
    Red(String),
}

/// The results of a workflow.
pub(super) struct Row {
    /// The result without confinement.
    pub(super) plain: Verdict,
    /// The result in full confinement.
    pub(super) confined: Verdict,
    /// The same as an ordinary user, if it was tried.
    pub(super) ordinary: Option<Verdict>,
    /// The shortest run after the first one, plain and confined; `None` if one of them is red.
    pub(super) times: Option<(Duration, Duration)>,
    /// The receipts of the confined runs, each once.
    pub(super) receipts: Vec<String>,
}

impl Row {
    /// Returns whether a result is not as expected.
    pub(super) fn is_red(&self) -> bool {
        let verdicts = [Some(&self.plain), Some(&self.confined), self.ordinary.as_ref()];
        verdicts.into_iter().flatten().any(|verdict| matches!(verdict, Verdict::Red(_)))
    }
}

/// The machine that workflows run on.
pub(super) struct Bench {
    /// The program under test.
    pub(super) agentd: Agentd,
    /// The folders of installed tools.
    pub(super) tools: Vec<PathBuf>,
    /// The number of measured runs, after a first one that is not measured.
    pub(super) rounds: u32,
    /// The process may run programs as other users.
    pub(super) can_switch_user: bool,
}

impl Bench {
    /// Runs a workflow in all ways.
    ///
    /// # Errors
    ///
    /// If folders cannot be made, or programs not started. A workflow that fails is a row.
    pub(super) fn row(&self, workflow: &Workflow) -> Result<Row, TaskError> {
        let fixture = Fixture::new().map_err(unwritable)?;
        let ordinary = if self.can_switch_user { Some(self.ordinary(&fixture)?) } else { None };
        let own = || (Account::own(&self.tools), self.agentd.clone());
        let (account, agentd) = ordinary.clone().filter(|_| workflow.only_ordinary_user).unwrap_or_else(own);
        let mut row = Row {
            plain: Verdict::Green,
            confined: Verdict::Green,
            ordinary: None,
            times: None,
            receipts: Vec::new(),
        };
        let plain = fixture.folder("p", workflow, &account)?;
        let confined = fixture.folder("c", workflow, &account)?;
        let (plain, confined) = match (plain, confined) {
            (Ok(plain), Ok(confined)) => (plain, confined),
            (Err(why), _) | (_, Err(why)) => {
                row.plain = Verdict::Red(why);
                row.confined = Verdict::Red("not prepared".to_owned());
                return Ok(row);
            }
        };
        let mut plain_shell = PlainShell::new(account.clone(), &plain.path);
        let mut confined_shell = ConfinedShell::start(&agentd, &account, &confined.path, &workflow.network)?;
        let mut times: Option<(Duration, Duration)> = None;
        let start = Instant::now();
        for round in 0..=self.rounds {
            if round > 1 && start.elapsed() > LONG_ROW {
                break;
            }
            if round > 0 {
                plain.reset(workflow, &account)?;
                confined.reset(workflow, &account)?;
            }
            let outside = Round { workflow, folder: &plain, is_confined: false }.run(&mut plain_shell)?;
            let inside = Round { workflow, folder: &confined, is_confined: true }.run(&mut confined_shell)?;
            row.receipts.extend(inside.receipts);
            row.plain = outside.verdict;
            row.confined = inside.verdict;
            let is_red = [&row.plain, &row.confined].iter().any(|verdict| matches!(verdict, Verdict::Red(_)));
            if is_red {
                times = None;
                break;
            }
            if round > 0 {
                let (least_outside, least_inside) = times.unwrap_or((Duration::MAX, Duration::MAX));
                times = Some((least_outside.min(outside.duration), least_inside.min(inside.duration)));
            }
        }
        row.times = times;
        row.receipts.sort();
        row.receipts.dedup();
        if let Some((account, agentd)) =
            ordinary.filter(|_| workflow.ordinary_user && !workflow.only_ordinary_user)
        {
            row.ordinary = Some(confined_verdict(workflow, &fixture, &account, &agentd)?);
        }
        Ok(row)
    }

    /// Makes an ordinary user with a home, and with a state folder in it.
    fn ordinary(&self, fixture: &Fixture) -> Result<(Account, Agentd), TaskError> {
        let home = fixture.directory.path().join("h");
        let state = home.join("state");
        fs::create_dir_all(&state).map_err(unwritable)?;
        let account = Account::ordinary(&home, &self.tools);
        account.own_folder(&home).map_err(unwritable)?;
        Ok((account, Agentd { state, ..self.agentd.clone() }))
    }
}

/// Runs a workflow once, confined.
fn confined_verdict(
    workflow: &Workflow,
    fixture: &Fixture,
    account: &Account,
    agentd: &Agentd,
) -> Result<Verdict, TaskError> {
    let folder = match fixture.folder("u", workflow, account)? {
        Ok(folder) => folder,
        Err(why) => return Ok(Verdict::Red(why)),
    };
    let mut shell = ConfinedShell::start(agentd, account, &folder.path, &workflow.network)?;
    Ok(Round { workflow, folder: &folder, is_confined: true }.run(&mut shell)?.verdict)
}

/// The temporary folder of one row.
struct Fixture {
    directory: TempDir,
}

impl Fixture {
    /// The name is short, because the path of a Unix socket has at most 107 bytes.
    fn new() -> io::Result<Fixture> {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::Builder::new().prefix("wf").tempdir()?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
        Ok(Fixture { directory })
    }

    /// Makes a copy of the workflow's folder. The inner error is the reason for which its preparation failed.
    fn folder(
        &self,
        name: &str,
        workflow: &Workflow,
        account: &Account,
    ) -> Result<Result<PreparedFolder, String>, TaskError> {
        let path = self.directory.path().join(name);
        let outside = self.directory.path().join(format!("{name}-outside"));
        let port = free_port().map_err(unwritable)?;
        let beside = PlainShell::new(account.clone(), &path);
        let mut folder = PreparedFolder { path, outside, port, beside };
        folder.write_files(workflow).map_err(unwritable)?;
        account
            .own_folder(&folder.path)
            .and_then(|()| account.own_folder(&folder.outside))
            .map_err(unwritable)?;
        if let Err(error) = folder.run_all(&workflow.prepare, account) {
            return Ok(Err(format!("preparation: {error}")));
        }
        if let Some(beside) = &workflow.beside {
            let text = folder.filled(&beside.run);
            let result = folder.beside.run(beside, &text)?;
            if let Some(why) = result.plain_fault(beside) {
                return Ok(Err(format!("the program beside it: {why}")));
            }
        }
        Ok(Ok(folder))
    }
}

/// A folder in which a workflow can run.
struct PreparedFolder {
    path: PathBuf,
    /// The folder that stands for the rest of the machine.
    outside: PathBuf,
    port: u16,
    /// Runs the program beside the workflow, until this folder is dropped.
    beside: PlainShell,
}

impl PreparedFolder {
    fn write_files(&self, workflow: &Workflow) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        fs::create_dir_all(&self.outside)?;
        for (path, text) in &workflow.files {
            let file = self.path.join(path);
            fs::create_dir_all(file.parent().unwrap_or(&self.path))?;
            fs::write(file, self.filled(text))?;
        }
        Ok(())
    }

    fn reset(&self, workflow: &Workflow, account: &Account) -> Result<(), TaskError> {
        self.run_all(&workflow.reset, account)
    }

    fn run_all(&self, commands: &[String], account: &Account) -> Result<(), TaskError> {
        let shell = PlainShell::new(account.clone(), &self.path);
        commands.iter().try_for_each(|command| shell.prepare(&self.filled(command)))
    }

    /// Returns a text with its placeholders filled in.
    fn filled(&self, text: &str) -> String {
        let outside = self.outside.to_string_lossy();
        text.replace("{outside}", &outside).replace("{port}", &self.port.to_string())
    }
}

/// One run of all steps.
struct Round<'a> {
    workflow: &'a Workflow,
    folder: &'a PreparedFolder,
    is_confined: bool,
}

struct RoundResult {
    verdict: Verdict,
    duration: Duration,
    receipts: Vec<String>,
}

impl Round<'_> {
    fn run(&self, shell: &mut dyn Shell) -> Result<RoundResult, TaskError> {
        let mut total =
            RoundResult { verdict: Verdict::Green, duration: Duration::ZERO, receipts: Vec::new() };
        for step in &self.workflow.steps {
            let result = shell.run(step, &self.folder.filled(&step.run))?;
            total.duration += result.duration;
            total.receipts.extend(result.receipts.iter().cloned());
            if let Some(why) = self.fault(step, &result) {
                println!("-- `{}`:\n{}", step.run, result.output);
                total.verdict = Verdict::Red(format!("`{}`: {why}", step.run));
                break;
            }
            match (&step.refused, self.is_confined) {
                (Some(_), true) => total.verdict = Verdict::Refused,
                (Some(_), false) if result.exit_code != Some(0) => total.verdict = Verdict::FailsToo,
                _ => {}
            }
        }
        shell.stop_background()?;
        if !matches!(total.verdict, Verdict::Red(_))
            && let Some(why) = self.files_fault(shell.folder())
        {
            total.verdict = Verdict::Red(why);
        }
        Ok(total)
    }

    fn fault(&self, step: &WorkflowStep, result: &StepResult) -> Option<String> {
        if self.is_confined { result.confined_fault(step) } else { result.plain_fault(step) }
    }

    /// Returns the reason for which the folder is not as expected: what a confined run has made must be adopted.
    fn files_fault(&self, folder: &Path) -> Option<String> {
        let is_there = |path: &&String| folder.join(path).symlink_metadata().is_ok();
        let missing = self.workflow.exists.iter().find(|path| !is_there(path));
        let left = self.workflow.absent.iter().find(is_there);
        missing
            .map(|path| format!("{path} does not exist afterwards"))
            .or_else(|| left.map(|path| format!("{path} still exists afterwards")))
    }
}

/// Returns a port that no process listens at.
fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn unwritable(source: io::Error) -> TaskError {
    TaskError::Unwritable { path: std::env::temp_dir(), source }
}
