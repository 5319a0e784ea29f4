//! Running a flow: agents in turn, each call with the whole history.

use std::time::Instant;

use codali_envelope::critic::CriticStatus;
use codali_envelope::history::{
    ContextWindow, History, Message, Speaker, Summarizer, SummaryError, TokenCounter,
};
use codali_envelope::{CommandOutput, CriticResult, RequestId, Response, Role};
use wap_core::CancelFlag;

use super::guide::{Guide, responded, spoken, written};
use super::steps::DONE;
use super::{
    Agents, FlowEngine, FlowError, FlowEvent, FlowEvents, FlowSettings, Plan, StepFolder, read_plan,
};
use crate::{Incoming, read_request};

/// The most responses that an agent receives in one turn.
const MOST_REQUESTS: u32 = 16;

/// The longest text that is kept as the summary of a session.
const SUMMARY_CHARACTERS: usize = 2_000;

/// The kinds of steps that no agent answers.
pub(super) const RUN: &str = "run";
pub(super) const EDITS: &str = "edits";
pub(super) const TEST: &str = "test";
const RESPONSE: &str = "response";
const SUMMARY: &str = "summary";

/// A flow, with everything that it needs to run.
pub struct Flow<'a> {
    /// Its subject and limits.
    pub settings: &'a FlowSettings,
    /// The most rounds of plan, edits and verdict.
    pub rounds: u32,
    /// The agents. There must be a librarian and a critic if the settings say so.
    pub agents: Agents<'a>,
    /// Carries out edits and answers requests.
    pub engine: &'a dyn FlowEngine,
    /// Explains to the builder how edits are written.
    pub edit_format: &'a str,
    /// Counts the tokens of prompts.
    pub counter: &'a dyn TokenCounter,
    /// Receives the progress.
    pub events: &'a dyn FlowEvents,
    /// Stops the flow between two steps, and interrupts a call of an agent.
    pub cancel: &'a CancelFlag,
}

/// The end of a flow that reached a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowEnd {
    /// The last critic's result: PASS, or FAIL when the rounds are used up.
    pub result: CriticResult,
    /// The number of rounds.
    pub rounds: u32,
    /// The architect's summary of a change that passed; empty otherwise.
    pub summary: String,
}

impl Flow<'_> {
    /// Runs the flow to its verdict, or resumes it after the present steps. Only one process at a time may do so.
    ///
    /// # Errors
    ///
    /// [`FlowError`]. The steps up to then stay, and another call resumes after them.
    pub fn run(&self, steps: &mut StepFolder, summarizer: &mut dyn Summarizer) -> Result<FlowEnd, FlowError> {
        steps.sweep();
        if steps.count() > 0 {
            self.events.event(&FlowEvent::Resumed { steps: steps.count() });
        }
        let guide = Guide { settings: self.settings, edit_format: self.edit_format };
        Running { flow: self, guide, steps, summarizer, history: History::new(), output: None }.run()
    }
}

pub(super) struct Running<'a> {
    pub(super) flow: &'a Flow<'a>,
    pub(super) guide: Guide<'a>,
    pub(super) steps: &'a mut StepFolder,
    summarizer: &'a mut dyn Summarizer,
    history: History,
    /// The output of the user's command in this round.
    pub(super) output: Option<CommandOutput>,
}

