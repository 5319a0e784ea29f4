//! Lines that are cut in the middle of a secret.

use std::sync::Arc;

use secret_placeholders::StreamMask;
use wap_core::{
    ExecuteCommand, ModifyFile, ModifyOperation, QueryType, Reason, SearchFiles, Unobserved, WapError,
    Workspace, WorkspaceExt,
};

use crate::masking::{secrets, token};
use crate::over_workspace::{over, read, search, with_call};

/// The beginning of the token, which no cut may leave.
const PART: &str = "npm_a1B2";

#[test]
fn a_line_around_a_match_that_is_cut_shows_no_beginning_of_a_secret() {
    for padding in 958..1_000 {
        let long = format!("{} {}", "x".repeat(padding), token());
        let masked = over([("a.txt", format!("{long}\nneedle\n{long}\n"))]);
        let request = SearchFiles { context_lines: Some(1), ..search("needle", QueryType::Literal) };
        let hits = with_call(0, |call| masked.search_files(call, &request)).unwrap();
        assert_eq!(hits.matches[0].match_text, "needle");
        assert!(!format!("{hits:?}").contains(PART), "{padding}");
        assert!(hits.matches[0].context_before[0].len() >= 900, "{padding}");
    }
}

#[test]
fn a_cut_match_shows_no_beginning_of_a_secret_of_several_words_or_of_a_long_one() {
    let phrase = ["correct horse battery ", "staple and so on and on"].concat();
    let words = format!("{} password = \"{phrase}\"", "x".repeat(960));
    let long = format!("needle pypi-{}", "Ab3".repeat(500));
    for (line, part, query) in [(words, "correct", "xx"), (long, "Ab3Ab3", "needle")] {
        let masked = over([("a.txt", format!("{line}\n"))]);
        let hits =
            with_call(0, |call| masked.search_files(call, &search(query, QueryType::Literal))).unwrap();
        assert_eq!(hits.matches.len(), 1);
        assert!(!format!("{hits:?}").contains(part), "{hits:?}");
    }
}

#[test]
fn a_match_after_the_cut_of_a_line_with_a_secret_is_kept_and_one_within_the_secret_is_not() {
    let masked = over([("a.txt", format!("{} {} needle {}\n", token(), "x ".repeat(600), token()))]);
    for (query, count) in [("needle", 1), ("npm_a1B2", 0)] {
        let hits =
            with_call(0, |call| masked.search_files(call, &search(query, QueryType::Literal))).unwrap();
        assert_eq!(hits.matches.len(), count, "{query}");
        assert!(!format!("{hits:?}").contains(PART));
    }
}

#[test]
fn a_long_line_that_arrives_in_pieces_leaves_no_part_of_a_value_in_the_map() {
    let value = |at: usize| format!("pypi-{}{at}", "Ab3".repeat(4_000));
    let text = format!("{} {} {} {}", "x ".repeat(30_000), value(1), "y ".repeat(30_000), value(2));
    let secrets = Arc::new(secrets());
    let mut stream = StreamMask::new(&secrets);
    let mut visible: String = text.as_bytes().chunks(4_096).map(|bytes| stream.push(bytes)).collect();
    visible.push_str(&stream.finish());
    assert!(visible.contains("⟦secret:pypi-token:1⟧") && visible.contains("⟦secret:pypi-token:2⟧"));
    // The values are the only ones that have a placeholder.
    assert_eq!(secrets.restore("⟦secret:pypi-token:3⟧").unwrap(), "⟦secret:pypi-token:3⟧");
    assert_eq!(secrets.restore(&visible).unwrap(), text);
}

#[test]
fn a_cut_line_without_a_secret_is_shown_whole() {
    let masked = over([("a.txt", format!("{}\n", "長".repeat(1_200)))]);
    let hits = with_call(0, |call| masked.search_files(call, &search("長", QueryType::Literal))).unwrap();
    assert_eq!(hits.matches[0].match_text, "長".repeat(1_000));
}

#[test]
fn the_answer_to_an_edit_shows_no_beginning_of_a_secret() {
    for padding in [115, 120, 125, 140, 150] {
        let text = format!("one\n{} {}\nthree…\n", "x".repeat(padding), token());
        let masked = over([("a.txt", text)]);
        let request = ModifyFile {
            path: "a.txt".into(),
            operations: vec![ModifyOperation::Replace {
                start_line: 1,
                end_line: 1,
                new_content: "ONE".into(),
                was: None,
            }],
            ..ModifyFile::default()
        };
        let answer = with_call(1, |call| masked.modify_file(call, &request)).unwrap();
        let visible = answer.changed.unwrap().text;
        assert!(
            visible.contains("ONE") && visible.contains("xxxx") && visible.contains("three…"),
            "{visible}"
        );
        assert!(!visible.contains(PART), "{padding}: {visible}");
    }
}

