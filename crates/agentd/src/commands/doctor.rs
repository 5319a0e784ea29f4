//! `agentd doctor`: reports what this machine can and cannot do.

use std::process::{Command, Stdio};

use egress::Network;
use jiff::Timestamp;
use local_workspace::{LayerUse, SandboxNeed, sandbox_line};
use rustix::fs::Access;
use sandbox_exec::{Escape, FileConfinement, Launcher, LayerKind, Level, SandboxReport, ShellCommand};
use sandbox_fs::{FileRoot, FsPolicy, ResolveMethod, RootRules};
use web_ui::{Finding, FindingState as State};
use workspace_host::Welcome;
use workspace_host::WorkspacePaths;
use workspace_host::confinement::{self, SandboxChoice};
use workspace_host::homes::HomeUse;
use workspace_host::state;
use workspace_host::{ConnectError, OwnPrograms, OwnerConnection, SecretRules};

use crate::common_options::{CommonOptions, Secrecy, Switch};
use crate::config::ConfigFile;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::clipboard::{self, DesktopClipboard};
use crate::views::console::{Console, Tone};

/// Checks the machine, prints the findings, and fails if something required is missing.
///
/// With `probe` the ways out of the sandbox that were tried are listed too; one that is open is missing confinement only
/// where the level claims to close it.
pub(crate) fn doctor(common: &CommonOptions, config: &ConfigFile, probe: bool, console: Console) -> Outcome {
    let findings = findings(common, config, probe);
    if console.json {
        console.json_result(&findings);
    } else {
        for finding in &findings {
            let (mark, tone) = match finding.state {
                State::Good => ("ok", Tone::Good),
                State::Limited => ("limited", Tone::Plain),
                State::Missing => ("missing", Tone::Bad),
            };
            let rest = format!(" {:<13} {}", finding.what, finding.detail);
            console.result_row(&[(tone, &format!("{mark:<8}")), (Tone::Plain, &rest)]);
        }
    }
    let is_missing = findings.iter().any(|finding| finding.state == State::Missing);
    Ok(if is_missing { Exit::Missing } else { Exit::Done })
}

/// Checks the machine.
pub(crate) fn findings(common: &CommonOptions, config: &ConfigFile, probe: bool) -> Vec<Finding> {
    let mut findings = commands(common, probe);
    findings.extend(configuration(config));
    findings.extend([workspace(common), secrets(common), files(common), state_folder(common), owner(common)]);
    let programs = common.own_programs();
    findings.extend([git(&programs), clipboard_program(&programs)]);
    findings
}

fn commands(common: &CommonOptions, probe: bool) -> Vec<Finding> {
    let what = "commands";
    let settled = crate::network::settled(common);
    let launcher = match Launcher::start(confinement::launcher(common.sandbox)) {
        Err(error) => {
            let cannot = Finding {
                what: what.to_owned(),
                state: State::Missing,
                detail: format!("cannot be run: {error}"),
            };
            return vec![cannot, network(settled, None)];
        }
        Ok(launcher) => launcher,
    };
    let report = launcher.report();
    let is_full = report.level == Level::Full;
    let state = if is_full { State::Good } else { State::Limited };
    // An unavailable network has its own finding.
    let chosen = settled.as_ref().map_or(&Network::Off, |(network, _)| network);
    let detail = line_here(common, report, chosen);
    let mut findings = vec![Finding { what: what.to_owned(), state, detail }];
    // A part that the user has switched off is not a limit of the machine.
    if common.sandbox != Some(SandboxChoice::Off) {
        let what = "to raise it";
        let remedies = sandbox_exec::remedies(&report.missing).into_iter();
        findings.extend(remedies.map(|remedy| Finding {
            what: what.to_owned(),
            state: State::Limited,
            detail: format!("{}: {}", remedy.layer, remedy.text),
        }));
    }
    findings.push(writing(common, &launcher));
    findings.push(home(common, &launcher));
    findings.push(network(settled, Some(&launcher)));
    if probe {
        findings.extend(escapes(&launcher, is_full));
    }
    findings
}

/// Returns the line about the confinement that commands get with these options, as a session prints it.
fn line_here(common: &CommonOptions, report: &SandboxReport, network: &Network) -> String {
    let layer = if common.layer == Switch::Off { LayerUse::Off } else { LayerUse::WherePossible };
    let report = match layer.refusal(common.read_only) {
        Some(why) => report.clone().without_layer(why),
        None => report.clone(),
    };
    sandbox_line(&report, network)
}

