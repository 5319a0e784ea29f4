//! The limits of a session whose replies come from a program.

use std::collections::HashSet;

use change_journal::ContentHash;
use tagproto::{BlockKind, CommandResult, CommandType, ReplyTo};

/// The words of commands that run tests.
const TEST_WORDS: [&str; 11] =
    ["test", "tests", "pytest", "unittest", "ctest", "nextest", "tox", "jest", "vitest", "rspec", "phpunit"];

/// The number of consecutive rounds without an effect that ends the loop.
const MOST_IDLE_ROUNDS: u32 = 3;

/// Counts the rounds of a loop, and decides when it has to end without DONE.
#[derive(Debug)]
pub struct Unattended {
    most_rounds: u32,
    rounds: u32,
    idle_rounds: u32,
    last_reply: Option<ContentHash>,
    /// The summaries of successful reads: repeating a read has no effect.
    reads: HashSet<ContentHash>,
    totals: Totals,
}

/// The blocks that were carried out in a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of requested replies.
    pub rounds: u32,
    /// The number of blocks that changed a file.
    pub edits: usize,
    /// The number of commands.
    pub commands: usize,
    /// The result of the last command, as one line.
    pub last_command: Option<String>,
    /// The result of the last command that ran tests, as one line.
    pub last_test: Option<String>,
}

/// A reason to end a loop before DONE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopReason {
    /// The maximum number of replies was requested.
    #[error("the model was not done after {}", rounds(*.0))]
    RoundsUsedUp(u32),
    /// A reply repeated the previous one. It was not carried out.
    #[error("the model gave the same reply twice; it was not carried out again")]
    SameReply,
    /// Several replies in a row had no effect.
    #[error("{MOST_IDLE_ROUNDS} replies in a row had no effect")]
    NoEffect,
}

fn rounds(count: u32) -> String {
    if count == 1 { "1 round".to_owned() } else { format!("{count} rounds") }
}

impl Unattended {
    /// Creates a counter with the maximum number of replies to request.
    #[must_use]
    pub fn new(most_rounds: u32) -> Unattended {
        Unattended {
            most_rounds,
            rounds: 0,
            idle_rounds: 0,
            last_reply: None,
            reads: HashSet::new(),
            totals: Totals::default(),
        }
    }

    /// Counts a reply that is about to be requested; returns its 1-based number.
    ///
    /// # Errors
    ///
    /// [`StopReason::RoundsUsedUp`].
    pub fn begin_round(&mut self) -> Result<u32, StopReason> {
        if self.rounds >= self.most_rounds {
            return Err(StopReason::RoundsUsedUp(self.most_rounds));
        }
        self.rounds += 1;
        self.totals.rounds = self.rounds;
        Ok(self.rounds)
    }

    /// Records a reply before it is carried out. Its line `Reply-To:` is ignored.
    ///
    /// # Errors
    ///
    /// [`StopReason::SameReply`].
    pub fn note_reply(&mut self, text: &str) -> Result<(), StopReason> {
        let lines: Vec<&str> = text.lines().filter(|line| ReplyTo::find(line).is_none()).collect();
        let reply = ContentHash::of(lines.join("\n").trim().as_bytes());
        if self.last_reply.replace(reply) == Some(reply) {
            return Err(StopReason::SameReply);
        }
        Ok(())
    }

    /// Records the results of a reply, which are empty if it was refused.
    ///
    /// A changed file, a command that ran, and a new read are effects.
    ///
    /// # Errors
    ///
    /// [`StopReason::NoEffect`].
    pub fn note_results(&mut self, results: &[CommandResult]) -> Result<(), StopReason> {
        let mut has_effect = false;
        for result in results {
            has_effect |= self.note_result(result);
        }
        self.idle_rounds = if has_effect { 0 } else { self.idle_rounds + 1 };
        if self.idle_rounds >= MOST_IDLE_ROUNDS { Err(StopReason::NoEffect) } else { Ok(()) }
    }

    fn note_result(&mut self, result: &CommandResult) -> bool {
        let CommandType::Block(kind) = result.command_type else { return false };
        match kind {
            BlockKind::CreateFile | BlockKind::EditFile | BlockKind::DeleteFile => {
                self.totals.edits += usize::from(result.success);
                result.success
            }
            // A failed command informs the model if it ran.
            BlockKind::RunCommand => {
                let first_line = result.summary.lines().next().unwrap_or_default();
                let has_run = result.success || !result.text().is_empty();
                if has_run {
                    self.totals.commands += 1;
                    if runs_tests(first_line) {
                        self.totals.last_test = Some(first_line.to_owned());
                    }
                    self.totals.last_command = Some(first_line.to_owned());
                }
                has_run
            }
            BlockKind::ReadFile => {
                result.success && self.reads.insert(ContentHash::of(result.summary.as_bytes()))
            }
            BlockKind::StopProcess | BlockKind::Done => result.success,
            BlockKind::Message => false,
        }
    }

