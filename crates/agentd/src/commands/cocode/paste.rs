//! The agent `paste`: a person with nothing but a chat window.
//!
//! The runner starts it like every other agent, as a process of this program: five variables in, commits out. It is a
//! session in the worktree, whose messages a person carries to a chat and back; the runner confines it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cocode_env::{AgentContext, AgentName};
use cocode_runner::{
    AgentCommand, AgentDefinition, AgentGitError, AgentRepository, SESSION_FOLDER, finished_message,
    unfinished_message,
};
use sandbox_exec::Level;
use serde::Serialize;
use tagproto::{Dialect, Session};
use wap_core::CancelFlag;
use workspace_host::SharedSessions;
use workspace_host::WorkspacePaths;
use workspace_host::confinement::SandboxChoice;

use super::failure::error_chain;
use crate::commands::session::{NewTask, cancel_flag, create, follow};
use crate::common_options::CommonOptions;
use crate::config::NO_FILE;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::{Console, Tone};

/// The agent's name, unless the user has defined another one of that name.
pub(crate) const NAME: &str = "paste";

/// The most that an agent may have: a person has other things to do as well.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// The most time of a command of a reply. The user cannot extend it during the run, and tests can be slow.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// The session's state folder in the worktree's own git folder, where nothing can be committed and `git worktree remove`
/// takes it away. It is the one folder in there that the user sees while the agent runs.
const STATE_FOLDER: &str = SESSION_FOLDER;

/// The instructions for the model in addition to the issue.
const RULES: &str = "Change what this issue asks for. Do not commit: after DONE, everything is committed with your \
     summary as the message.";

/// Returns the agent's definition: this program, asked to be it.
pub(crate) fn definition(name: AgentName) -> Result<AgentDefinition, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(Exit::Missing, format!("cannot determine the path of this program: {error}"))
    })?;
    let program = program.into_os_string().into_string();
    let program =
        program.map_err(|_| Failure::new(Exit::Missing, "the path of this program is not valid UTF-8"))?;
    // It reads no configuration file: the runner decides how it is confined.
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
pub(crate) fn run(common: &CommonOptions, console: Console) -> Outcome {
    let context =
        AgentContext::from_variables(|variable| std::env::var_os(variable.name())).map_err(|error| {
            Failure::new(Exit::Usage, error_chain(&error))
                .advise("`agentd cocode run --agent paste` starts it")
        })?;
    let task = task(&context)?;
    let repository = AgentRepository::find(context.repo_path()).map_err(git_failure)?;
    let common = CommonOptions {
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
    let new = NewTask {
        task,
        dialect: Dialect::default(),
        budget: None,
        paste_characters: None,
        read_files: Vec::new(),
        from: None,
    };
    let session = create(&common, console, &sessions, new, &cancel)?;
    announce(console, &sessions, &session);
    let followed = converse(&common, console, &sessions, &session, &cancel);
    let session = sessions.session(session.session_id)?;
    // The worktree belongs to this process alone from here on.
    drop(sessions);
    if cancel.is_cancelled() && !session.is_complete {
        commit(console, &repository, &unfinished_message(&context))?;
        return Ok(Exit::Interrupted);
    }
    followed?;
    let failed = session.last_results.iter().filter(|result| !result.success).count();
    let message = match failed {
        0 => finished_message(&context, session.done.as_deref().unwrap_or_default()),
        _ => unfinished_message(&context),
    };
    let is_committed = commit(console, &repository, &message)?;
    if is_committed && failed > 0 {
        console
            .progress("[WARN] blocks of the last reply failed, so the commit does not say that it is ready");
    }
    Ok(Exit::Done)
}

fn converse(
    common: &CommonOptions,
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
    // JSON cannot hold a path that is not text.
    console.result(&serde_json::to_string(&line).unwrap_or(message));
}

/// Returns the task of the session: the issue as it is, and how to finish.
fn task(context: &AgentContext) -> Result<String, Failure> {
    let file = context.issue_body_file();
    let body = fs::read_to_string(file).map_err(|error| {
        Failure::new(Exit::Usage, format!("the issue's text {}: {error}", file.display()))
    })?;
    Ok(format!("Issue #{}: {}\n\n{}\n\n{RULES}", context.issue, context.issue_url, body.trim()))
}

/// Commits everything, and says so as lines of the agent's log. Returns true if there was anything.
fn commit(console: Console, repository: &AgentRepository, message: &str) -> Result<bool, Failure> {
    let work = repository.commit_all(message).map_err(git_failure)?;
    if let Some(first) = work.left_out.first() {
        let more = match work.left_out.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        console.progress(&format!("[INFO] not committed, as a cache: {}{more}", first.display()));
    }
    if !work.is_committed {
        console.progress("[WARN] nothing has changed, so nothing is committed");
        return Ok(false);
    }
    let subject = message.lines().next().unwrap_or_default();
    console.styled(Tone::Plain, &format!("[INFO] committed: {subject}"));
    Ok(true)
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn git_failure(error: AgentGitError) -> Failure {
    let exit = if matches!(error, AgentGitError::NotStarted(_)) { Exit::Missing } else { Exit::Failed };
    Failure::new(exit, error.to_string())
}