/// Reports whether a model's commands run here, and can write into the workspace.
fn writing(common: &CommonOptions, launcher: &Launcher) -> Finding {
    let what = "writing";
    let limited = |detail: String| Finding { what: what.to_owned(), state: State::Limited, detail };
    let paths = match WorkspacePaths::find(&common.host()) {
        Ok(paths) => paths,
        Err(failure) => return limited(format!("commands do not run here: {}", failure.message)),
    };
    if common.read_only {
        return limited("commands do not run with --read-only".to_owned());
    }
    let report = launcher.report();
    let shows_state = report.fs != FileConfinement::Root && paths.state_folder().is_some();
    if let SandboxNeed::AtLeast(needed) = confinement::need(common.sandbox, confinement::is_attended())
        && report.level < needed
    {
        let level = report.level;
        let (base, lets) = if shows_state { (" and --base DIR", "let") } else { ("", "lets") };
        return limited(format!(
            "commands need level {needed} and are refused at {level}; --sandbox allow={level}{base} {lets} them run"
        ));
    }
    if shows_state {
        let text = "commands are refused: the state folder in the workspace cannot be hidden from them; --base DIR puts it elsewhere";
        return limited(text.to_owned());
    }
    // A confined command tries it, because this process's rights say nothing about the rights of a command of root.
    let mut policy = confinement::policy(&common.host(), &paths.workspace, &paths.base);
    // No home is made for it.
    policy.kept_home = None;
    let ran =
        ShellCommand::new("test -w . && test -x .").map_err(|error| error.to_string()).and_then(|command| {
            let running = launcher.spawn(&policy, &command).map_err(|error| error.to_string())?;
            running.wait().map_err(|error| error.to_string())
        });
    match ran {
        Ok(outcome) if outcome.ending.is_success() => Finding {
            what: what.to_owned(),
            state: State::Good,
            detail: "commands can change files in the workspace".to_owned(),
        },
        Ok(_) => limited(
            "commands cannot change files: the workspace's permissions do not let this user".to_owned(),
        ),
        Err(error) => limited(format!("commands do not run here: {error}")),
    }
}

/// Reports whether the home of commands is kept, and whether that works here.
fn home(common: &CommonOptions, launcher: &Launcher) -> Finding {
    let what = "home";
    let good = |detail: String| Finding { what: what.to_owned(), state: State::Good, detail };
    let limited = |why: &str| Finding {
        what: what.to_owned(),
        state: State::Limited,
        detail: format!("each command has a fresh home, and caches are read-only: {why}"),
    };
    if common.home == HomeUse::Fresh {
        return good("each command has a fresh one (--home fresh)".to_owned());
    }
    if launcher.report().fs != FileConfinement::Root {
        return limited("commands have no root of their own");
    }
    if launcher.report().layer == LayerKind::None {
        return limited("there can be no copy-on-write layer");
    }
    let Ok(paths) = WorkspacePaths::find(&common.host()) else {
        return limited("commands do not run here");
    };
    let policy = confinement::policy(&common.host(), &paths.workspace, &paths.base);
    let Some(kept) = &policy.kept_home else {
        return limited("HOME and XDG_STATE_HOME are not absolute paths");
    };
    if !kept.folder.is_dir() {
        return good("kept between commands, from the first one on".to_owned());
    }
    let command = ShellCommand::new("true").expect("the command is well formed");
    match launcher.spawn(&policy, &command) {
        Err(error) => limited(&error.to_string()),
        Ok(running) => match running.home_fault() {
            Some(why) => limited(why),
            None => good(format!("kept between commands, in {}", kept.folder.display())),
        },
    }
}

