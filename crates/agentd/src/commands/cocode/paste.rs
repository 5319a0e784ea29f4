//! The agent `paste`: a person with nothing but a chat window.
//!
//! The runner starts it like every other agent, as a process of this program: five variables in, commits out. It is a
//! session in the worktree, whose messages a person carries to a chat and back; what confines it is the runner's.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use cocode_env::{AgentContext, AgentName};
use cocode_runner::{AgentCommand, AgentDefinition};
use sandbox_exec::Level;
use serde::Serialize;
use tagproto::{Dialect, Session};
use wap_core::CancelFlag;

use super::cache_folders::CacheFolders;
use super::ground::told;
use crate::cli::Common;
use crate::commands::session::{cancel_flag, create, follow};
use crate::config::NO_FILE;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::{Console, Tone};
use workspace_host::SharedSessions;
use workspace_host::WorkspacePaths;
use workspace_host::confinement::SandboxChoice;

/// The agent's name, unless somebody has defined another one of that name.
pub(crate) const NAME: &str = "paste";

/// The most that an agent may have: a person has other things to do as well.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// How long a command of a reply may take. Nobody can be asked for more in between, and tests take their time.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// The session's state folder in the worktree's own git folder, where nothing can be committed and `git worktree remove`
/// takes it away.
const STATE_FOLDER: &str = "agentd-session";

/// How long the subject of a commit may be, in characters.
const SUBJECT_CHARACTERS: usize = 72;

/// What the model is told beside the issue.
const RULES: &str = "Change what this issue asks for. Do not commit: after DONE, everything is committed with your \
     summary as the message.";

/// Returns the agent's definition: this program, asked to be it.
pub(crate) fn definition(name: AgentName) -> Result<AgentDefinition, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(Exit::Missing, format!("the path of this program cannot be told: {error}"))
    })?;
    let program = program.into_os_string().into_string();
    let program =
        program.map_err(|_| Failure::new(Exit::Missing, "the path of this program is not valid UTF-8"))?;
    // Its settings are its own: what confines it is the runner's matter, and not that of a file.
    let arguments = ["cocode", "paste", "--config", NO_FILE].map(str::to_owned).to_vec();
    let command = AgentCommand::Program { program, arguments };
    Ok(AgentDefinition { command, timeout: Some(TIMEOUT), ..AgentDefinition::new(name) })
}

/// A line that a person must see.
#[derive(Serialize)]
struct Wanted<'a> {
    level: &'static str,
    message: &'a str,
    attention: bool,
    outbox: &'a Path,
    inbox: &'a Path,
}

/// Is the agent: a session until DONE, then a commit.
pub(crate) fn run(common: &Common, console: Console) -> Outcome {
    let context =
        AgentContext::from_variables(|variable| std::env::var_os(variable.name())).map_err(|error| {
            Failure::new(Exit::Usage, told(&error)).advise("`agentd cocode run --agent paste` starts it")
        })?;
    let task = task(&context)?;
    let repository = AgentRepository::find(context.repo_path())?;
    let common = Common {
        workspace: context.repo_path().clone(),
        base: Some(repository.git_folder.join(STATE_FOLDER)),
        // This process is confined already, and no namespaces can be made in there. Its commands are kept to the
        // worktree, so that none writes this session's own files.
        sandbox: Some(SandboxChoice::Allow(Level::Landlock)),
        readable: vec![repository.common_folder.clone(), repository.git_folder.clone()],
        timeout: Some(COMMAND_TIMEOUT),
        read_only: false,
        ..common.clone()
    };
    let cancel = cancel_flag()?;
    let sessions = SharedSessions::open(
        &common.host(),
        WorkspacePaths::find(&common.host())?,
        &console.shared(),
        false,
    )?;
    let session = create(&sessions, task, Dialect::default(), None, &cancel)?;
    announce(console, &sessions, &session);
    let followed = converse(&common, console, &sessions, &session, &cancel);
    let session = sessions.session(session.session_id)?;
    // The worktree is nobody's but ours from here on.
    drop(sessions);
    if cancel.is_cancelled() && !session.is_complete {
        repository.commit(console, &unfinished(&context))?;
        return Ok(Exit::Interrupted);
    }
    followed?;
    let failed = session.last_results.iter().filter(|result| !result.success).count();
    let message = match failed {
        0 => finished(&context, session.done.as_deref().unwrap_or_default()),
        _ => unfinished(&context),
    };
    let is_committed = repository.commit(console, &message)?;
    if is_committed && failed > 0 {
        console
            .progress("[WARN] blocks of the last reply failed, so the commit does not say that it is ready");
    }
    Ok(Exit::Done)
}

fn converse(
    common: &Common,
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
    cancel: &CancelFlag,
) -> Outcome {
    let announce = |sessions: &SharedSessions, session: &Session| announce(console, sessions, session);
    follow(common, console, sessions, session, cancel, &announce)
}