    /// Returns the totals of the replies so far.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}

/// Checks whether a command runs tests, by its words: `make test`, `npm run test:unit`, `sh test.sh`, `pytest`, `cargo nextest`.
fn runs_tests(command: &str) -> bool {
    let words = command.split(|one: char| !one.is_ascii_alphanumeric());
    words.map(str::to_ascii_lowercase).any(|word| TEST_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(kind: BlockKind, summary: &str, success: bool) -> CommandResult {
        CommandResult {
            command_type: CommandType::Block(kind),
            summary: summary.to_owned(),
            success,
            output: String::new(),
            notes: Vec::new(),
            denied: Vec::new(),
        }
    }

    #[test]
    fn rounds_are_counted_and_used_up() {
        let mut rounds = Unattended::new(2);
        assert_eq!([rounds.begin_round(), rounds.begin_round()], [Ok(1), Ok(2)]);
        assert_eq!(rounds.begin_round(), Err(StopReason::RoundsUsedUp(2)));
        assert_eq!(rounds.totals().rounds, 2);
        assert_eq!(Unattended::new(0).begin_round(), Err(StopReason::RoundsUsedUp(0)));
    }

    #[test]
    fn a_reply_is_the_same_for_any_message_it_answers() {
        let mut rounds = Unattended::new(9);
        assert_eq!(rounds.note_reply("Reply-To: b4e2a651-1\n[DONE]\n[/DONE]\n"), Ok(()));
        assert_eq!(rounds.note_reply("Reply-To: b4e2a651-2\n[DONE]\n[/DONE]"), Err(StopReason::SameReply));
        assert_eq!(rounds.note_reply("Reply-To: b4e2a651-2\nother"), Ok(()));
        assert_eq!(rounds.note_reply("Reply-To: b4e2a651-1\n[DONE]\n[/DONE]\n"), Ok(()), "not the last one");
    }

    #[test]
    fn three_rounds_without_an_effect_end_the_loop() {
        let read = result(BlockKind::ReadFile, "Queued 'a' for next outbox", true);
        let message = result(BlockKind::Message, "hello", true);
        let refused = result(BlockKind::EditFile, "Failed to edit 'a'", false);
        let mut rounds = Unattended::new(9);
        assert_eq!(rounds.note_results(std::slice::from_ref(&read)), Ok(()), "the first read has an effect");
        assert_eq!(rounds.note_results(&[read.clone(), message]), Ok(()));
        assert_eq!(rounds.note_results(&[refused]), Ok(()));
        assert_eq!(rounds.note_results(&[]), Err(StopReason::NoEffect));
        // An effect resets the count.
        let mut rounds = Unattended::new(9);
        let run =
            CommandResult { output: "1 failed".into(), ..result(BlockKind::RunCommand, "Ran 'test'", false) };
        let edit = result(BlockKind::EditFile, "Edited 'a'", true);
        for effect in [&run, &edit] {
            assert_eq!([rounds.note_results(&[]), rounds.note_results(&[])], [Ok(()), Ok(())]);
            assert_eq!(rounds.note_results(std::slice::from_ref(effect)), Ok(()));
        }
        let last = Some("Ran 'test'".to_owned());
        let expected =
            Totals { rounds: 0, edits: 1, commands: 1, last_command: last.clone(), last_test: last };
        assert_eq!(rounds.totals(), &expected);
    }

    #[test]
    fn the_last_test_is_kept_in_addition_to_the_last_command() {
        let mut rounds = Unattended::new(9);
        for command in ["make test", "ls contest latest"] {
            let result = result(BlockKind::RunCommand, &format!("Ran '{command}' (exit code 0)"), true);
            assert_eq!(rounds.note_results(&[result]), Ok(()));
        }
        let Totals { last_test, last_command, .. } = rounds.totals();
        assert_eq!(last_test.as_deref(), Some("Ran 'make test' (exit code 0)"));
        assert_eq!(last_command.as_deref(), Some("Ran 'ls contest latest' (exit code 0)"));
        for command in
            ["cargo nextest run", "npm run test:unit", "python3 -m unittest", "sh test.sh", "./run_tests"]
        {
            assert!(runs_tests(command), "{command}");
        }
    }
}