/// Reports the network that commands have by the configuration, with the names that presets resolve to, and whether this
/// machine can keep commands to them.
fn network(settled: Result<(Network, Vec<String>), Failure>, launcher: Option<&Launcher>) -> Finding {
    let what = "network";
    let limited = |detail: String| Finding { what: what.to_owned(), state: State::Limited, detail };
    match settled {
        Ok((Network::Off, _)) => {
            Finding { what: what.to_owned(), state: State::Good, detail: "off for commands".to_owned() }
        }
        Ok((Network::On, _)) => limited("on: commands reach everything".to_owned()),
        Ok((names, presets)) => {
            let presets: String = presets.iter().map(|preset| format!("; {preset}")).collect();
            if launcher.is_some_and(Launcher::can_limit_network_to_names) {
                return Finding {
                    what: what.to_owned(),
                    state: State::Good,
                    detail: format!("{names}{presets}"),
                };
            }
            limited(format!(
                "{names}{presets}: commands are refused, because this machine cannot limit the network to names; that takes a \
                 network namespace, a root of their own and a filter of system calls; choose --network off or on"
            ))
        }
        Err(failure) => limited(failure.message),
    }
}

/// Reports the folder that the commands of this program work on.
fn workspace(common: &CommonOptions) -> Finding {
    let what = "workspace";
    match (&common.workspace_above, std::path::absolute(&common.workspace)) {
        (Some(workspace_above), _) => {
            let line = workspace_above.line();
            let detail = line.strip_prefix("workspace: ").unwrap_or(&line).to_owned();
            Finding { what: what.to_owned(), state: State::Good, detail }
        }
        (None, Ok(folder)) => {
            Finding { what: what.to_owned(), state: State::Good, detail: folder.display().to_string() }
        }
        (None, Err(error)) => {
            Finding { what: what.to_owned(), state: State::Limited, detail: error.to_string() }
        }
    }
}

/// Reports the form in which models see secrets, and whether it is available.
fn secrets(common: &CommonOptions) -> Finding {
    let what = "secrets".to_owned();
    let granted = match common.read_secret.as_slice() {
        [] => String::new(),
        names => format!("; files of credentials that models may see: {}", names.join(", ")),
    };
    if common.secrets == Secrecy::Show {
        let detail = format!("models see them as they are (--secrets show){granted}");
        return Finding { what, state: State::Limited, detail };
    }
    let opened =
        WorkspacePaths::find(&common.host()).and_then(|paths| SecretRules::open(&common.host(), &paths));
    match opened {
        Ok(_) => {
            let detail = format!("models see placeholders (--secrets mask){granted}");
            Finding { what, state: State::Good, detail }
        }
        Err(failure) => Finding { what, state: State::Limited, detail: failure.message },
    }
}

/// Reports the process that owns the state folder.
fn owner(common: &CommonOptions) -> Finding {
    let what = "owner";
    let good = |detail: String| Finding { what: what.to_owned(), state: State::Good, detail };
    let limited = |detail: String| Finding { what: what.to_owned(), state: State::Limited, detail };
    let Ok(paths) = WorkspacePaths::find(&common.host()) else {
        return limited("unknown, since the state folder is not used".to_owned());
    };
    match OwnerConnection::connect(&paths.base, &state::hello(&common.host(), &paths)) {
        Ok(link) => {
            let Welcome { process_id, command, since } = &link.owner;
            let since = i64::try_from(*since).ok().and_then(|since| Timestamp::from_second(since).ok());
            let since = since.map(|since| format!(", since {since}")).unwrap_or_default();
            good(format!("process {process_id} (agentd {command}){since}; other processes work through it"))
        }
        Err(ConnectError::Absent) => good("no process; the first that needs the state folder owns it".to_owned()),
        Err(ConnectError::Silent) => limited(
            "a process owns the state folder and does not answer: if it was stopped, let it go on (kill -CONT); if it \
             hangs, end it"
                .to_owned(),
        ),
        Err(ConnectError::Mismatch(why)) => limited(format!("a process that cannot be worked through: {why}")),
    }
}

/// Tries the ways out of the sandbox.
fn escapes(launcher: &Launcher, is_full: bool) -> Vec<Finding> {
    let what = "escape";
    match launcher.probe() {
        Err(error) => {
            vec![Finding {
                what: what.to_owned(),
                state: State::Missing,
                detail: format!("cannot be tried: {error}"),
            }]
        }
        Ok(escapes) => {
            let finding = |escape: Escape| {
                let (state, word) = match (escape.is_refused, is_full) {
                    (true, _) => (State::Good, "refused"),
                    (false, false) => (State::Limited, "open"),
                    (false, true) => (State::Missing, "open"),
                };
                Finding { what: what.to_owned(), state, detail: format!("{word}: {}", escape.name) }
            };
            escapes.into_iter().map(finding).collect()
        }
    }
}