impl Running<'_> {
    fn run(mut self) -> Result<FlowEnd, FlowError> {
        let of = self.flow.rounds.max(1);
        if self.flow.settings.has_librarian {
            self.converse(&Role::Librarian, &self.guide.librarian())?;
        }
        let mut round = 0;
        loop {
            round += 1;
            self.flow.events.event(&FlowEvent::Round { round, of });
            let plan = self.plan()?;
            let built = self.build(&plan)?;
            let result = self.judge(round, &plan, &built)?;
            // Add it to the history even if it is PASS: the architect's next call needs it.
            self.say(Speaker::Codali, written(result.clone(), &format!("critic-{round}")));
            if result.status == CriticStatus::Pass {
                let summary = self.close()?;
                return Ok(FlowEnd { result, rounds: round, summary });
            }
            if round == of {
                return Ok(FlowEnd { result, rounds: round, summary: String::new() });
            }
        }
    }

    /// Asks the architect for a plan that names files, at most twice.
    fn plan(&mut self) -> Result<Plan, FlowError> {
        for is_last in [false, true] {
            let reply = self.converse(&Role::Architect, &self.guide.architect())?;
            let plan = read_plan(&reply);
            if !plan.targets.is_empty() {
                self.flow.events.event(&FlowEvent::Planned { plan: plan.clone() });
                return Ok(plan);
            }
            if !is_last {
                self.instruct(
                    "the plan names no files: give the whole plan again, with plan_targets at its end",
                );
            }
        }
        Err(FlowError::NoTargets)
    }

    /// Reports the passed result to the architect, and completes the session with its summary.
    fn close(&mut self) -> Result<String, FlowError> {
        let reply = self.converse(&Role::Architect, &self.guide.closing())?;
        let summary: String = reply.trim().chars().take(SUMMARY_CHARACTERS).collect();
        let run = self.pending_run()?;
        if self.steps.recorded(DONE)?.is_none() {
            self.flow.engine.finish(run, &summary)?;
            self.steps.record(DONE, "")?;
        }
        Ok(summary)
    }

    /// Calls an agent until its reply has no request; returns that reply.
    pub(super) fn converse(&mut self, role: &Role, guide: &str) -> Result<String, FlowError> {
        for _ in 0..=MOST_REQUESTS {
            let reply = self.ask(role, guide)?;
            self.say(Speaker::Agent, spoken(role, &reply));
            // Edits may quote a request, for example in a test.
            if *role == Role::Builder && self.flow.engine.has_edits(&reply) {
                return Ok(reply);
            }
            let Some(response) = self.respond(role, &reply)? else { return Ok(reply) };
            self.say(Speaker::Codali, response);
        }
        Err(FlowError::TooManyRequests { role: role.clone(), requests: MOST_REQUESTS })
    }

    /// Answers the request in a reply; `None` if there is none.
    fn respond(&mut self, role: &Role, reply: &str) -> Result<Option<String>, FlowError> {
        let id: Option<RequestId> = format!("{role}-{}", self.steps.last()).parse().ok();
        let reading = match read_request(reply, id.as_ref()) {
            Incoming::Nothing => return Ok(None),
            Incoming::Refused { response, .. } => {
                self.responded(role, &response);
                return Ok(Some(responded(&response)));
            }
            Incoming::Request(reading) => reading,
        };
        // Use the recorded response: the files may have changed when the flow is resumed.
        if let Some(response) = self.steps.recorded(RESPONSE)? {
            return Ok(Some(response));
        }
        let response = self.flow.engine.respond(&reading, self.output.as_ref())?;
        self.check_cancel()?;
        let text = responded(&response);
        self.steps.record(RESPONSE, &text)?;
        self.responded(role, &response);
        Ok(Some(text))
    }

    fn responded(&self, role: &Role, response: &Response) {
        self.flow.events.event(&FlowEvent::Responded {
            role: role.clone(),
            request_id: response.request_id.to_string(),
            results: response.results.len(),
            warnings: response.meta.warnings.iter().map(ToString::to_string).collect(),
        });
    }

    /// Calls an agent, unless its reply is recorded.
    fn ask(&mut self, role: &Role, guide: &str) -> Result<String, FlowError> {
        let (prompt, tokens) = self.prompt(role, guide)?;
        if let Some(reply) = self.steps.recorded(role.name())? {
            return Ok(reply);
        }
        self.check_cancel()?;
        let agent = self.flow.agents.of(role).ok_or_else(|| FlowError::Agent {
            role: role.clone(),
            error: super::AgentError {
                message: "there is none".to_owned(),
                is_cancelled: false,
                is_timeout: false,
            },
        })?;
        self.flow.events.event(&FlowEvent::Called { role: role.clone(), tokens });
        let begun = Instant::now();
        let reply = agent.reply(&prompt, self.flow.cancel).map_err(|error| {
            if error.is_cancelled {
                FlowError::Cancelled
            } else {
                FlowError::Agent { role: role.clone(), error }
            }
        })?;
        self.steps.record(role.name(), &reply)?;
        self.flow.events.event(&FlowEvent::Replied {
            role: role.clone(),
            tokens: self.flow.counter.count(&reply),
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        Ok(reply)
    }

    /// Renders the prompt for an agent: its guide, then the history, shortened to the window.
    fn prompt(&mut self, role: &Role, guide: &str) -> Result<(String, u64), FlowError> {
        let window = ContextWindow::of(self.flow.settings.context_tokens);
        let mut summarizer = RecordedSummarizer {
            steps: self.steps,
            summarizer: self.summarizer,
            cancel: self.flow.cancel,
            failure: None,
        };
        let prompt = self.history.prompt(guide, &window, self.flow.counter, &mut summarizer);
        if let Some(failure) = summarizer.failure {
            return Err(failure);
        }
        if !prompt.fits {
            let (tokens, limit_tokens) = (prompt.tokens, window.limit_tokens);
            return Err(FlowError::SmallWindow { role: role.clone(), tokens, limit_tokens });
        }
        Ok((prompt.text, prompt.tokens))
    }

    /// Returns the number of the next run. It is recorded first, so that a resumed flow repeats the same run.
    pub(super) fn pending_run(&mut self) -> Result<u32, FlowError> {
        if let Some(run) = self.steps.recorded(RUN)? {
            let number = self.steps.last();
            return run.trim().parse().map_err(|_| super::StepError::Damaged { number }.into());
        }
        self.check_cancel()?;
        let run = self.flow.engine.pending_run()?;
        self.steps.record(RUN, &run.to_string())?;
        Ok(run)
    }

    /// Adds a message of the program.
    pub(super) fn instruct(&mut self, text: &str) {
        self.say(Speaker::User, text);
    }

    pub(super) fn say(&mut self, speaker: Speaker, text: impl Into<String>) {
        self.history.push(speaker, text);
    }

    pub(super) fn check_cancel(&self) -> Result<(), FlowError> {
        if self.flow.cancel.is_cancelled() { Err(FlowError::Cancelled) } else { Ok(()) }
    }
}

/// Records summaries as steps: the agent that writes them is not called twice either.
struct RecordedSummarizer<'a> {
    steps: &'a mut StepFolder,
    summarizer: &'a mut dyn Summarizer,
    cancel: &'a CancelFlag,
    failure: Option<FlowError>,
}

impl Summarizer for RecordedSummarizer<'_> {
    fn summarize(&mut self, messages: &[Message], limit_tokens: u64) -> Result<String, SummaryError> {
        let failed = |cause: &str| SummaryError { cause: cause.to_owned() };
        if self.failure.is_some() {
            return Err(failed("the flow stops"));
        }
        // An empty step stands for a summary that was not available.
        let recorded = match self.steps.recorded(SUMMARY) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => {
                let text = self.summarizer.summarize(messages, limit_tokens).unwrap_or_default();
                if self.cancel.is_cancelled() {
                    self.failure = Some(FlowError::Cancelled);
                    return Err(failed("the flow was cancelled"));
                }
                self.steps.record(SUMMARY, &text).map(|()| text)
            }
            Err(error) => Err(error),
        };
        match recorded {
            Ok(text) if text.is_empty() => Err(failed("there is none")),
            Ok(text) => Ok(text),
            Err(error) => {
                self.failure = Some(error.into());
                Err(failed("the steps cannot be kept"))
            }
        }
    }
}
