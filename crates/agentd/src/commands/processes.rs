//! `agentd processes`: the background processes of all clients and sessions of the workspace, and the end of one.

use local_workspace::ProcessStatus;
use workspace_host::{ListProcesses, SharedSessions, StopListedProcess, WorkspacePaths};

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::progress::one_line;

/// Lists the processes, or ends those with a name.
pub(crate) fn processes(common: &CommonOptions, console: Console, stop: Option<&str>) -> Outcome {
    if common.read_only && stop.is_some() {
        return Err(Failure::new(Exit::Refused, "--read-only refuses to end what runs"));
    }
    let paths = WorkspacePaths::find(&common.host())?;
    if !paths.has_sessions() {
        return nothing(console, stop);
    }
    let cancel = cancel_flag()?;
    let sessions = SharedSessions::open(&common.host(), paths, &console.shared(), false)?;
    let all = sessions.call(&ListProcesses, &cancel)?;
    let Some(name) = stop else {
        list(console, &all);
        return Ok(Exit::Done);
    };
    let named: Vec<_> = all.iter().filter(|process| process.is_running && process.name == name).collect();
    if named.is_empty() {
        return nothing(console, stop);
    }
    for process in named {
        let request =
            StopListedProcess { conversation: process.conversation.clone(), name: process.name.clone() };
        let stopped = sessions.call(&request, &cancel)?;
        if console.json {
            console.json_result(&stopped);
        } else {
            let ending = stopped.exit_code.map_or("killed".to_owned(), |code| format!("exit code {code}"));
            console.result(&format!("stopped {name} of {}: {ending}", one_line(&process.conversation.0)));
        }
    }
    Ok(Exit::Done)
}

fn nothing(console: Console, stop: Option<&str>) -> Outcome {
    match stop {
        Some(name) => Err(Failure::new(Exit::Failed, format!("no background process '{name}' runs here"))
            .advise("`agentd processes` lists those that do")),
        None => {
            list(console, &[]);
            Ok(Exit::Done)
        }
    }
}

fn list(console: Console, processes: &[ProcessStatus]) {
    if console.json {
        console.json_result(&processes);
        return;
    }
    if processes.is_empty() {
        console.notice("no background process runs here");
    }
    for process in processes {
        let ProcessStatus { conversation, name, command, is_running, output_bytes } = process;
        let state = if *is_running { "runs" } else { "ended" };
        let (conversation, command) = (one_line(&conversation.0), one_line(command));
        console.result(&format!("{name:<12} {state:<5} {output_bytes:>9} bytes  {conversation}  {command}"));
    }
}
