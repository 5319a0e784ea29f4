//! The sizes of answers with placeholders.

use wap_core::{ReadFile, ReadFileResponse, Workspace};

use crate::over_workspace::{Masked, over, with_call};

/// A megabyte, which takes several as placeholders.
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
    // The control: lines that take no placeholder are read at once.
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
