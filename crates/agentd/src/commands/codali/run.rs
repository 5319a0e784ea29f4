//! `agentd codali run`: architect, builder and critic by programs of the user, until the result passes.

mod session_engine;
mod view;

use std::time::{Duration, Instant};

use codali_envelope::critic::CriticStatus;
use codali_envelope::history::{O200k, Summarizer};
use codali_envelope::{CriticResult, Role};
use codali_session::{
    Agent, AgentError, Agents, Flow, FlowEnd, FlowError, FlowFolders, FlowSettings, NoSummarizer, StepError,
    StepFolder, SummarizerCommand,
};
use model_program::ModelProgram;
use serde::Serialize;
use tag_session::REPLY_LIMIT_BYTES;
use tagproto::{Dialect, SessionId};
use wap_core::CancelFlag;
use workspace_host::session_failure::nothing_to_resume;
use workspace_host::{CreateSession, FollowedSession, SecretRules, SharedSessions, WorkspacePaths};

use self::session_engine::SessionEngine;
use self::view::FlowView;
use super::named_paths::{missing, resolved};
use super::options::{AgentOptions, FlowOptions};
use super::responding::ResponseForm;
use crate::commands::session::{cancel_flag, parse_id};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::{Console, Tone};
use crate::views::count::counted;
use crate::views::progress::one_line;

/// The variable with the role that a program is called in.
const ROLE_VARIABLE: &str = "CODALI_ROLE";

/// The form of edits, for the builder.
const EDIT_FORMAT: &str = include_str!("run/edit_format.txt");

/// The last line of `--json`.
#[derive(Serialize)]
struct EndLine<'a> {
    event: &'static str,
    session: String,
    rounds: u32,
    summary: &'a str,
    result: &'a CriticResult,
}

/// The last line of `--json` for a flow that came to no verdict.
#[derive(Serialize)]
struct FailedLine<'a> {
    event: &'static str,
    session: String,
    message: &'a str,
    advice: Option<&'a str>,
}

/// Runs a flow, or resumes one.
pub(crate) fn run(common: &CommonOptions, console: Console, options: &FlowOptions) -> Outcome {
    has_programs(&options.agents)?;
    let cancel = cancel_flag()?;
    let paths = WorkspacePaths::find(&common.host())?;
    let settings = new_settings(options, &paths)?;
    if settings.is_none() && !paths.has_sessions() {
        return Err(nothing_to_resume());
    }
    let sessions = SharedSessions::open(&common.host(), paths, &console.shared(), true)?;
    let base = sessions.paths().base.clone();
    let folders = FlowFolders::open(&base).map_err(|error| step_failure(&error))?;
    let id = flow_id(&folders, options)?;
    let followed = FollowedSession::begin(&base, id).map_err(|error| {
        Failure::new(Exit::Failed, format!("the state folder {} cannot be used: {error}", base.display()))
    })?;
    let _followed = followed.ok_or_else(|| {
        Failure::new(Exit::Held, format!("another agentd runs the flow {id}"))
            .advise("wait for its end, or stop it there")
    })?;
    let (settings, steps) = match settings {
        Some(settings) => {
            for path in missing(&sessions.paths().workspace, &settings.read_only) {
                console.notice(&format!(
                    "agentd: --untouched {path}: there is no such file or folder, and none may be made; check the \
                     spelling if one was meant"
                ));
            }
            let steps = folders.begin(&id.to_string(), &settings);
            (settings, steps.map_err(|error| step_failure(&error))?)
        }
        None => {
            let flow = folders.resume(&id.to_string()).map_err(|error| step_failure(&error))?;
            flow.ok_or_else(|| no_flow(id))?
        }
    };
    let running = Running { common, console, options, sessions: &sessions, id, cancel: &cancel };
    let outcome = running.run(&settings, steps);
    sessions.leave(&cancel);
    outcome
}

/// A flow of this process.
struct Running<'a> {
    common: &'a CommonOptions,
    console: Console,
    options: &'a FlowOptions,
    sessions: &'a SharedSessions,
    id: SessionId,
    cancel: &'a CancelFlag,
}

