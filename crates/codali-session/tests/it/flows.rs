//! The whole flow: plan, edits and verdict, round after round, resumed after any interruption.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use codali_envelope::Role;
use codali_envelope::critic::{CriticStatus, ReasonCode};
use codali_envelope::history::{BytesPerToken, Message, Summarizer, SummaryError, TokenCounter};
use codali_session::{FlowError, FlowEvent};
use model_program::ModelProgram;

use crate::flow_bench::Bench;

const ASKS: &str = "I need the file.\n\nAGENT_REQUEST v1\nrole: architect\nrequest_id: a-1\nneeds:\n  - type: file.read\n    path: src/a.rs\n";
const PLAN: &str = "Rename old_name in src/a.rs.\n\nplan_targets:\n  - src/a.rs\n";
const BUILDER_ASKS: &str =
    "AGENT_REQUEST v1\nrole: builder\nneeds:\n  - type: docdex.symbols\n    file: src/a.rs\n";
const EDIT: &str = "Here it is.\nEDIT src/a.rs\n";
const CRITIC_ASKS: &str = "AGENT_REQUEST v1\nrole: critic\nrequest_id: c-1\nneeds:\n  - type: command.output\n  - type: file.read\n    path: src/a.rs\n";
const SUMMARY: &str = "The function has its new name.";

/// A flow in which every kind of step occurs, in two rounds.
fn long_flow() -> Bench {
    let mut bench = Bench::new(&[
        ("librarian", "AGENT_REQUEST v1\nneeds:\n  - type: docdex.search\n    query: old_name\n"),
        ("librarian", "src/a.rs defines old_name."),
        ("architect", ASKS),
        ("architect", PLAN),
        ("builder", BUILDER_ASKS),
        ("builder", "BREAK src/a.rs\n"),
        ("builder", EDIT),
        ("critic", CRITIC_ASKS),
        ("critic", "FAIL\n- the comment still says old_name\n"),
        ("architect", PLAN),
        ("builder", EDIT),
        ("critic", "PASS"),
        ("architect", SUMMARY),
    ]);
    bench.settings.test = Some("sh test.sh".to_owned());
    bench
}

#[test]
fn a_flow_goes_from_the_task_to_pass() {
    let bench = long_flow();
    let end = bench.run().unwrap();
    assert_eq!((end.result.status, end.rounds, end.summary.as_str()), (CriticStatus::Pass, 2, SUMMARY));
    assert_eq!(*bench.finished.borrow(), [SUMMARY]);
    // The critic's request: the output of the command, and the file.
    let critic = bench.prompts_of("critic");
    assert!(
        critic[1].contains("two tests were run") && critic[1].contains("pub fn old_name"),
        "{}",
        critic[1]
    );
    let builder = bench.prompts_of("builder");
    assert!(builder[0].contains("=== The plan ===\nRename old_name") && builder[0].contains("EDIT PATH"));
    assert!(builder[2].contains("FAILED: Failed to edit 'src/a.rs'") && builder[2].contains("once more"));
}

#[test]
fn every_call_has_the_whole_history_before_it() {
    let bench = long_flow();
    bench.run().unwrap();
    let prompts = bench.prompts.borrow();
    let mut said: Vec<&str> = vec!["rename it"];
    let replies = [
        "query: old_name",
        "src/a.rs defines old_name.",
        "I need the file.",
        "Rename old_name in src/a.rs.",
        "docdex.symbols",
        "BREAK src/a.rs",
        "EDIT src/a.rs",
        "command.output",
        "the comment still says old_name",
    ];
    for ((_, prompt), reply) in prompts.iter().zip(replies) {
        for text in &said {
            assert!(prompt.contains(text), "'{text}' is missing:\n{prompt}");
        }
        said.push(reply);
    }
    let first = &prompts[0].1;
    assert!(first.starts_with("You are the librarian.") && first.contains("docdex.impact"), "{first}");
}