#[test]
fn a_refused_edit_shows_no_beginning_of_a_secret_and_no_part_of_a_key_in_a_large_file() {
    let body: String = (0..40).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
    let boundary = |word| format!("-----{word} {}{}-----\n", "PRIVATE ", "KEY");
    // Before the key there is more than one reading of the file returns.
    let before: String = (0..30_000).map(|line| format!("{line} {}\n", "x ".repeat(20))).collect();
    let key = format!("{}{body}{}", boundary("BEGIN"), boundary("END"));
    let long = format!("{} {}\n", "x".repeat(380), token());
    let masked = over([("a.txt", format!("{before}{key}{long}"))]);
    for line in [30_020, 30_043] {
        let request = ModifyFile {
            path: "a.txt".into(),
            operations: vec![ModifyOperation::Replace {
                start_line: line,
                end_line: line,
                new_content: "new".into(),
                was: Some("another".into()),
            }],
            ..ModifyFile::default()
        };
        let step = u32::try_from(line).unwrap();
        let error = with_call(step, |call| masked.modify_file(call, &request)).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict);
        let visible = format!("{error:?}");
        assert!(visible.contains("30043|") || visible.contains("30020|"), "{visible}");
        assert!(!visible.contains("Ab3/") && !visible.contains(PART), "{line}: {visible}");
    }
}

#[test]
fn every_gap_of_an_output_shows_no_part_of_a_secret() {
    let gap = "\n… 5 bytes left out …\n";
    let masked = over([]);
    let token = token();
    let (head, tail) = token.split_at(20);
    let output = format!("quoted:{gap}and then {head}{gap}{tail} b");
    masked.inner().on_command("x", Err(WapError::new(Reason::Timeout, "late").with("stdout", output)));
    let request = ExecuteCommand { command: "x".into(), ..ExecuteCommand::default() };
    let error = with_call(1, |call| masked.execute_command(call, &request, &mut Unobserved)).unwrap_err();
    let visible = error.detail("stdout").unwrap().as_str().unwrap();
    assert!(!visible.contains(PART) && !visible.contains(tail), "{visible}");
    assert_eq!(visible.matches(gap).count(), 2, "{visible}");
}

#[test]
fn a_long_line_of_a_stream_is_not_divided_between_a_name_and_its_value() {
    let secrets = Arc::new(secrets());
    let mut stream = StreamMask::new(&secrets);
    let password = ["hunter", "2hunter", "2"].concat();
    let mut visible = stream.push(format!("{}password = ", "ab ".repeat(30_000)).as_bytes());
    visible.push_str(&stream.push(format!("'{password}' {}", "ab ".repeat(30_000)).as_bytes()));
    visible.push_str(&stream.finish());
    assert!(!visible.contains(&password));
}

#[test]
fn a_long_line_of_a_stream_hides_what_the_whole_line_hides() {
    let password = ["hunter", "2hunter", "2"].concat();
    let value = format!("\"password: '{password}' key {}\",", token());
    for (filler, chunk) in [("\"abc\", ", 4_096), ("x", 4_096), ("é ", 65_000), ("長", 1_000)] {
        for shift in [0, 3, 7, 11, 20] {
            let secrets = Arc::new(secrets());
            let mut line = "-".repeat(shift);
            while line.len() < 300_000 {
                line.push_str(&filler.repeat(4_000 / filler.len()));
                line.push_str(&value);
            }
            let mut stream = StreamMask::new(&secrets);
            let mut visible: String = line.as_bytes().chunks(chunk).map(|bytes| stream.push(bytes)).collect();
            let early = visible.len();
            visible.push_str(&stream.finish());
            assert!(early > 150_000, "{filler}: {early}");
            assert!(!visible.contains(&password[..8]) && !visible.contains(PART), "{filler} {shift}");
            assert_eq!(secrets.restore(&visible).unwrap(), line, "{filler} {shift}");
        }
    }
}

#[test]
fn a_large_piece_of_a_stream_that_ends_in_a_key_shows_nothing_of_it() {
    let body: String = (0..40).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
    let secrets = Arc::new(secrets());
    let mut stream = StreamMask::new(&secrets);
    let mut visible = stream.push(format!("{}{body}", "some words\n".repeat(7_000)).as_bytes());
    visible.push_str(&stream.push(format!("-----END {}{}-----\n", "PRIVATE ", "KEY").as_bytes()));
    visible.push_str(&stream.finish());
    assert!(!visible.contains("Ab3/"));
}

#[test]
fn a_whole_file_that_is_cut_shows_no_beginning_of_a_secret_of_several_words() {
    let phrase = ["correct horse battery ", "staple and so on and on"].concat();
    let most = 1_048_576;
    let masked = over([("a.txt", format!("{}password = \"{phrase}\"", "x ".repeat((most - 36) / 2)))]);
    let visible = read(&masked, "a.txt", Some((1, 1)));
    assert!(visible.len() > most - 200 && !visible.contains("correct"), "{}", &visible[visible.len() - 80..]);
}

#[test]
fn a_line_that_is_like_a_pattern_shows_no_beginning_of_a_secret() {
    for padding in [155, 170, 185] {
        let line = format!("needle {} {} {}", "x".repeat(padding), token(), "x".repeat(60));
        let masked = over([("a.txt", format!("one\n{line}\n"))]);
        let request = ModifyFile {
            path: "a.txt".into(),
            operations: vec![
                ModifyOperation::RegexReplace {
                    pattern: "needle nothing".into(),
                    replacement: "b".into(),
                    flags: None,
                },
                ModifyOperation::Delete { start_line: 1, end_line: 1, was: None },
            ],
            ..ModifyFile::default()
        };
        let answer = with_call(1, |call| masked.modify_file(call, &request)).unwrap();
        let nearest = &answer.replacements[0].nearest[0];
        assert!(nearest.text.starts_with("needle xxx") && nearest.text.ends_with('…'), "{nearest:?}");
        assert!(!nearest.text.contains(PART), "{nearest:?}");
    }
}
