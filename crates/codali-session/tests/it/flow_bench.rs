//! Scripted agents and an engine in memory, for tests of flows.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use codali_envelope::history::{BytesPerToken, Summarizer};
use codali_envelope::{AnswerOptions, CommandOutput, Reading, Response};
use codali_session::{
    Agent, AgentError, Agents, Applied, EditResult, EngineError, Flow, FlowEnd, FlowEngine, FlowError,
    FlowEvent, FlowEvents, FlowSettings, NoSummarizer, Responder, StepFolder,
};
use memory_workspace::{MemoryIndex, MemoryWorkspace};
use secret_placeholders::Withheld;
use tempfile::TempDir;
use wap_core::CancelFlag;

/// Everything outside of a flow: scripted agents, an engine in memory, and calls that can be made to fail.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) settings: FlowSettings,
    pub(crate) rounds: u32,
    pub(crate) cancel: CancelFlag,
    /// The replies of each role, in order.
    replies: RefCell<BTreeMap<&'static str, Vec<String>>>,
    /// The prompts of all calls of agents, in order, with the role.
    pub(crate) prompts: RefCell<Vec<(&'static str, String)>>,
    /// Counts replies by role; it survives a crash.
    replied: RefCell<BTreeMap<&'static str, usize>>,
    /// The runs that the engine recorded.
    runs: RefCell<BTreeMap<u32, Applied>>,
    /// The number of times that each run had an effect.
    pub(crate) effects: RefCell<BTreeMap<u32, u32>>,
    touched: RefCell<BTreeSet<String>>,
    pub(crate) test_succeeds: Cell<bool>,
    pub(crate) finished: RefCell<Vec<String>>,
    pub(crate) events: RefCell<Vec<FlowEvent>>,
    /// The outer call that crashes, from 1, and whether it has its effect first.
    pub(crate) crash_at: Cell<Option<(u32, bool)>>,
    pub(crate) calls: Cell<u32>,
}

