//! Messages in parts.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use tagproto::{Dialect, LEAST_PASTE_CHARACTERS, Session, paste_parts};

const VECTORS: &str = include_str!("../../../../../fixtures/vectors/message-parts.json");

/// Returns the text of each part without the lines around it, which are checked.
fn texts(parts: &[String]) -> Vec<&str> {
    let count = parts.len();
    let of_part = |(index, part): (usize, &'_ String)| -> (usize, usize) {
        let number = index + 1;
        let which = if number == count { ", which is this one" } else { "" };
        let begin = format!("Part {number} of {count}: answer only after the last{which}\n\n");
        assert!(part.starts_with(&begin), "{part}");
        if number == count {
            return (begin.len(), part.len());
        }
        let end = format!("Part {number} of {count} ends here: answer only after the last\n");
        assert!(part.ends_with(&end), "{part}");
        (begin.len(), part.len() - end.len())
    };
    let ranges: Vec<_> = parts.iter().enumerate().map(of_part).collect();
    parts.iter().zip(ranges).map(|(part, (from, to))| &part[from..to]).collect()
}

fn message(lines: &Value) -> String {
    let mut text = String::new();
    for line in lines.as_array().unwrap() {
        let times = usize::try_from(line[1].as_u64().unwrap()).unwrap();
        text.push_str(&format!("{}\n", line[0].as_str().unwrap()).repeat(times));
        if line[2] == "open" {
            text.pop();
        }
    }
    text
}

#[test]
fn cases_hold() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 20);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let text = message(&case["input"]["lines"]);
        let limit = usize::try_from(case["input"]["limit"].as_u64().unwrap()).unwrap();
        let parts = paste_parts(&text, limit);
        let starts = case["expect"]["starts"].as_array().unwrap();
        assert_eq!(parts.len(), starts.len(), "{name}");
        assert_eq!(case["expect"]["parts"], starts.len(), "{name}");
        if let [part] = &parts[..] {
            assert_eq!(*part, text, "{name}");
            continue;
        }
        let texts = texts(&parts);
        assert_eq!(texts.concat(), text, "{name}");
        for (text, start) in texts.iter().zip(starts) {
            assert_eq!(text.lines().next(), start.as_str(), "{name}");
        }
    }
}

#[test]
fn session_names_the_files_of_parts() {
    let new = Session::new("a1b2c3d4".parse().unwrap(), "task", "now", Dialect::Agentd, None);
    let text = "0123456789\n".repeat(400);
    assert_eq!(new.outbox_parts(&text), []);
    let session = Session { paste_characters: Some(2_000), ..new };
    let parts = session.outbox_parts(&text);
    let names: Vec<_> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["a1b2c3d4_seq0001_part1of3.txt", "a1b2c3d4_seq0001_part2of3.txt", "a1b2c3d4_seq0001_part3of3.txt"]
    );
    assert_eq!(session.outbox_parts(&text[..1_000]), []);
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zé ]{0,120}",
        1 => Just("## Requested File Contents".to_owned()),
        1 => Just("## Previous Command Results".to_owned()),
        1 => Just("=== PROMPT ===".to_owned()),
        1 => Just("[OK] RUN_COMMAND: x".to_owned()),
        1 => Just("--- a.rs ---".to_owned()),
        1 => Just("--- end a.rs ---".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn parts_make_up_the_message_and_keep_the_limit(
        lines in vec(line(), 0..400),
        limit in LEAST_PASTE_CHARACTERS..6_000,
        is_open in any::<bool>(),
    ) {
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if is_open {
            text.pop();
        }
        let parts = paste_parts(&text, limit);
        if let [part] = &parts[..] {
            prop_assert_eq!(part, &text);
            prop_assert!(text.chars().count() <= limit);
        } else {
            prop_assert_eq!(texts(&parts).concat(), text);
            prop_assert!(parts.iter().all(|part| part.chars().count() <= limit));
        }
    }
}
