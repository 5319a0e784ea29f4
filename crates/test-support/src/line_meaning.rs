//! Stories in which a client edits a file by line numbers, while other clients, commands and the user change it.
//!
//! Every line of the file has a text of its own, which identifies a line that an edit removes. A story records the lines
//! that each number meant to the client: as they were last shown, as they were when the last answer was given, and those
//! that the client itself wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};
use wap_core::*;

/// The file `a` of a workspace, as the user and commands reach it.
pub trait NumberedFile {
    /// The workspace that has the file.
    type Workspace: Workspace;

    /// Returns the workspace.
    fn workspace(&self) -> &Self::Workspace;

    /// Returns the lines of the file.
    fn lines(&self) -> Vec<String>;

    /// Saves the file as the user does, without the workspace.
    fn save(&self, lines: &[String]);

    /// Returns a command that saves the file; `None` for one that does nothing.
    fn command(&self, lines: Option<&[String]>) -> String;
}

/// The outcome of many stories.
#[derive(Debug, Default)]
pub struct LineStories {
    /// A text for each story in which an edit hit a line that the client cannot have meant, or one of two that it may have
    /// meant.
    pub violations: Vec<String>,
    /// The edits that were made.
    pub edits: usize,
    /// The edits that were refused.
    pub refusals: usize,
}

impl LineStories {
    /// Runs stories of `steps` steps, one for each seed, each with a new file. With `is_plain`, numbers reach the workspace
    /// as they are, without the memory of the conversation: the control, which has to find violations.
    pub fn happen<F: NumberedFile>(
        file: impl Fn() -> F,
        seeds: Range<u64>,
        steps: usize,
        is_plain: bool,
    ) -> LineStories {
        let mut stories = LineStories::default();
        for seed in seeds {
            let mut story = Story::new(file(), seed, is_plain);
            for step in 0..steps {
                if let Err(violation) = story.step() {
                    stories.violations.push(format!("story {seed}, step {step}: {violation}"));
                    break;
                }
            }
            stories.edits += story.edits;
            stories.refusals += story.refusals;
        }
        stories
    }
}

/// Random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// The lines that the client may mean by a number.
#[derive(Default)]
struct Client {
    last_shown: BTreeMap<usize, String>,
    last_answer: Vec<String>,
    written: BTreeMap<usize, BTreeSet<String>>,
}

struct Story<F> {
    random: Random,
    file: F,
    one: Conversation,
    other: Conversation,
    client: Client,
    next_line: usize,
    next_step: u32,
    /// True if numbers reach the workspace as they are, without the memory of the conversation.
    is_plain: bool,
    edits: usize,
    refusals: usize,
}

impl<F: NumberedFile> Story<F> {
    fn new(file: F, seed: u64, is_plain: bool) -> Story<F> {
        let conversation = |name: &str| Conversation::new(ConversationId(name.into()));
        let mut story = Story {
            // Seeds are small numbers; the factor spreads their bits, and a state of 0 would stay 0.
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            file,
            one: conversation("one"),
            other: conversation("other"),
            client: Client::default(),
            next_line: 0,
            next_step: 0,
            is_plain,
            edits: 0,
            refusals: 0,
        };
        let lines: Vec<String> = (0..12).map(|_| story.new_line()).collect();
        story.file.save(&lines);
        story
    }

    fn new_line(&mut self) -> String {
        self.next_line += 1;
        format!("the line {}", self.next_line)
    }

    fn ask(&mut self, is_other: bool, tool: &str, arguments: Value) -> Result<Value, WapError> {
        self.next_step += 1;
        let conversation = if is_other { &self.other } else { &self.one };
        let origin = Origin {
            conversation: conversation.id().clone(),
            run: RunKey::unnumbered(self.next_step.to_string()),
            step: 0,
            retention: Retention::Process,
        };
        let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
        let request = Request::parse(tool, arguments).unwrap();
        let answer = match self.is_plain && tool == "modifyFile" {
            true => request.answer(self.file.workspace(), &call, &mut Unobserved),
            false => conversation.answer(self.file.workspace(), request, &call, &mut Unobserved),
        };
        // Every answer counts, also a refusal: after it the client may mean the file as it is now.
        if !is_other {
            self.client.last_answer = self.file.lines();
        }
        answer.map(|response| serde_json::to_value(response).unwrap())
    }