impl Bench {
    pub(crate) fn new(replies: &[(&'static str, &str)]) -> Bench {
        let mut by_role: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for (role, reply) in replies {
            by_role.entry(role).or_default().push((*reply).to_owned());
        }
        let settings = FlowSettings {
            task: "rename it".to_owned(),
            context_tokens: 100_000,
            allowed: Vec::new(),
            read_only: Vec::new(),
            test: None,
            has_librarian: by_role.contains_key("librarian"),
            has_critic: by_role.contains_key("critic"),
        };
        Bench {
            folder: tempfile::tempdir().unwrap(),
            settings,
            rounds: 3,
            cancel: CancelFlag::new(),
            replies: RefCell::new(by_role),
            prompts: RefCell::default(),
            replied: RefCell::default(),
            runs: RefCell::default(),
            effects: RefCell::default(),
            touched: RefCell::default(),
            test_succeeds: Cell::new(true),
            finished: RefCell::default(),
            events: RefCell::default(),
            crash_at: Cell::new(None),
            calls: Cell::new(0),
        }
    }

    pub(crate) fn steps_path(&self) -> PathBuf {
        self.folder.path().join("steps")
    }

    /// Runs the flow, or resumes it, as a new process would.
    pub(crate) fn run(&self) -> Result<FlowEnd, FlowError> {
        self.run_summarizing(&[], &mut NoSummarizer)
    }

    /// Runs the flow with more replies appended to the present ones.
    pub(crate) fn run_with_more(&self, more: &[(&'static str, &str)]) -> Result<FlowEnd, FlowError> {
        self.run_summarizing(more, &mut NoSummarizer)
    }

    /// The same with a summarizer.
    pub(crate) fn run_summarizing(
        &self,
        more: &[(&'static str, &str)],
        summarizer: &mut dyn Summarizer,
    ) -> Result<FlowEnd, FlowError> {
        for (role, reply) in more {
            self.replies.borrow_mut().entry(role).or_default().push((*reply).to_owned());
        }
        self.run_with(&Scripted { bench: self, role: "architect" }, summarizer)
    }

    /// Runs the flow with another architect.
    pub(crate) fn run_with_architect(&self, architect: &dyn Agent) -> Result<FlowEnd, FlowError> {
        self.run_with(architect, &mut NoSummarizer)
    }

    fn run_with(&self, architect: &dyn Agent, summarizer: &mut dyn Summarizer) -> Result<FlowEnd, FlowError> {
        let [librarian, builder, critic] =
            ["librarian", "builder", "critic"].map(|role| Scripted { bench: self, role });
        let agents =
            Agents { librarian: Some(&librarian), architect, builder: &builder, critic: Some(&critic) };
        let mut steps = StepFolder::open(&self.steps_path())?;
        let flow = Flow {
            settings: &self.settings,
            rounds: self.rounds,
            agents,
            engine: self,
            edit_format: "A line EDIT PATH for each file.",
            counter: &BytesPerToken,
            events: self,
            cancel: &self.cancel,
        };
        flow.run(&mut steps, summarizer)
    }

    /// Returns the prompts of a role, in order.
    pub(crate) fn prompts_of(&self, role: &str) -> Vec<String> {
        let prompts = self.prompts.borrow();
        prompts.iter().filter(|(other, _)| *other == role).map(|(_, prompt)| prompt.clone()).collect()
    }

    pub(crate) fn step_names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.steps_path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Counts one call to the outside of the flow; true if the process crashes at it.
    fn crashes(&self, has_had_effect: bool) -> bool {
        if !has_had_effect {
            self.calls.set(self.calls.get() + 1);
        }
        self.crash_at.get() == Some((self.calls.get(), has_had_effect))
    }

    fn outer<T>(&self, effect: impl FnOnce() -> T) -> Result<T, EngineError> {
        let crash =
            || EngineError { message: "crash".to_owned(), advice: None, exit: 1, is_cancelled: false };
        if self.crashes(false) {
            return Err(crash());
        }
        let value = effect();
        if self.crashes(true) { Err(crash()) } else { Ok(value) }
    }
}

struct Scripted<'a> {
    bench: &'a Bench,
    role: &'static str,
}

impl Agent for Scripted<'_> {
    fn reply(&self, prompt: &str, _: &CancelFlag) -> Result<String, AgentError> {
        let Scripted { bench, role } = *self;
        let crash = || AgentError { message: "crash".to_owned(), is_cancelled: false, is_timeout: false };
        if bench.crashes(false) {
            return Err(crash());
        }
        bench.prompts.borrow_mut().push((role, prompt.to_owned()));
        let mut replied = bench.replied.borrow_mut();
        let count = replied.entry(role).or_default();
        let reply = bench.replies.borrow().get(role).and_then(|replies| replies.get(*count).cloned());
        let reply = reply.unwrap_or_else(|| panic!("the {role} is asked {} times", *count + 1));
        // A reply that does not arrive is given again.
        if bench.crashes(true) {
            return Err(crash());
        }
        *count += 1;
        Ok(reply)
    }
}

impl FlowEvents for Bench {
    fn event(&self, event: &FlowEvent) {
        self.events.borrow_mut().push(event.clone());
    }
}

impl FlowEngine for Bench {
    fn pending_run(&self) -> Result<u32, EngineError> {
        Ok(u32::try_from(self.runs.borrow().len()).unwrap() + 1)
    }

    fn has_edits(&self, text: &str) -> bool {
        text.lines().any(|line| line.starts_with("EDIT ") || line.starts_with("BREAK "))
    }

    fn apply(&self, run: u32, text: &str) -> Result<Applied, EngineError> {
        self.outer(|| {
            if let Some(applied) = self.runs.borrow().get(&run) {
                return applied.clone();
            }
            *self.effects.borrow_mut().entry(run).or_default() += 1;
            let mut applied = Applied::default();
            for line in text.lines() {
                if let Some(path) = line.strip_prefix("EDIT ") {
                    self.touched.borrow_mut().insert(path.to_owned());
                    let summary = format!("Edited '{path}'");
                    applied.results.push(EditResult {
                        summary,
                        succeeded: true,
                        is_edit: true,
                        ..EditResult::default()
                    });
                }
                if let Some(path) = line.strip_prefix("BREAK ") {
                    let summary = format!("Failed to edit '{path}': the text is not there");
                    applied.results.push(EditResult { summary, is_edit: true, ..EditResult::default() });
                }
                if let Some(path) = line.strip_prefix("REVERT ") {
                    self.touched.borrow_mut().remove(path);
                }
            }
            self.runs.borrow_mut().insert(run, applied.clone());
            applied
        })
    }

    fn run_command(&self, run: u32, command: &str) -> Result<CommandOutput, EngineError> {
        self.outer(|| {
            if self.runs.borrow_mut().insert(run, Applied::default()).is_none() {
                *self.effects.borrow_mut().entry(run).or_default() += 1;
            }
            let succeeded = self.test_succeeds.get();
            CommandOutput {
                command: command.to_owned(),
                succeeded,
                outcome: format!("exit code {}", i32::from(!succeeded)),
                output: "two tests were run\n".to_owned(),
            }
        })
    }

    fn touched(&self) -> Result<Vec<String>, EngineError> {
        Ok(self.touched.borrow().iter().cloned().collect())
    }

    fn respond(&self, reading: &Reading, output: Option<&CommandOutput>) -> Result<Response, EngineError> {
        self.outer(|| {
            let files = [("src/a.rs", "pub fn old_name() {}\n"), ("b.rs", "// b\n")];
            let (workspace, index) = (MemoryWorkspace::with_files(files), MemoryIndex::with_files(files));
            let responder = Responder {
                workspace: &workspace,
                index: &index,
                daemon: None,
                web: false,
                secrets: None,
                withheld: &Withheld::default(),
                options: AnswerOptions { deterministic: true, ..AnswerOptions::default() },
                impact_as_paths: false,
                command: output,
                cancel: &self.cancel,
            };
            responder.respond(reading)
        })
    }

    fn finish(&self, run: u32, summary: &str) -> Result<(), EngineError> {
        self.outer(|| {
            if self.runs.borrow_mut().insert(run, Applied::default()).is_none() {
                self.finished.borrow_mut().push(summary.to_owned());
            }
        })
    }
}
