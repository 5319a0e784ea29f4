//! Texts that try to be expensive.

use std::time::{Duration, Instant};

use codali_envelope::{ReadLimits, ReadOptions, Strictness, WarningCode, extract_request, read_request};

/// A hang guard: far longer than any of these tests takes.
const LONG: Duration = Duration::from_secs(60);

const LONG_TEXT_BYTES: usize = 1 << 18;

#[expect(clippy::disallowed_methods, reason = "a test guards itself against hanging")]
fn in_time<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    assert!(start.elapsed() < LONG);
    done
}

fn code(text: &str, strictness: Strictness) -> Option<WarningCode> {
    let read = in_time(|| read_request(text, &ReadOptions { strictness, ..ReadOptions::default() }));
    read.err().map(|error| error.code())
}

fn both(text: &str) -> [Option<WarningCode>; 2] {
    [code(text, Strictness::Tolerant), code(text, Strictness::Strict)]
}

#[test]
fn ten_megabytes_are_too_large() {
    let line = "  - type: file.read\n    path: a\n";
    let text = format!("AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n{}", line.repeat(10_000_000 / line.len()));
    assert_eq!(both(&text), [Some(WarningCode::TooLarge); 2]);
    let json = format!("{{\"request_id\": 1, \"needs\": [\"{}\"]}}", "x".repeat(10_000_000));
    assert_eq!(both(&json), [Some(WarningCode::TooLarge); 2]);
    // In a reply, ten megabytes of other text do not count.
    let reply = format!("{}\n\nAGENT_REQUEST v1\nrequest_id: 1\nneeds:\n{line}", "word ".repeat(2_000_000));
    assert_eq!(extract_request(&reply, &ReadOptions::default()).unwrap().request.needs.len(), 1);
}

#[test]
fn more_needs_than_are_read_are_too_many() {
    let request = |count: usize| {
        let needs = "  - type: file.read\n    path: a\n".repeat(count);
        both(&format!("AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n{needs}"))
    };
    assert_eq!(request(256), [None; 2]);
    assert_eq!(request(257), [Some(WarningCode::TooLarge); 2]);
}

#[test]
fn alias_bombs_have_no_effect() {
    let mut bomb =
        "a: &a [\"lol\",\"lol\",\"lol\",\"lol\",\"lol\",\"lol\",\"lol\",\"lol\",\"lol\"]\n".to_owned();
    for (one, next) in ('a'..='z').zip('b'..='z') {
        bomb.push_str(&format!("{next}: &{next} [{}]\n", vec![format!("*{one}"); 9].join(",")));
    }
    let text = format!("AGENT_REQUEST v1\nrequest_id: 1\n{bomb}needs:\n  - type: file.read\n    path: *z\n");
    assert_eq!(code(&text, Strictness::Strict), Some(WarningCode::InvalidYaml));
    let reading = read_request(&text, &ReadOptions::default()).unwrap();
    assert_eq!(serde_json::to_value(&reading.request.needs[0]).unwrap()["path"], "*z");
    // Nothing was multiplied.
    assert!(serde_json::to_string(&reading.request).unwrap().len() < 4 * text.len());
    let needs = format!("AGENT_REQUEST v1\nrequest_id: 1\n{bomb}needs: *z\n");
    assert_eq!(both(&needs), [Some(WarningCode::NoValidNeed), Some(WarningCode::InvalidYaml)]);
}

#[test]
fn deep_nesting_is_too_large() {
    let deep = 100_000;
    let brackets = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let maps = "{a: ".repeat(deep);
    let dashes = "- ".repeat(deep);
    let steps: String = (0..1_000).map(|step| format!("{}k:\n", " ".repeat(step))).collect();
    for value in [&brackets, &"[".repeat(deep), &maps, &dashes] {
        let text =
            format!("AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - type: file.read\n    path: {value}\n");
        assert_eq!(code(&text, Strictness::Tolerant), expected(value), "{}", &value[..4]);
        let refused = code(&text, Strictness::Strict);
        assert!(matches!(refused, Some(WarningCode::TooLarge | WarningCode::InvalidYaml)), "{}", &value[..4]);
    }
    for value in [&brackets, &"[".repeat(deep), &maps, &dashes, &steps] {
        let text = format!("AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n{value}\n");
        let refused = code(&text, Strictness::Tolerant);
        assert!(
            matches!(refused, Some(WarningCode::TooLarge | WarningCode::NoValidNeed)),
            "{refused:?} {}",
            &value[..4]
        );
    }
    let json = format!("{{\"request_id\":\"1\",\"needs\":{brackets}}}");
    assert_eq!(both(&json), [Some(WarningCode::TooLarge); 2]);
}

/// Returns the expected code: dashes after a key are a text, everything else is a collection.
fn expected(value: &str) -> Option<WarningCode> {
    if value.starts_with('-') { None } else { Some(WarningCode::TooLarge) }
}

#[test]
fn many_values_are_too_large() {
    let text = format!(
        "AGENT_REQUEST v1\nrequest_id: 1\nx: [{}]\nneeds:\n- {{type: file.read, path: a}}\n",
        "1,".repeat(20_000)
    );
    assert_eq!(both(&text), [Some(WarningCode::TooLarge); 2]);
    let lines = "  - 1: a: b\n".repeat(20_000);
    let text = format!("AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n{lines}");
    assert_eq!(code(&text, Strictness::Tolerant), Some(WarningCode::TooLarge));
}

#[test]
fn a_long_text_is_gone_through_once() {
    // A scan that restarts at each line would take many minutes.
    let request = |line: &str| {
        let head = "AGENT_REQUEST v1\nrequest_id: *1\nx:\n";
        format!("{head}{}", line.repeat((LONG_TEXT_BYTES - head.len()) / line.len()))
    };
    let reply = |line: &str| line.repeat(LONG_TEXT_BYTES / line.len());
    for text in [
        reply("{\"a\": [\n"),
        reply("> {\n"),
        reply("CODALI_RESPONSE v1\n\n"),
        reply("AGENT_REQUEST v1\n```\n"),
        request("# x\n"),
        request(" - \"a: b\n"),
        request(" - [a: b\n"),
        request("k: {a\n"),
        request("k: 'a\n"),
        request("k: |\n"),
        request("  b\n"),
        request("  what: \"is\n this\n"),
        request("```\n"),
        request("\n"),
        request("\t\n"),
        request(" - - - a\n"),
    ] {
        let limits = ReadLimits { values: usize::MAX, ..ReadLimits::for_requests() };
        let options = ReadOptions { limits, ..ReadOptions::default() };
        in_time(|| {
            let _ = extract_request(&text, &options);
            let _ = read_request(&text, &options);
            let _ = read_request(&text, &ReadOptions { strictness: Strictness::Strict, ..options.clone() });
        });
    }
}