    /// Returns the lines with one more, one less or one changed.
    fn changed_lines(&mut self) -> Vec<String> {
        let mut lines = self.file.lines();
        let at = self.random.below(lines.len() + 1);
        match self.random.below(3) {
            0 if at < lines.len() && lines.len() > 4 => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = self.new_line(),
            _ => lines.insert(at, self.new_line()),
        }
        lines
    }

    fn step(&mut self) -> Result<(), String> {
        match self.random.below(9) {
            0 => self.read(),
            // A command of the client changes the file and prints it.
            1 => {
                let lines = self.changed_lines();
                let command = self.file.command(Some(&lines));
                self.ask(false, "executeCommand", json!({ "command": command })).unwrap();
            }
            2 => {
                let command = self.file.command(None);
                self.ask(false, "executeCommand", json!({ "command": command })).unwrap();
            }
            // The user saves.
            3 => {
                let lines = self.changed_lines();
                self.file.save(&lines);
            }
            4 => self.edit_by_another(),
            _ => return self.edit(),
        }
        Ok(())
    }

    fn read(&mut self) {
        let lines = self.file.lines();
        let first = 1 + self.random.below(lines.len());
        let (first, last) = match self.random.below(2) {
            0 => (1, lines.len()),
            _ => (first, (first + self.random.below(6)).min(lines.len())),
        };
        self.ask(false, "readFile", json!({ "path": "a", "startLine": first, "endLine": last })).unwrap();
        // A whole file replaces all that was shown of it.
        if (first, last) == (1, lines.len()) {
            (self.client.last_shown, self.client.written) = Default::default();
        }
        self.show(first, last, &lines);
    }

    fn show(&mut self, first: usize, last: usize, lines: &[String]) {
        for number in first..=last.min(lines.len()) {
            self.client.last_shown.insert(number, lines[number - 1].clone());
            self.client.written.remove(&number);
        }
    }

    fn edit_by_another(&mut self) {
        let line = 1 + self.random.below(self.file.lines().len());
        let content = self.new_line();
        let operation = json!({ "type": "insert", "afterLine": line, "newContent": content });
        self.ask(true, "readFile", json!({ "path": "a" })).unwrap();
        self.ask(true, "modifyFile", json!({ "path": "a", "operations": [operation] })).unwrap();
    }

    fn edit(&mut self) -> Result<(), String> {
        let before = self.file.lines();
        let number = 1 + self.random.below(before.len());
        let count = self.random.below(3);
        let content: Vec<String> = (0..count).map(|_| self.new_line()).collect();
        let operation = match count {
            0 => json!({ "type": "delete", "startLine": number, "endLine": number }),
            _ => json!({ "type": "replace", "startLine": number, "endLine": number,
                "newContent": content.join("\n") }),
        };
        let last_shown = self.client.last_shown.get(&number).cloned();
        let last_answer = self.client.last_answer.get(number - 1).cloned();
        let written = self.client.written.get(&number).cloned().unwrap_or_default();
        let answer = self.ask(false, "modifyFile", json!({ "path": "a", "operations": [operation] }));
        match answer {
            Ok(_) => {
                self.edits += 1;
                let after = self.file.lines();
                let hit: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
                let [hit] = hit.as_slice() else { return Err(format!("{} lines are gone", hit.len())) };
                let meant: BTreeSet<&String> =
                    last_shown.iter().chain(&last_answer).chain(&written).collect();
                if !meant.is_empty() && !meant.contains(hit) {
                    return Err(format!("line {number} hit '{hit}', and can mean {meant:?}"));
                }
                if let (Some(one), Some(other)) = (&last_shown, &last_answer)
                    && one != other
                    && before.contains(one)
                    && before.contains(other)
                {
                    return Err(format!("line {number} hit '{hit}', and can mean '{one}' and '{other}'"));
                }
                for (nth, line) in content.into_iter().enumerate() {
                    self.client.written.entry(number + nth).or_default().insert(line);
                }
            }
            Err(error) => {
                self.refusals += 1;
                let lines = self.file.lines();
                if lines != before {
                    return Err("a refused edit has changed the file".to_owned());
                }
                let number = |name| error.detail(name).and_then(Value::as_u64);
                let single = number("currentFirstLine").zip(number("currentLastLine"));
                let spans = LineConflict::of(&error).map(|conflict| conflict.excerpts).unwrap_or_default();
                let spans = spans.into_iter().map(|span| (span.first, span.last)).chain(single);
                for (first, last) in spans {
                    self.show(first as usize, last as usize, &lines);
                }
            }
        }
        Ok(())
    }
}