/// Reports the configuration file, and its settings.
fn configuration(config: &ConfigFile) -> Vec<Finding> {
    let what = "configuration";
    let good = |what: &str, detail| Finding { what: what.to_owned(), state: State::Good, detail };
    let file = match &config.path {
        Some(path) if config.is_there => path.display().to_string(),
        Some(path) => format!("none; {} would be read", path.display()),
        None => "none".to_owned(),
    };
    let mut findings = vec![match &config.unused_because {
        Some(why) => {
            Finding { what: what.to_owned(), state: State::Limited, detail: format!("not used: {why}") }
        }
        None => good(what, file),
    }];
    findings.extend(config.settings.iter().map(|setting| {
        let detail = format!("{} (line {})", setting.assignment(), setting.line_number);
        let finding = good("set there", detail);
        if setting.protects_less() { Finding { state: State::Limited, ..finding } } else { finding }
    }));
    findings
}

fn files(common: &CommonOptions) -> Finding {
    let what = "files";
    let rules = RootRules { home: confinement::home(), ..RootRules::default() };
    match FileRoot::open(&common.workspace, &rules, FsPolicy::default()) {
        Err(error) => Finding {
            what: what.to_owned(),
            state: State::Limited,
            detail: format!("this folder cannot be a workspace: {error}"),
        },
        Ok(root) => match root.method() {
            ResolveMethod::Openat2 => Finding {
                what: what.to_owned(),
                state: State::Good,
                detail: "resolved within the workspace by the kernel (openat2)".to_owned(),
            },
            _ => Finding {
                what: what.to_owned(),
                state: State::Limited,
                detail: "resolved step by step, because the kernel or a container forbids openat2".to_owned(),
            },
        },
    }
}

fn state_folder(common: &CommonOptions) -> Finding {
    let what = "state folder";
    match WorkspacePaths::find(&common.host())
        .and_then(|paths| Ok((paths.journal_reader()?.is_some(), paths)))
    {
        Ok((true, paths)) => {
            let folder = paths.base.display();
            let (state, detail) = match rustix::fs::access(&paths.base, Access::WRITE_OK) {
                Ok(()) => (State::Good, folder.to_string()),
                Err(error) => (
                    State::Limited,
                    format!("{folder} cannot be written, so nothing can be changed: {error}"),
                ),
            };
            Finding { what: what.to_owned(), state, detail }
        }
        Ok((false, _)) => Finding {
            what: what.to_owned(),
            state: State::Good,
            detail: "none yet; `agentd new` makes it".to_owned(),
        },
        Err(failure) => Finding { what: what.to_owned(), state: State::Limited, detail: failure.message },
    }
}

fn git(programs: &OwnPrograms) -> Finding {
    let what = "git";
    let version =
        programs.find("git").map(|git| Command::new(git).arg("--version").stdin(Stdio::null()).output());
    match version {
        Some(Ok(output)) if output.status.success() => {
            let detail = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Finding { what: what.to_owned(), state: State::Good, detail }
        }
        _ => Finding {
            what: what.to_owned(),
            state: State::Limited,
            detail: "not found; sessions work without it".to_owned(),
        },
    }
}

fn clipboard_program(programs: &OwnPrograms) -> Finding {
    let what = "clipboard";
    match (clipboard::installed(programs).next(), DesktopClipboard::open()) {
        (Some(program), Some(_)) => Finding {
            what: what.to_owned(),
            state: State::Good,
            detail: format!("{program}; the desktop's, for --clipboard"),
        },
        (Some(program), None) => Finding {
            what: what.to_owned(),
            state: State::Limited,
            detail: format!(
                "{program}, but no desktop that it could serve; copy messages from their files in the outbox"
            ),
        },
        (None, Some(_)) => Finding {
            what: what.to_owned(),
            state: State::Limited,
            detail: "the desktop's, for --clipboard; for `agentd copy` install wl-copy, xclip or xsel"
                .to_owned(),
        },
        (None, None) => Finding {
            what: what.to_owned(),
            state: State::Limited,
            detail: "no program and no desktop found; copy messages from their files in the outbox"
                .to_owned(),
        },
    }
}
