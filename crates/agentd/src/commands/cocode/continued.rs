//! Agents that continue a conversation: their start, and taking in their work.

use cocode_runner::{AgentRecord, ContinuedWork, RunRequest, Runner};
use serde::Serialize;
use web_ui::take_in;
use workspace_host::{DescribeWork, SecretRules, SharedSessions, SharedWorkspace, WorkspacePaths};

use super::failure::explain;
use super::show_remarks;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};
use crate::views::console::{Console, Tone};

/// The prefix of `--from` for a conversation. No branch can have a colon in its name.
const PREFIX: &str = "session:";

/// Returns the conversation that `--from` names, if it names one.
pub(crate) fn conversation(from: Option<&str>) -> Option<&str> {
    from?.strip_prefix(PREFIX)
}

/// Returns the text for agents that continue a conversation: what they are to do, and the work so far.
pub(crate) fn text(
    common: &CommonOptions,
    console: Console,
    conversation: &str,
    body: Option<&str>,
) -> Result<String, Failure> {
    let paths = WorkspacePaths::find(&common.host())?;
    if !paths.has_sessions() {
        let failure =
            Failure::new(Exit::Usage, format!("there is no work of a conversation '{conversation}'"));
        return Err(failure.advise("`agentd log` names the conversations that have done something"));
    }
    let sessions = SharedSessions::open(&common.host(), paths, &console.shared(), false)?;
    let call = DescribeWork { from: conversation.to_owned() };
    let work = sessions.call(&call, &cancel_flag()?)?;
    let task = body.unwrap_or("Continue the work that is described below, and finish it.");
    Ok(format!(
        "{}\n\n## Work So Far\n\nOthers have begun this work; its changes are in the files of your start commit.\n\n{}",
        task.trim_end(),
        work.text
    ))
}

/// Makes the state of the folder the start of the agents.
pub(crate) fn start_from_the_folder(
    common: &CommonOptions,
    runner: &Runner,
    request: &mut RunRequest,
) -> Result<(), Failure> {
    if let Some(conversation) = &request.continues {
        let title = format!("The files as agents found them that continue {conversation}");
        let rules = SecretRules::open(&common.host(), &WorkspacePaths::find(&common.host())?)?;
        // An uncommitted file of credentials is not for agents, and a commit would keep it.
        let leaves_out = |path: &str| rules.withheld.may_leave_out(path);
        request.base = Some(runner.snapshot(&title, &leaves_out).map_err(explain)?);
    }
    Ok(())
}

#[derive(Serialize)]
struct TakenIn<'a> {
    #[serde(flatten)]
    work: &'a ContinuedWork,
    /// True if the files were changed.
    done: bool,
    /// True if the files have all of the work.
    whole: bool,
    /// Remarks of the command that took in the work, such as about parts that are not kept.
    warnings: Vec<String>,
}

/// Takes in the work of an agent that has continued `conversation`, or says whether that would succeed.
pub(crate) fn pick(
    common: &CommonOptions,
    console: Console,
    runner: &Runner,
    (record, conversation): (&AgentRecord, &str),
    dry_run: bool,
) -> Result<Exit, Failure> {
    let work = runner.continued_work(record, conversation).map_err(explain)?;
    let done = !work.is_there && !dry_run;
    let (mut warnings, mut whole) = (Vec::new(), work.is_there);
    if done {
        let paths = WorkspacePaths::find(&common.host())?;
        let workspace = SharedWorkspace::new(&common.host(), &paths, &console.shared());
        workspace.open()?;
        warnings = take_in(&workspace, &work, &cancel_flag()?)
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        // The workspace holds back some of a command's changes.
        whole = runner.continued_work(record, conversation).is_ok_and(|work| work.is_there);
    }
    let exit = if done && !whole { Exit::Failed } else { Exit::Done };
    if console.json {
        console.json_result(&TakenIn { work: &work, done, whole, warnings });
        return Ok(exit);
    }
    let how = match (done, whole) {
        (false, true) => "is in the files already".to_owned(),
        (false, false) => "would be taken into the files, not committed".to_owned(),
        (true, true) => format!("has been taken into the files, not committed, as a run of {conversation}"),
        (true, false) => format!(
            "is in the files in part only, not committed, as a run of {conversation}; `agentd undo` reverts that"
        ),
    };
    console.result(&format!("{} {how}", work.branch));
    for warning in &warnings {
        console.styled(Tone::Bad, &format!("  {warning}"));
    }
    show_remarks(console, &work.to_review, (work.is_ready, work.is_checked));
    Ok(exit)
}
