//! `agentd demo`: a complete session, unattended, on a throw-away copy of a sample project.

mod codali;
mod unattended;

use std::fs;
use std::io;
use std::path::Path;

use change_journal::RunNumber;
use clap::Args;
use local_workspace::Undo;
use tag_session::{Applied, ApplyOptions};
use tagproto::{Dialect, Session};
use wap_core::{
    Call, CancelFlag, ConversationId, ExecuteCommand, Origin, Reason, Retention, RunKey, Unobserved,
    Workspace,
};
use workspace_host::homes::HomeUse;
use workspace_host::last_change;
use workspace_host::session_failure::explain;
use workspace_host::state;
use workspace_host::{LocalSessions, WorkspacePaths, undo_lines};

use crate::commands::history::undo;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::progress::{Progress, result_lines};

macro_rules! demo_file {
    ($path:literal) => {
        include_str!(concat!("../../demo/", $path))
    };
}

/// The sample project: a function in a shell script, and tests, some of which fail.
const PROJECT: [(&str, &str); 3] = [
    ("README.md", demo_file!("roman/README.md")),
    ("roman.sh", demo_file!("roman/roman.sh")),
    ("test.sh", demo_file!("roman/test.sh")),
];

const TASK: &str = "Make the tests of this project pass.";

/// The answers of a model; `{reply-to}` stands for the token of the message.
const REPLIES: [&str; 4] = [
    demo_file!("session/reply-1.txt"),
    demo_file!("session/reply-2.txt"),
    demo_file!("session/reply-3.txt"),
    demo_file!("session/reply-4.txt"),
];

#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Show a flow of agents instead: an architect plans, a builder edits, a critic judges.
    #[arg(long)]
    pub codali: bool,
    /// Show a session whose replies come from a program instead of a person.
    #[arg(long = "loop", conflicts_with = "codali")]
    pub unattended: bool,
}

/// Runs the demonstration and says how it ended.
pub(crate) fn demo(common: &CommonOptions, console: Console, options: &DemoOptions) -> Outcome {
    if options.codali {
        return codali::demo(common, console);
    }
    if options.unattended {
        return unattended::demo(common, console);
    }
    let cancel = cancel_flag()?;
    let folder = tempfile::Builder::new().prefix("agentd-demo-").tempdir().map_err(|error| failed(&error))?;
    let project = folder.path().join("project");
    fs::create_dir(&project).map_err(|error| failed(&error))?;
    for (name, content) in PROJECT {
        fs::write(project.join(name), content).map_err(|error| failed(&error))?;
    }
    let common = CommonOptions {
        workspace: project,
        base: Some(folder.path().join("state")),
        // The folder is gone afterwards, and a home for it would stay.
        home: HomeUse::Fresh,
        read_only: false,
        ..common.clone()
    };
    let sessions = state::open(&common.host(), &WorkspacePaths::find(&common.host())?, &console.shared())?;
    play(&common, console, &sessions, &cancel)
}

/// Writes files into a folder, which may exist.
fn write_files(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
}

fn play(common: &CommonOptions, console: Console, sessions: &LocalSessions, cancel: &CancelFlag) -> Outcome {
    say(
        console,
        "agentd demo: a language model works on a project through a chat window, here with scripted replies.",
    );
    let report = sessions.workspace().inner().sandbox_line();
    say(console, &report.unwrap_or_else(|error| error.to_string()));
    title(console, "the project before");
    say(console, &run_tests(sessions, cancel)?.1);
    let mut session = sessions.create(TASK, Dialect::Agentd, None, cancel).map_err(explain)?;
    for script in REPLIES {
        let number = session.sequence_number;
        title(console, &format!("message {number}: what you copy into the chat"));
        say(
            console,
            &shortened(&sessions.outbox(&session).map_err(explain)?.unwrap_or_default(), number > 1),
        );
        let reply = script.replace("{reply-to}", &session.reply_to().to_string());
        title(console, &format!("reply {number}: what you paste back"));
        say(console, &reply);
        title(console, &format!("reply {number} is executed"));
        session = execute(common, console, sessions, &session, &reply, cancel)?;
    }
    title(console, "the same reply once more");
    let last = REPLIES[REPLIES.len() - 1].replace("{reply-to}", &session.reply_to().to_string());
    execute(common, console, sessions, &session, &last, cancel)?;
    title(console, "the project after");
    let (passes, output) = run_tests(sessions, cancel)?;
    say(console, &output);
    let fails_without = !undo_and_redo(console, sessions, cancel)?;
    title(console, "the project in the end");
    let (passes_again, output) = run_tests(sessions, cancel)?;
    say(console, &output);
    title(console, "verdict");
    if session.is_complete && passes && fails_without && passes_again {
        say(
            console,
            "The task is done and the tests pass. Try it on your own code: agentd new \"your task\"",
        );
        Ok(Exit::Done)
    } else {
        say(console, "The demonstration failed.");
        Ok(Exit::Failed)
    }
}

