//! `agentd demo --codali`: a flow of agents, unattended, on a throw-away copy of a sample project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use codali_session::FlowFolders;
use workspace_host::homes::HomeUse;

use super::{PROJECT, TASK, failed, say, title, write_files};
use crate::commands::codali::options::{AgentOptions, FlowOptions, LimitOptions, SourceOptions};
use crate::commands::codali::run;
use crate::commands::review::options::ReviewPolicyOption;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Outcome};
use crate::views::console::Console;

macro_rules! replies {
    ($($name:literal)+) => {
        [$(($name, include_str!(concat!("../../../demo/flow/", $name, ".txt")))),+]
    };
}

/// The replies of the agents, by role and call.
const REPLIES: [(&str, &str); 10] = replies!(
    "architect-1" "architect-2" "architect-3" "architect-4" "builder-1" "builder-2" "builder-3"
    "critic-1" "critic-2" "critic-3"
);

/// The program that stands for a model: it gives the next reply of the role that it is called in.
const AGENT: &str = "cat > /dev/null\n\
    number=1\n\
    while [ -e \"$CODALI_ROLE-$number.given\" ]; do number=$((number + 1)); done\n\
    cat \"$CODALI_ROLE-$number\" && : > \"$CODALI_ROLE-$number.given\"\n";

/// The command that has to succeed.
const TEST: &str = "sh test.sh";

/// The lines of a step that are shown.
const SHOWN_LINES: usize = 24;

/// Runs the demonstration and says how it ended.
pub(super) fn demo(common: &CommonOptions, console: Console) -> Outcome {
    let folder = tempfile::Builder::new().prefix("agentd-demo-").tempdir().map_err(|error| failed(&error))?;
    let (project, agents) = (folder.path().join("project"), folder.path().join("agents"));
    write_files(&project, &PROJECT).map_err(|error| failed(&error))?;
    write_files(&agents, &REPLIES).map_err(|error| failed(&error))?;
    write_files(&agents, &[("agent.sh", AGENT)]).map_err(|error| failed(&error))?;
    let base = folder.path().join("state");
    let common = CommonOptions {
        workspace: project,
        base: Some(base.clone()),
        // The folder is gone afterwards, and a home for it would stay.
        home: HomeUse::Fresh,
        read_only: false,
        ..common.clone()
    };
    say(
        console,
        "agentd demo --codali: an architect plans, a builder edits, a critic judges, here with scripted replies.",
    );
    let program = format!("cd '{}' && sh agent.sh", agents.display());
    title(
        console,
        &format!("agentd codali run \"{TASK}\" --model COMMAND --test \"{TEST}\" --untouched test.sh"),
    );
    let outcome = run::run(&common, console, &options(program));
    show_steps(console, &base).map_err(|error| failed(&error))?;
    title(console, "verdict");
    match outcome {
        Ok(Exit::Done) => {
            say(
                console,
                "The result has passed. Its project was temporary and is removed now, so there is nothing to undo.",
            );
            say(console, "Try it with a program of yours: agentd codali run \"your task\" --model COMMAND");
            Ok(Exit::Done)
        }
        outcome => {
            say(console, "The demonstration failed.");
            outcome
        }
    }
}

fn options(program: String) -> FlowOptions {
    FlowOptions {
        review: ReviewPolicyOption::default(),
        task: vec![TASK.to_owned()],
        resume: None,
        agents: AgentOptions {
            model: Some(program),
            architect: None,
            builder: None,
            critic: None,
            librarian: None,
            summarizer: None,
            model_timeout: 60,
        },
        rounds: 3,
        context_tokens: 32_000,
        limits: LimitOptions { allowed: Vec::new(), untouched: vec!["test.sh".to_owned()] },
        test: Some(TEST.to_owned()),
        sources: SourceOptions::default(),
    }
}

/// Shows what was kept of the one flow, step by step.
fn show_steps(console: Console, base: &Path) -> io::Result<()> {
    let mut steps: Vec<PathBuf> = Vec::new();
    for flow in fs::read_dir(FlowFolders::path(base))? {
        let entries = fs::read_dir(flow?.path())?;
        steps.extend(entries.collect::<io::Result<Vec<_>>>()?.iter().map(fs::DirEntry::path));
    }
    steps.sort();
    for step in steps {
        let kind = step.file_stem().and_then(|name| name.to_str()?.split_once('-').map(|(_, kind)| kind));
        // Numbers of runs and settings tell a reader nothing.
        let Some(kind) = kind.filter(|kind| !matches!(*kind, "run" | "done")) else { continue };
        title(console, kind);
        let text = fs::read_to_string(&step)?;
        let lines: Vec<&str> = text.lines().collect();
        let excerpt = lines.len().min(SHOWN_LINES);
        say(console, &lines[..excerpt].join("\n"));
        if excerpt < lines.len() {
            say(console, &format!("… {} more lines", lines.len() - excerpt));
        }
    }
    Ok(())
}