#[test]
fn the_result_reaches_the_architect_even_if_it_is_pass() {
    let bench = long_flow();
    bench.run().unwrap();
    let architect = bench.prompts_of("architect");
    let (again, closing) = (&architect[2], &architect[3]);
    assert!(again.contains("request_id: critic-1") && again.contains("status: FAIL"), "{again}");
    assert!(again.contains("Address: the comment still says old_name") && again.contains("- critic_failed"));
    assert!(closing.contains("request_id: critic-2") && closing.contains("status: PASS"), "{closing}");
}

#[test]
fn a_failure_goes_round_again_until_the_rounds_are_used_up() {
    let other = "EDIT b.rs\n";
    let mut bench = Bench::new(&[
        ("architect", PLAN),
        ("architect", PLAN),
        ("builder", other),
        ("builder", "EDIT c.rs\n"),
    ]);
    bench.rounds = 2;
    bench.settings.allowed = vec!["src".to_owned(), "b.rs".to_owned()];
    let end = bench.run().unwrap();
    assert_eq!((end.result.status, end.rounds), (CriticStatus::Fail, 2));
    assert_eq!(end.result.reasons, ["touched files outside allowed paths: c.rs"]);
    assert_eq!(bench.prompts_of("architect").len(), 2, "no call after the last round");
    assert!(bench.finished.borrow().is_empty());
    // More rounds continue where it ended.
    bench.rounds = 3;
    bench.settings.has_critic = false;
    let resumed = bench.run_with_more(&[
        ("architect", PLAN),
        ("builder", "REVERT c.rs\nREVERT b.rs\nEDIT src/a.rs\n"),
        ("architect", SUMMARY),
    ]);
    assert_eq!(resumed.unwrap().result.status, CriticStatus::Pass);
}

#[test]
fn edits_that_are_all_refused_are_given_up_after_the_second_time() {
    let refused = "BREAK src/a.rs\n";
    let bench = Bench::new(&[("architect", PLAN), ("builder", refused), ("builder", refused)]);
    let error = bench.run().unwrap_err();
    assert!(matches!(&error, FlowError::EditsRefused { reason } if reason.contains("not there")), "{error}");
    let prompts = bench.prompts_of("builder");
    assert_eq!(prompts.len(), 2);
    assert!(
        prompts[1].contains("FAILED: Failed to edit 'src/a.rs': the text is not there"),
        "{}",
        prompts[1]
    );
    // A reply without an edit counts as refused, and an applied part is judged.
    let bench = Bench::new(&[("architect", PLAN), ("builder", "I would edit it."), ("builder", "Really.")]);
    assert!(bench.run().unwrap_err().to_string().contains("the reply holds no edit"));
    let partly = format!("{EDIT}{refused}");
    let bench = Bench::new(&[
        ("architect", PLAN),
        ("builder", &partly),
        ("builder", refused),
        ("architect", SUMMARY),
    ]);
    assert_eq!(bench.run().unwrap().result.status, CriticStatus::Pass);
}

#[test]
fn the_check_wins_over_a_critic_that_says_pass() {
    let replies = [("architect", PLAN), ("builder", "EDIT b.rs\n"), ("critic", "PASS: very good")];
    let mut bench = Bench::new(&replies);
    bench.rounds = 1;
    let end = bench.run().unwrap();
    assert_eq!(end.result.status, CriticStatus::Fail);
    assert_eq!(end.result.reasons.last().unwrap(), "the critic agent said PASS: the check wins");
    assert_eq!(end.result.guardrail.unwrap().reason_code, ReasonCode::ScopeViolation);
    let events = bench.events.borrow();
    assert!(matches!(events.last(), Some(FlowEvent::Judged { is_contradicted: true, .. })), "{events:?}");
}

#[test]
fn a_critic_without_a_verdict_is_asked_once_more_and_then_fails() {
    let replies = [("architect", PLAN), ("builder", EDIT), ("critic", "Hm."), ("critic", "Well.")];
    let mut bench = Bench::new(&replies);
    bench.rounds = 1;
    let end = bench.run().unwrap();
    assert_eq!(end.result.reasons, ["the critic agent gave no verdict"]);
    assert!(bench.prompts_of("critic")[1].contains("its first line must be PASS or FAIL"));
}

