//! The sizes of answers with placeholders.

use serde_json::json;
use wap_core::{
    ExecuteCommand, ExecuteCommandResponse, ReadFile, ReadFileResponse, Reason, Unobserved, WapError,
    Workspace,
};

use crate::over_workspace::{Masked, over, with_call};

/// A megabyte, which grows to several with placeholders.
const LINES: usize = 200_000;

fn answer(masked: &Masked, lines: Option<(i64, i64)>) -> ReadFileResponse {
    let request = ReadFile {
        path: "a.txt".into(),
        start_line: lines.map(|lines| lines.0),
        end_line: lines.map(|lines| lines.1),
        line_numbers: None,
    };
    with_call(0, |call| masked.read_file(call, &request)).unwrap()
}

#[test]
fn a_key_of_short_lines_is_read_in_parts() {
    let boundary = |word| format!("-----{word} {}{}-----\n", "PRIVATE ", "KEY");
    let text = format!("{}{}{}", boundary("BEGIN"), "abcd\n".repeat(LINES), boundary("END"));
    let masked = over([("a.txt", text.clone())]);
    let first = answer(&masked, None);
    assert!(first.is_truncated && first.content.len() <= text.len() + (1 << 20), "{}", first.content.len());
    assert!(first.content.ends_with("⟧\n") && !first.content.contains("abcd"));
    let lines = first.content.lines().count();
    assert_eq!((first.returned_lines, first.total_lines), (lines as u64, LINES as u64 + 2));
    // The next one begins where it ends.
    let next = i64::try_from(lines).unwrap() + 1;
    let second = answer(&masked, Some((next, next + 1)));
    assert_eq!((second.is_truncated, second.returned_lines), (false, 2));
    assert_eq!(second.content, "⟦secret:private-key:1⟧\n".repeat(2));
    // The control: lines without placeholders are read at once.
    let plain = answer(&over([("a.txt", "abcd\n".repeat(LINES))]), None);
    assert!(!plain.is_truncated && plain.returned_lines == LINES as u64);
}

#[test]
fn a_line_that_becomes_too_long_is_cut_between_its_placeholders() {
    let text = "pwd: 'postgres' ".repeat(60_000);
    let first = answer(&over([("a.txt", text.clone())]), None);
    assert!(first.is_truncated, "{}", first.content.len());
    assert!(first.content.len() <= text.len() + (1 << 20) && first.returned_lines == 1);
    let open = first.content.matches('⟦').count();
    assert!(open > 1_000 && open == first.content.matches('⟧').count());
}

/// The response to a command with an output of a megabyte.
fn ran(stdout: &str) -> ExecuteCommandResponse {
    let response = json!({
        "stdout": stdout, "stderr": "", "exitCode": 0, "isOutputTruncated": false, "durationMs": 5,
    });
    serde_json::from_value(response).unwrap()
}

fn run(outcome: Result<ExecuteCommandResponse, WapError>) -> Result<ExecuteCommandResponse, WapError> {
    let masked = over([]);
    masked.inner().on_command("x", outcome);
    let request = ExecuteCommand { command: "x".into(), ..ExecuteCommand::default() };
    with_call(1, |call| masked.execute_command(call, &request, &mut Unobserved))
}

#[test]
fn output_that_placeholders_make_too_long_is_cut_and_says_so() {
    let boundary = |word| format!("-----{word} {}{}-----\n", "PRIVATE ", "KEY");
    let body = format!("{}\n{}", "abcd".repeat(16), "abcd\n".repeat(LINES));
    let lines = format!("{}{body}last line\n", boundary("BEGIN"));
    let line = format!("first {}last line\n", "pwd: 'postgres' ".repeat(60_000));
    for text in [lines, line] {
        let late = WapError::new(Reason::Timeout, "late").with("stdout", text.as_str());
        let error = run(Err(late.with("isOutputTruncated", false))).unwrap_err();
        assert_eq!(error.detail("isOutputTruncated"), Some(&json!(true)));
        let response = run(Ok(ran(&text))).unwrap();
        assert!(response.is_output_truncated);
        assert_eq!(error.detail("stdout"), Some(&json!(response.stdout)));
        let visible = &response.stdout;
        assert!(visible.len() < text.len() + (1 << 20) + 200, "{}", visible.len());
        assert!(visible.len() > text.len(), "{}", visible.len());
        let open = visible.matches('⟦').count();
        assert!(open > 1_000 && open == visible.matches('⟧').count(), "{open}");
        assert!(!visible.contains("abcd") && !visible.contains("postgres"));
        assert!(visible.contains(" bytes left out, since placeholders make"));
        assert!(visible.ends_with("last line\n"), "{}", &visible[visible.len() - 60..]);
    }
    // The control: lines without placeholders are whole.
    let plain = "abcd\n".repeat(LINES);
    let response = run(Ok(ran(&plain))).unwrap();
    assert!(!response.is_output_truncated && response.stdout == plain);
}

#[test]
fn output_that_lacks_lines_next_to_gaps_says_so() {
    let log = |gap: &str| -> String {
        (1..=40)
            .map(|line| format!("test t passed\nresult {line} = ok\n{gap}{line} bytes left out\n"))
            .collect()
    };
    // A program's lines that look like gaps of the engine: which of them are gaps is unknown.
    let response = run(Ok(ran(&log("… ")))).unwrap();
    assert!(response.stdout.lines().count() < 120, "{}", response.stdout);
    assert!(response.is_output_truncated);
    let [warning] = &response.warnings[..] else { panic!("{:?}", response.warnings) };
    assert!(warning.contains("bytes left out"), "{warning}");
    let late = WapError::new(Reason::Timeout, "late").with("stdout", log("… "));
    let error = run(Err(late.with("isOutputTruncated", false))).unwrap_err();
    assert_eq!(error.detail("isOutputTruncated"), Some(&json!(true)));
    // The control: lines that begin with something else.
    let response = run(Ok(ran(&log("- ")))).unwrap();
    assert_eq!(
        (response.stdout, response.is_output_truncated, response.warnings),
        (log("- "), false, vec![])
    );
}