impl Running<'_> {
    fn run(&self, settings: &FlowSettings, mut steps: StepFolder) -> Outcome {
        let Running { common, console, options, sessions, id, cancel } = *self;
        let rules = SecretRules::open(&common.host(), sessions.paths())?;
        let programs = Programs::of(&options.agents, settings, &rules)?;
        console.styled(Tone::Strong, &format!("session {id}: {}", one_line(&settings.task)));
        // One that exists is returned: the process may have been killed before or after this.
        let create = CreateSession {
            id,
            task: settings.task.clone(),
            dialect: Dialect::Agentd,
            budget: None,
            paste_characters: None,
            task_files: Vec::new(),
            read_files: Vec::new(),
            surroundings: Vec::new(),
            from: None,
        };
        sessions.call(&create, cancel)?;
        let form = ResponseForm {
            sources: &options.sources,
            context_tokens: Some(settings.context_tokens),
            deterministic: false,
            peer: None,
        };
        let review = options.review.review;
        let untouched = &settings.read_only;
        let engine = SessionEngine { common, console, sessions, id, form, review, untouched, cancel };
        let (begun, view) = (Instant::now(), FlowView::new(console));
        let flow = Flow {
            settings,
            rounds: options.rounds,
            agents: programs.agents(),
            engine: &engine,
            edit_format: EDIT_FORMAT,
            counter: &O200k,
            events: &view,
            cancel,
        };
        let notice = |line: &str| console.notice(&format!("agentd: {line}"));
        let timeout = Duration::from_secs(options.agents.model_timeout);
        let mut command = options.agents.summarizer.as_deref().map(|command| SummarizerCommand {
            command,
            timeout,
            cancel,
            notice: &notice,
        });
        let mut none = NoSummarizer;
        let summarizer: &mut dyn Summarizer = match &mut command {
            Some(command) => command,
            None => &mut none,
        };
        match flow.run(&mut steps, summarizer) {
            Ok(end) => self.report(&end, &view, begun.elapsed()),
            Err(FlowError::Cancelled) => {
                console.progress(&format!("stopped; `agentd codali run --resume {id} …` continues"));
                Ok(Exit::Interrupted)
            }
            Err(error) => {
                let failure = self.failure(&error);
                if console.json {
                    let (session, message) = (id.to_string(), failure.message.as_str());
                    let line =
                        FailedLine { event: "failed", session, message, advice: failure.advice.as_deref() };
                    console.result(&serde_json::to_string(&line).expect("results have string keys"));
                }
                Err(failure)
            }
        }
    }

    /// Prints the end of a flow that came to a verdict.
    fn report(&self, end: &FlowEnd, view: &FlowView, elapsed: Duration) -> Outcome {
        let Running { console, id, .. } = *self;
        let FlowEnd { result, rounds, summary } = end;
        if console.json {
            let session = id.to_string();
            let line = EndLine { event: "end", session, rounds: *rounds, summary, result };
            console.result(&serde_json::to_string(&line).expect("results have string keys"));
        } else {
            view::result_lines(end).iter().for_each(|line| console.result(line));
        }
        let mut lines = view.command_lines();
        lines.push(format!("{:.1} s", elapsed.as_secs_f64()));
        console.progress(&lines.join("; "));
        if !result.touched_files.is_empty() {
            console.progress(&format!("`agentd undo --session {id}` reverts all of it"));
        }
        if result.status == CriticStatus::Pass {
            return Ok(Exit::Done);
        }
        let advice = format!("`agentd codali run --resume {id} --rounds {} …` continues", rounds + 1);
        Err(Failure::new(
            Exit::Failed,
            format!("the result did not pass after {}", counted(*rounds as usize, "round")),
        )
        .advise(&advice))
    }

    fn failure(&self, error: &FlowError) -> Failure {
        let resume = format!("`agentd codali run --resume {} …`", self.id);
        let advice = match error {
            FlowError::Engine(error) => {
                let failure = Failure::new(Exit::of_code(error.exit), error.message.clone());
                return match &error.advice {
                    Some(advice) => failure.advise(advice),
                    None => failure,
                };
            }
            FlowError::Step(error) => return step_failure(error),
            FlowError::SmallWindow { .. } => {
                "begin a flow with a larger --context-tokens, or a shorter task".to_owned()
            }
            FlowError::Agent { error, .. } if error.is_timeout => {
                let seconds = "`--model-timeout SECONDS` allows it more time";
                format!("{resume} asks for this reply again, and {seconds}")
            }
            FlowError::Agent { .. } => format!("{resume} asks for this reply again"),
            _ => format!(
                "`codali/{0}/` in the state folder has what the agents said, `agentd show {0}` what was done; describe the \
                 task in other words, or use another model",
                self.id
            ),
        };
        Failure::new(Exit::Failed, error.to_string()).advise(&advice)
    }
}

/// Checks that a program is named for both agents that every flow has.
fn has_programs(options: &AgentOptions) -> Result<(), Failure> {
    match [Role::Architect, Role::Builder].into_iter().find(|role| options.of(role).is_none()) {
        None => Ok(()),
        Some(role) => Err(Failure::new(Exit::Usage, format!("no program is given for the {role}")).advise(
            "give one for all agents with --model COMMAND, or each its own with --architect COMMAND and --builder COMMAND",
        )),
    }
}