#[test]
fn a_command_that_fails_fails_the_round() {
    let mut bench = Bench::new(&[("architect", PLAN), ("builder", EDIT)]);
    bench.rounds = 1;
    bench.settings.test = Some("make test".to_owned());
    bench.test_succeeds.set(false);
    let end = bench.run().unwrap();
    assert_eq!(end.result.reasons, ["the command `make test` has failed: exit code 1"]);
}

#[test]
fn an_architect_without_targets_is_asked_once_more_and_then_given_up() {
    let bench = Bench::new(&[("architect", "Rename it."), ("architect", "I said: rename it.")]);
    assert!(matches!(bench.run(), Err(FlowError::NoTargets)));
    assert!(bench.prompts_of("architect")[1].contains("the plan names no files"));
    let bench = Bench::new(&[
        ("architect", "Rename it."),
        ("architect", PLAN),
        ("builder", EDIT),
        ("architect", "ok"),
    ]);
    assert_eq!(bench.run().unwrap().result.status, CriticStatus::Pass);
}

#[test]
fn an_agent_that_only_asks_is_given_up() {
    let asks = vec![("architect", ASKS); 20];
    let bench = Bench::new(&asks);
    let error = bench.run().unwrap_err();
    assert!(matches!(error, FlowError::TooManyRequests { requests: 16, .. }), "{error}");
    assert_eq!(bench.prompts.borrow().len(), 17);
}

#[test]
fn a_request_that_an_edit_quotes_is_not_answered() {
    let quoting = format!("EDIT src/a.rs\n{ASKS}");
    let bench = Bench::new(&[("architect", PLAN), ("builder", &quoting), ("architect", "ok")]);
    assert_eq!(bench.run().unwrap().result.status, CriticStatus::Pass);
}

#[test]
fn a_crash_at_any_call_costs_no_answer_and_repeats_no_run() {
    let reference = long_flow();
    let end = reference.run().unwrap();
    let (calls, names) = (reference.calls.get(), reference.step_names());
    assert!(calls > 20, "{calls}");
    for crash in 1..=calls {
        for has_effect in [false, true] {
            let bench = long_flow();
            bench.crash_at.set(Some((crash, has_effect)));
            bench.run().unwrap_err();
            bench.crash_at.set(None);
            // The script panics if an agent is asked for a reply that it already gave.
            assert_eq!(bench.run().unwrap(), end, "crash at call {crash}");
            assert_eq!(bench.step_names(), names, "crash at call {crash}");
            assert!(bench.effects.borrow().values().all(|times| *times == 1), "crash at call {crash}");
            assert_eq!(bench.finished.borrow().len(), 1, "crash at call {crash}");
            let calls_made = bench.prompts.borrow().len();
            let lost = calls_made - reference.prompts.borrow().len();
            assert!(lost <= usize::from(has_effect), "crash at call {crash}: {lost} asked again");
        }
    }
    // A finished flow neither asks nor does anything.
    reference.prompts.borrow_mut().clear();
    assert_eq!(reference.run().unwrap(), end);
    assert_eq!((reference.calls.get(), reference.prompts.borrow().len()), (calls, 0));
}

#[test]
fn steps_of_another_flow_are_refused() {
    let mut bench = long_flow();
    bench.run().unwrap();
    bench.settings.has_librarian = false;
    let error = bench.run().unwrap_err().to_string();
    assert_eq!(error, "step 1 of the flow is 0001-librarian.txt, and 0001-architect.txt is expected");
    bench.settings.has_librarian = true;
    std::fs::write(bench.steps_path().join("0001-librarian.txt"), [0xff, 0xfe]).unwrap();
    assert_eq!(bench.run().unwrap_err().to_string(), "step 1 of the flow is damaged");
}

#[test]
fn steps_are_not_read_through_a_link() {
    let bench = long_flow();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), bench.steps_path()).unwrap();
    assert!(matches!(bench.run(), Err(FlowError::Step(_))));
    assert_eq!(bench.prompts.borrow().len(), 0);
}