/// Says where the pending message is and where its reply goes, as a line of the agent's log.
fn announce(console: Console, sessions: &SharedSessions, session: &Session) {
    let outbox = sessions.folders().outbox_path(&session.outbox_file_name());
    let inbox = sessions.folders().inbox_path();
    let message = format!(
        "copy message {} from {} into the chat, and save its reply as a .txt file in {}",
        session.sequence_number,
        outbox.display(),
        inbox.display()
    );
    let line = Wanted { level: "info", message: &message, attention: true, outbox: &outbox, inbox: &inbox };
    // A path that is no text cannot be said in JSON.
    console.result(&serde_json::to_string(&line).unwrap_or(message));
}

/// What the session is about: the issue, as it is, and how it ends.
fn task(context: &AgentContext) -> Result<String, Failure> {
    let file = context.issue_body_file();
    let body = fs::read_to_string(file).map_err(|error| {
        Failure::new(Exit::Usage, format!("the issue's text {}: {error}", file.display()))
    })?;
    Ok(format!("Issue #{}: {}\n\n{}\n\n{RULES}", context.issue, context.issue_url, body.trim()))
}

/// The message of the commit that says that the work is done.
fn finished(context: &AgentContext, summary: &str) -> String {
    let summary = summary.trim();
    let (subject, body) = match summary.split_once('\n').unwrap_or((summary, "")) {
        (first, rest) if !first.is_empty() && first.chars().count() <= SUBJECT_CHARACTERS => {
            (first.to_owned(), rest.trim())
        }
        _ => (format!("Work on issue #{}", context.issue), summary),
    };
    // The issue stands between, so that the marker is no quote of it, whatever the summary ends with.
    let issue = format!("For issue #{} ({})", context.issue, context.issue_url);
    let parts = [subject.as_str(), body, &issue, context.marker.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The message of the commit of work that is not done.
fn unfinished(context: &AgentContext) -> String {
    format!("Unfinished work on issue #{}", context.issue)
}

/// The worktree and its git folders, as git itself tells them.
struct AgentRepository {
    worktree: PathBuf,
    git_folder: PathBuf,
    common_folder: PathBuf,
}

impl AgentRepository {
    fn find(worktree: &Path) -> Result<AgentRepository, Failure> {
        let arguments = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
        let (_, found) = git(worktree, &arguments, "")?;
        let (git_folder, common_folder) = found
            .split_once('\n')
            .ok_or_else(|| Failure::new(Exit::Failed, "git does not say where its folders are"))?;
        Ok(AgentRepository {
            worktree: worktree.to_owned(),
            git_folder: git_folder.into(),
            common_folder: common_folder.into(),
        })
    }

    /// Commits everything that has changed, but not new files that git would ignore or that are caches. Returns whether there was
    /// anything.
    fn commit(&self, console: Console, message: &str) -> Result<bool, Failure> {
        git(&self.worktree, &["add", "--update"], "")?;
        let (_, new) = git_bytes(&self.worktree, &["ls-files", "-z", "--others", "--exclude-standard"], b"")?;
        let new = new.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let caches = CacheFolders::of(&self.worktree);
        let (left_out, new): (Vec<_>, Vec<_>) =
            new.map(|path| Path::new(OsStr::from_bytes(path))).partition(|path| caches.hold(path));
        if !new.is_empty() {
            let paths: Vec<u8> = new
                .iter()
                .flat_map(|path| [b":(top,literal)", path.as_os_str().as_bytes(), b"\0"].concat())
                .collect();
            git_bytes(&self.worktree, &["add", "--pathspec-from-file=-", "--pathspec-file-nul"], &paths)?;
        }
        if let Some(first) = left_out.first() {
            let more = match left_out.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            console.progress(&format!("[INFO] not committed, as a cache: {}{more}", first.display()));
        }
        let (code, _) = git(&self.worktree, &["diff", "--cached", "--quiet"], "")?;
        if code == 0 {
            console.progress("[WARN] nothing has changed, so nothing is committed");
            return Ok(false);
        }
        let arguments = ["commit", "--quiet", "--cleanup=whitespace", "--file=-"];
        git(&self.worktree, &arguments, message)?;
        let subject = message.lines().next().unwrap_or_default();
        console.styled(Tone::Plain, &format!("[INFO] committed: {subject}"));
        Ok(true)
    }
}

/// Runs git and returns its exit code, 0 or 1, and what it printed, as text.
fn git(folder: &Path, arguments: &[&str], input: &str) -> Result<(i32, String), Failure> {
    let (code, output) = git_bytes(folder, arguments, input.as_bytes())?;
    Ok((code, String::from_utf8_lossy(&output).trim_end().to_owned()))
}

/// Runs git and returns its exit code, 0 or 1, and what it printed: names of files need not be text.
fn git_bytes(folder: &Path, arguments: &[&str], input: &[u8]) -> Result<(i32, Vec<u8>), Failure> {
    let failed = |error: &std::io::Error| Failure::new(Exit::Missing, format!("git: {error}"));
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let mut stdin = child.stdin.take().expect("it was asked for");
    // A git that fails may not read it all; it says why by itself.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    match output.status.code() {
        Some(0) => Ok((0, output.stdout)),
        // "No" where there is something to ask, and an error everywhere else.
        Some(1) if arguments[0] == "diff" => Ok((1, output.stdout)),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(Failure::new(Exit::Failed, format!("git {} failed: {errors}", arguments[0])))
        }
    }
}