/// Reverts the last reply that has changed files, runs the tests, and reverts that undo. Returns true if the tests passed in
/// between.
fn undo_and_redo(console: Console, sessions: &LocalSessions, cancel: &CancelFlag) -> Result<bool, Failure> {
    title(console, "agentd undo --reply: the last reply that has changed files is reverted");
    let ignores = sessions.workspace().inner().git_ignores();
    let last = last_change::last(sessions.journal_reader(), ignores, true, &|_| false, sessions.rules())?;
    let revert = |what: &Undo| {
        let undone = undo::carry_out(sessions.workspace().inner(), what, cancel)
            .map_err(|error| last_change::explain(&error))?;
        undo_lines(&undone).iter().for_each(|line| say(console, line));
        Ok(undone.run)
    };
    let run = revert(&last)?;
    let (passes, output) = run_tests(sessions, cancel)?;
    say(console, &output);
    title(console, "and the undo is reverted, too");
    revert(&Undo::Run(RunNumber(run)))?;
    Ok(passes)
}

fn execute(
    common: &CommonOptions,
    console: Console,
    sessions: &LocalSessions,
    session: &Session,
    reply: &str,
    cancel: &CancelFlag,
) -> Result<Session, Failure> {
    let mut progress = Progress::new(console);
    let options = ApplyOptions::default();
    let applied =
        sessions.apply(session.session_id, reply, common.command_timeout(), options, cancel, &mut progress);
    match applied.map_err(explain)? {
        Applied::Executed(executed) => {
            for result in &executed.results {
                result_lines("", result).iter().for_each(|line| say(console, line));
            }
            Ok(executed.session)
        }
        Applied::AlreadyDone { .. } => {
            say(console, "It was executed before, so nothing is done: a reply runs once.");
            Ok(session.clone())
        }
    }
}

/// Runs the project's tests in the same confinement as the model's commands.
fn run_tests(sessions: &LocalSessions, cancel: &CancelFlag) -> Result<(bool, String), Failure> {
    let origin = Origin {
        conversation: ConversationId("demo".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel, time_left: None };
    let request = ExecuteCommand { command: "sh test.sh".to_owned(), ..ExecuteCommand::default() };
    let response =
        sessions.workspace().execute_command(&call, &request, &mut Unobserved).map_err(|error| {
            let exit = if error.reason() == Reason::Timeout { Exit::TimedOut } else { Exit::Failed };
            Failure::new(exit, format!("the tests cannot be run: {error}"))
        })?;
    let output =
        format!("$ sh test.sh\n{}{}(exit code {})", response.stdout, response.stderr, response.exit_code);
    Ok((response.exit_code == 0, output))
}

/// An outbox without the PROTOCOL section, if it was shown before.
fn shortened(outbox: &str, is_known: bool) -> String {
    let (start, end) = ("=== PROTOCOL ===\n", "=== CONTEXT ===\n");
    match (outbox.find(start), outbox.find(end)) {
        (Some(from), Some(to)) if is_known && from < to => {
            format!("{}(as in message 1)\n\n{}", &outbox[..from + start.len()], &outbox[to..])
        }
        _ => outbox.to_owned(),
    }
}

fn title(console: Console, text: &str) {
    say(console, &format!("\n──── {text} ────\n"));
}

fn say(console: Console, text: &str) {
    if !console.json {
        console.result(text);
    }
}

fn failed(error: &std::io::Error) -> Failure {
    let folder: &Path = &std::env::temp_dir();
    Failure::new(
        Exit::Failed,
        format!("the sample project cannot be written in {}: {error}", folder.display()),
    )
}