#[test]
fn steps_are_for_the_user_alone() {
    let bench = long_flow();
    bench.run().unwrap();
    for step in std::fs::read_dir(bench.steps_path()).unwrap() {
        let mode = step.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_cancelled_flow_stops_and_resumes() {
    let bench = long_flow();
    bench.cancel.cancel();
    assert!(matches!(bench.run(), Err(FlowError::Cancelled)));
    assert_eq!((bench.calls.get(), bench.prompts.borrow().len()), (0, 0));
}

/// Counts the requested summaries.
struct Counting(u32);

impl Summarizer for Counting {
    fn summarize(&mut self, messages: &[Message], _: u64) -> Result<String, SummaryError> {
        self.0 += 1;
        Ok(format!("{} messages, in short", messages.len()))
    }
}

#[test]
fn prompts_stay_within_nine_tenths_of_the_window_and_summaries_are_kept() {
    let long = |text: &str| format!("{}{text}", "All of this has to be considered. ".repeat(60));
    let (first, second) = (long(ASKS), long(PLAN));
    let replies = [("architect", first.as_str()), ("architect", &first), ("architect", &first)];
    let mut bench = Bench::new(&replies);
    bench.settings.context_tokens = 2_600;
    let rest = [("architect", second.as_str()), ("builder", EDIT), ("architect", SUMMARY)];
    let mut summarizer = Counting(0);
    let end = bench.run_summarizing(&rest, &mut summarizer).unwrap();
    assert_eq!(end.result.status, CriticStatus::Pass);
    let summaries = summarizer.0;
    assert!(summaries > 0);
    for (role, prompt) in bench.prompts.borrow().iter() {
        let tokens = BytesPerToken.count(prompt);
        assert!(tokens <= 2_600 * 9 / 10, "{tokens} tokens for the {role}");
        assert!(prompt.contains("=== The task ===\nrename it\n"), "{prompt}");
    }
    assert!(bench.prompts_of("builder")[0].contains("messages, in short"));
    assert_eq!(bench.run_summarizing(&[], &mut summarizer).unwrap(), end);
    assert_eq!(summarizer.0, summaries, "no summary is asked for twice");
}

#[test]
fn a_window_that_is_too_small_for_the_task_is_an_error() {
    let mut bench = Bench::new(&[("architect", PLAN)]);
    bench.settings.context_tokens = 300;
    let error = bench.run().unwrap_err();
    assert!(matches!(error, FlowError::SmallWindow { limit_tokens: 300, .. }), "{error}");
}

#[test]
fn each_failure_of_a_program_stops_the_flow_and_it_is_asked_again() {
    let plan = "printf 'plan_targets:\\n- src/a.rs\\n'";
    let failing = format!("{plan}; exit 1");
    let cases = [
        ("no-such-program-anywhere", "the program was not found (exit code 127)"),
        ("cat > /dev/null", "the program has printed nothing"),
        ("yes", "the program has printed more than 1000 bytes"),
        ("printf '\\377\\376'", "not UTF-8 text"),
        (&failing, "the program has failed: exit status: 1"),
        ("sleep 600", "the program takes longer than 0.3 s"),
    ];
    for (command, reason) in cases {
        let bench = Bench::new(&[("builder", EDIT)]);
        let run = |command: &str, millis| {
            let program = ModelProgram::new(command, Duration::from_millis(millis), 1_000);
            bench.run_with_architect(&program)
        };
        // Ample time for all but the call that never ends.
        let millis = if command.starts_with("sleep") { 300 } else { 60_000 };
        let error = run(command, millis).unwrap_err();
        assert!(matches!(&error, FlowError::Agent { role: Role::Architect, .. }), "{error}");
        assert!(error.to_string().contains(reason), "{command}: {error}");
        assert!(bench.step_names().is_empty(), "{command}: nothing of it is used");
        assert_eq!(run(plan, 60_000).unwrap().result.status, CriticStatus::Pass, "{command}");
    }
}
