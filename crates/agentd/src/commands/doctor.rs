//! `agentd doctor`: what this machine can and cannot do.

use std::process::{Command, Stdio};

use sandbox_exec::{Launcher, Level};
use sandbox_fs::{FileRoot, FsPolicy, ResolveMethod, RootRules};
use serde::Serialize;

use crate::cli::Common;
use crate::clipboard;
use crate::confinement;
use crate::console::{Console, Tone};
use crate::exit::{Exit, Outcome};
use crate::state::Places;

#[derive(Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    Limited,
    Missing,
}

/// Looks at everything, prints it, and fails if something required is missing.
pub(crate) fn doctor(common: &Common, console: Console) -> Outcome {
    let findings = [commands(common), files(common), state_folder(common), git(), clipboard_program()];
    if console.json {
        console.json_result(&findings);
    } else {
        for finding in &findings {
            let (mark, tone) = match finding.state {
                State::Good => ("ok", Tone::Good),
                State::Limited => ("limited", Tone::Plain),
                State::Missing => ("missing", Tone::Bad),
            };
            console.result(&format!(
                "{:<8} {:<13} {}",
                console.paint(tone, mark),
                finding.what,
                finding.detail
            ));
        }
    }
    let is_missing = findings.iter().any(|finding| finding.state == State::Missing);
    Ok(if is_missing { Exit::Missing } else { Exit::Done })
}

fn commands(common: &Common) -> Finding {
    let what = "commands";
    match Launcher::start(confinement::launcher(common.sandbox)) {
        Err(error) => Finding { what, state: State::Missing, detail: format!("cannot be run: {error}") },
        Ok(launcher) => {
            let report = launcher.report();
            let state = if report.level == Level::Full { State::Good } else { State::Limited };
            Finding { what, state, detail: report.to_string() }
        }
    }
}

fn files(common: &Common) -> Finding {
    let what = "files";
    let rules = RootRules { home: confinement::home(), ..RootRules::default() };
    match FileRoot::open(&common.workspace, &rules, FsPolicy::default()) {
        Err(error) => {
            Finding { what, state: State::Limited, detail: format!("this folder is no workspace: {error}") }
        }
        Ok(root) => match root.method() {
            ResolveMethod::Openat2 => Finding {
                what,
                state: State::Good,
                detail: "resolved beneath the workspace by the kernel (openat2)".to_owned(),
            },
            _ => Finding {
                what,
                state: State::Limited,
                detail: "resolved step by step, because the kernel or a container forbids openat2".to_owned(),
            },
        },
    }
}

fn state_folder(common: &Common) -> Finding {
    let what = "state folder";
    match Places::find(common).and_then(|places| Ok((places.journal_reader()?.is_some(), places))) {
        Ok((true, places)) => Finding { what, state: State::Good, detail: places.base.display().to_string() },
        Ok((false, _)) => {
            Finding { what, state: State::Good, detail: "none yet; `agentd new` makes it".to_owned() }
        }
        Err(failure) => Finding { what, state: State::Limited, detail: failure.message },
    }
}

fn git() -> Finding {
    let what = "git";
    let version = Command::new("git").arg("--version").stdin(Stdio::null()).output();
    match version {
        Ok(output) if output.status.success() => {
            let detail = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Finding { what, state: State::Good, detail }
        }
        _ => {
            Finding { what, state: State::Limited, detail: "not found; sessions work without it".to_owned() }
        }
    }
}

fn clipboard_program() -> Finding {
    let what = "clipboard";
    match clipboard::installed().next() {
        Some(program) => Finding { what, state: State::Good, detail: program.to_owned() },
        None => Finding {
            what,
            state: State::Limited,
            detail: "no program found; copy from the outbox file".to_owned(),
        },
    }
}