/// Returns the settings of a new flow; `None` if one is resumed.
fn new_settings(options: &FlowOptions, paths: &WorkspacePaths) -> Result<Option<FlowSettings>, Failure> {
    let limits = &options.limits;
    if options.resume.is_some() {
        let given = [("allowed", &limits.allowed), ("untouched", &limits.untouched)];
        let Some((option, _)) = given.iter().find(|(_, typed)| !typed.is_empty()) else { return Ok(None) };
        return Err(Failure::new(
            Exit::Usage,
            format!("a flow that is resumed has the limits of its beginning, and not those of --{option}"),
        )
        .advise("leave it out, or begin a flow with it; --protect holds for a flow that is resumed, too"));
    }
    let task = options.task.join(" ");
    if task.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "the task is empty").advise("say what the agents should do"));
    }
    Ok(Some(FlowSettings {
        task,
        context_tokens: options.context_tokens,
        allowed: resolved(&paths.workspace, "allowed", &limits.allowed)?,
        read_only: resolved(&paths.workspace, "untouched", &limits.untouched)?,
        test: options.test.clone(),
        has_librarian: options.agents.librarian.is_some(),
        has_critic: options.agents.of(&Role::Critic).is_some(),
    }))
}

/// Returns the id of the flow to resume, or one for a new flow.
fn flow_id(folders: &FlowFolders, options: &FlowOptions) -> Result<SessionId, Failure> {
    match options.resume.as_deref() {
        None => {
            let [first, second, third, fourth, ..] = *uuid::Uuid::new_v4().as_bytes();
            Ok(SessionId::from_random([first, second, third, fourth]))
        }
        Some("") => {
            let newest = folders.newest_unfinished();
            let none = || {
                Failure::new(Exit::Usage, "there is no flow to resume")
                    .advise("`agentd codali run \"your task\" --model COMMAND` begins one")
            };
            newest.and_then(|id| id.parse().ok()).ok_or_else(none)
        }
        Some(id) => parse_id(id),
    }
}

fn no_flow(id: SessionId) -> Failure {
    Failure::new(Exit::Usage, format!("there is no flow {id} to resume"))
        .advise("`agentd codali run --resume` without an id resumes the newest")
}

fn step_failure(error: &StepError) -> Failure {
    let failure = Failure::new(Exit::Failed, error.to_string());
    match error {
        StepError::Other { .. } | StepError::Damaged { .. } | StepError::DamagedSettings => {
            failure.advise("begin a new flow; what this one has changed can be undone")
        }
        _ => failure,
    }
}

impl AgentOptions {
    /// Returns the command for a role, if there is one.
    fn of(&self, role: &Role) -> Option<&str> {
        let (own, shared) = match role {
            Role::Architect => (&self.architect, &self.model),
            Role::Builder => (&self.builder, &self.model),
            Role::Critic => (&self.critic, &self.model),
            Role::Librarian => (&self.librarian, &None),
            Role::Interpreter | Role::Other(_) => (&None, &None),
        };
        own.as_ref().or(shared.as_ref()).map(String::as_str)
    }
}

/// The programs of the agents.
struct Programs {
    librarian: Option<MaskedProgram>,
    architect: MaskedProgram,
    builder: MaskedProgram,
    critic: Option<MaskedProgram>,
}

/// A program whose prompts hold no secrets: the task, which the user wrote, is in them as well.
struct MaskedProgram {
    program: ModelProgram,
    rules: SecretRules,
}

impl Agent for MaskedProgram {
    fn reply(&self, prompt: &str, cancel: &CancelFlag) -> Result<String, AgentError> {
        self.program.reply(&self.rules.mask_rest(prompt), cancel)
    }
}

impl Programs {
    fn of(options: &AgentOptions, settings: &FlowSettings, rules: &SecretRules) -> Result<Programs, Failure> {
        let given = [
            (Role::Librarian, &options.librarian, settings.has_librarian),
            (Role::Critic, &options.critic, settings.has_critic),
        ];
        if let Some((role, ..)) = given.iter().find(|(_, command, has)| command.is_some() && !has) {
            return Err(Failure::new(Exit::Usage, format!("this flow was begun without a {role}"))
                .advise(format!("leave --{role} out, or begin a flow with it")));
        }
        let most_bytes = usize::try_from(REPLY_LIMIT_BYTES).unwrap_or(usize::MAX);
        let timeout = Duration::from_secs(options.model_timeout);
        let program = |role: Role| {
            let missing = || {
                Failure::new(Exit::Usage, format!("this flow has a {role}, and no program is given for it"))
                    .advise(format!("give it with --{role} COMMAND"))
            };
            let command = options.of(&role).ok_or_else(missing)?;
            let program = ModelProgram::new(command, timeout, most_bytes)
                .in_shell(std::env::var_os("SHELL").unwrap_or_default())
                .with_variable(ROLE_VARIABLE, role.name());
            Ok::<_, Failure>(MaskedProgram { program, rules: rules.clone() })
        };
        Ok(Programs {
            librarian: settings.has_librarian.then(|| program(Role::Librarian)).transpose()?,
            architect: program(Role::Architect)?,
            builder: program(Role::Builder)?,
            critic: settings.has_critic.then(|| program(Role::Critic)).transpose()?,
        })
    }

    fn agents(&self) -> Agents<'_> {
        Agents {
            librarian: self.librarian.as_ref().map(|program| program as &dyn Agent),
            architect: &self.architect,
            builder: &self.builder,
            critic: self.critic.as_ref().map(|program| program as &dyn Agent),
        }
    }
}
