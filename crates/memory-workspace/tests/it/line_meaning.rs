//! No edit by number lands on lines that its conversation could not have meant, whatever happens in between.
//!
//! Every line of the file has a text of its own, so that a line that an edit takes away says which one it was. The test
//! knows which line each number meant to the client: as it was last shown, as it was when the last answer was given, and
//! what the client itself wrote there.

use std::collections::{BTreeMap, BTreeSet};

use memory_workspace::MemoryWorkspace;
use serde_json::{Value, json};
use wap_core::*;

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

struct Story {
    random: Random,
    workspace: MemoryWorkspace,
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

/// An edit of a line that the client cannot have meant, or of one of two that it may have meant.
type Violation = String;

impl Story {
    fn new(seed: u64, is_plain: bool) -> Story {
        let workspace = MemoryWorkspace::new();
        workspace.on_command("true", Ok(ended()));
        let conversation = |name: &str| Conversation::new(ConversationId(name.into()));
        let mut story = Story {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            workspace,
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
        story.save(&lines);
        story
    }

    fn new_line(&mut self) -> String {
        self.next_line += 1;
        format!("the line {}", self.next_line)
    }

    fn lines(&self) -> Vec<String> {
        self.workspace.text("a").unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn save(&self, lines: &[String]) {
        self.workspace.set_file("a", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    fn ask(&mut self, is_other: bool, tool: &str, arguments: Value) -> Result<Value, WapError> {
        self.next_step += 1;
        let who = if is_other { &self.other } else { &self.one };
        let origin = Origin {
            conversation: who.id().clone(),
            run: RunKey::unnumbered(self.next_step.to_string()),
            step: 0,
            retention: Retention::Process,
        };
        let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
        let request = Request::parse(tool, arguments).unwrap();
        let answer = match self.is_plain && tool == "modifyFile" {
            true => request.answer(&self.workspace, &call, &mut Unobserved),
            false => who.answer(&self.workspace, request, &call, &mut Unobserved),
        };
        if !is_other {
            self.client.last_answer = self.lines();
        }
        answer.map(|response| serde_json::to_value(response).unwrap())
    }

    /// Puts a line in, takes one away or changes one, without asking.
    fn change(&mut self) {
        let mut lines = self.lines();
        let at = self.random.below(lines.len() + 1);
        match self.random.below(3) {
            0 if at < lines.len() && lines.len() > 4 => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = self.new_line(),
            _ => lines.insert(at, self.new_line()),
        }
        self.save(&lines);
    }

    fn step(&mut self) -> Result<(), Violation> {
        match self.random.below(9) {
            0 => self.read(),
            // A command of the client changes the file and prints it.
            1 => {
                self.change();
                self.ask(false, "executeCommand", json!({ "command": "true" })).unwrap();
            }
            2 => drop(self.ask(false, "executeCommand", json!({ "command": "true" })).unwrap()),
            // The user saves.
            3 => self.change(),
            4 => self.edit_by_another(),
            _ => return self.edit(),
        }
        Ok(())
    }

    fn read(&mut self) {
        let lines = self.lines();
        let first = 1 + self.random.below(lines.len());
        let (first, last) = match self.random.below(2) {
            0 => (1, lines.len()),
            _ => (first, (first + self.random.below(6)).min(lines.len())),
        };
        self.ask(false, "readFile", json!({ "path": "a", "startLine": first, "endLine": last })).unwrap();
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
        let line = 1 + self.random.below(self.lines().len());
        let content = self.new_line();
        let operation = json!({ "type": "insert", "afterLine": line, "newContent": content });
        self.ask(true, "readFile", json!({ "path": "a" })).unwrap();
        self.ask(true, "modifyFile", json!({ "path": "a", "operations": [operation] })).unwrap();
    }

    fn edit(&mut self) -> Result<(), Violation> {
        let before = self.lines();
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
                let after = self.lines();
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
                let lines = self.lines();
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

fn ended() -> ExecuteCommandResponse {
    serde_json::from_value(json!({ "stdout": "", "stderr": "", "exitCode": 0, "isOutputTruncated": false,
        "durationMs": 0 }))
    .unwrap()
}

/// Runs stories of 40 steps; returns the violations, and the numbers of edits and of refusals.
fn run(stories: u64, is_plain: bool) -> (Vec<Violation>, usize, usize) {
    let (mut violations, mut edits, mut refusals) = (Vec::new(), 0, 0);
    for seed in 1..=stories {
        let mut story = Story::new(seed, is_plain);
        for step in 0..40 {
            if let Err(violation) = story.step() {
                violations.push(format!("story {seed}, step {step}: {violation}"));
                break;
            }
        }
        (edits, refusals) = (edits + story.edits, refusals + story.refusals);
    }
    (violations, edits, refusals)
}

#[test]
fn no_edit_by_number_lands_on_lines_that_were_not_meant() {
    let factor: u64 = std::env::var("SOAK_FACTOR").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (violations, edits, refusals) = run(400 * factor, false);
    assert!(violations.is_empty(), "{} of {edits} edits:\n{}", violations.len(), violations[0]);
    // The property says nothing unless there are both.
    assert!(edits > 1_000 && refusals > 1_000, "{edits} edits, {refusals} refusals");
}

#[test]
fn control_without_what_the_conversation_knows_lines_are_hit_that_were_not_meant() {
    let (violations, ..) = run(50, true);
    assert!(violations.len() > 25, "{violations:?}");
}
