//! A workspace, an index and a call for tests of answers.

use std::cell::Cell;
use std::time::Duration;

use codali_envelope::{
    AnswerOptions, CommandOutput, ReadOptions, Response, Sources, Stopwatch, answer, extract_request,
};
use memory_workspace::{MemoryIndex, MemoryWorkspace};
use wap_core::{Call, CancelFlag, CodeIndex, ConversationId, Origin, Retention, RunKey};

/// A stopwatch that advances by one step on each call.
pub(crate) struct Ticks {
    now: Cell<Duration>,
    step: Duration,
}

impl Ticks {
    pub(crate) fn of(step: Duration) -> Ticks {
        Ticks { now: Cell::new(Duration::ZERO), step }
    }
}

impl Stopwatch for Ticks {
    fn elapsed(&self) -> Duration {
        let now = self.now.get();
        self.now.set(now + self.step);
        now
    }
}

/// A workspace, an index, and a call of them.
pub(crate) struct Bench {
    pub(crate) workspace: MemoryWorkspace,
    pub(crate) index: Option<MemoryIndex>,
    pub(crate) options: AnswerOptions,
    pub(crate) cancel: CancelFlag,
    pub(crate) tick: Duration,
    pub(crate) command: Option<CommandOutput>,
    pub(crate) withholds: Option<fn(&str) -> bool>,
}

impl Bench {
    pub(crate) fn new<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)> + Clone) -> Bench {
        Bench {
            workspace: MemoryWorkspace::with_files(files.clone()),
            index: Some(MemoryIndex::with_files(files)),
            options: AnswerOptions { deterministic: true, ..AnswerOptions::default() },
            cancel: CancelFlag::new(),
            tick: Duration::ZERO,
            command: None,
            withholds: None,
        }
    }

    /// Answers a request that has these lines below `needs`.
    pub(crate) fn needs(&self, needs: &str) -> Response {
        self.answer(&format!("AGENT_REQUEST v1\nrequest_id: q1\nneeds:\n{needs}"))
    }

    pub(crate) fn answer(&self, text: &str) -> Response {
        let reading = extract_request(text, &ReadOptions::default()).unwrap();
        let origin = Origin {
            conversation: ConversationId("test".into()),
            run: RunKey::unnumbered("1"),
            step: 0,
            retention: Retention::Process,
        };
        let call = Call { origin: &origin, cancel: &self.cancel, time_left: None };
        let index = self.index.as_ref().map(|index| index as &dyn CodeIndex);
        let command = self.command.as_ref();
        let withholds = self.withholds.as_ref().map(|withholds| withholds as &dyn Fn(&str) -> bool);
        let sources = Sources { workspace: &self.workspace, index, web: None, command, withholds };
        answer(&reading, &sources, &self.options, &call, &Ticks::of(self.tick))
    }
}

pub(crate) fn warnings(response: &Response) -> Vec<String> {
    response.meta.warnings.iter().map(ToString::to_string).collect()
}
