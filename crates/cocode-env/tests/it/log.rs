use cocode_env::{LINE_LIMIT_BYTES, LogLevel, LogLine, LogStream};
use proptest::prelude::*;

fn lines(pieces: &[&[u8]]) -> Vec<String> {
    let mut stream = LogStream::new();
    let mut lines = Vec::new();
    for piece in pieces {
        stream.push(piece, |line| lines.push(line.to_owned()));
    }
    stream.finish(|line| lines.push(line.to_owned()));
    lines
}

#[test]
fn structured_lines_keep_their_other_fields() {
    let line = LogLine::parse(r#"{"timestamp":"T","level":"WARN","message":"m","a":[1],"b":null}"#);
    assert_eq!(line.level, Some(LogLevel::Warn));
    assert_eq!(line.timestamp.as_deref(), Some("T"));
    assert_eq!(line.fields.len(), 2);
    let odd = LogLine::parse(r#"{"level":"loud","message":"m"}"#);
    assert_eq!((odd.level, odd.fields["level"].as_str()), (None, Some("loud")));
}

#[test]
fn other_text_becomes_the_message_verbatim() {
    for text in [r#"{"message":1}"#, r#"{"level":"info"}"#, "{", "[]", "[INFO", "INFO] x", "[1] x", "{}"] {
        let line = LogLine::parse(text);
        assert_eq!((line.level, line.message.as_str()), (None, text));
    }
}

#[test]
fn a_level_is_read_in_any_case_and_written_in_lower_case() {
    use LogLevel::{Debug, Error, Info, Trace, Warn};
    for (names, level) in [
        (&["trace"][..], Trace),
        (&["debug"], Debug),
        (&["info"], Info),
        (&["warn", "warning"], Warn),
        (&["error", "fatal", "critical"], Error),
    ] {
        for name in names {
            assert_eq!(LogLevel::from_name(&name.to_uppercase()), Some(level), "{name}");
            let line = LogLine::parse(&format!("[{name}] a message"));
            assert_eq!((line.level, &*line.message), (Some(level), "a message"));
        }
        assert_eq!((level.name(), level.to_string()), (names[0], names[0].to_owned()));
    }
    assert_eq!(LogLevel::from_name("note"), None);
}

#[test]
fn a_structured_line_may_want_attention() {
    for (line, wants_it) in [
        (r#"{"message": "m", "attention": true}"#, true),
        (r#"{"message": "m", "attention": false}"#, false),
        (r#"{"message": "m", "attention": "true"}"#, false),
        ("attention", false),
    ] {
        assert_eq!(LogLine::parse(line).wants_attention(), wants_it, "{line}");
    }
}

#[test]
fn lines_end_with_their_stream() {
    assert_eq!(lines(&[b"one\ntw", b"o\r\n", b"", b"\nrest"]), ["one", "two", "", "rest"]);
    assert_eq!(lines(&[b"one\n"]), ["one"]);
    assert_eq!(lines(&[]), Vec::<String>::new());
    assert_eq!(lines(&[b"\xff"]), ["\u{fffd}"]);
}

#[test]
fn a_long_line_is_cut_between_characters() {
    assert_eq!(LINE_LIMIT_BYTES, 65_536);
    // Each character lies across the limit in each possible way.
    for character in ["a", "ä", "€", "😀"] {
        for before in 1..=character.len() {
            let first = "x".repeat(LINE_LIMIT_BYTES - before);
            let split = lines(&[format!("{first}{character}rest\n").as_bytes()]);
            let is_whole = before == character.len();
            let expected = if is_whole {
                [format!("{first}{character}"), "rest".to_owned()]
            } else {
                [first, format!("{character}rest")]
            };
            assert_eq!(split, expected, "{character} after {before} bytes");
        }
    }
    // Bytes that are no character, nor the beginning of one, are not kept back.
    let bytes = [vec![b'x'; LINE_LIMIT_BYTES - 1], vec![0xff, b'y']].concat();
    assert_eq!(lines(&[&bytes]), ["x".repeat(LINE_LIMIT_BYTES - 1) + "\u{fffd}", "y".to_owned()]);
}

#[test]
fn a_line_over_the_limit_is_split() {
    let long = "ä".repeat(LINE_LIMIT_BYTES);
    let split = lines(&[long.as_bytes()]);
    assert!(split.iter().all(|line| line.len() <= LINE_LIMIT_BYTES && !line.contains('\u{fffd}')));
    assert_eq!(split.concat(), long);
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_lines(bytes in proptest::collection::vec(any::<u8>(), 0..400), cut in 0usize..400) {
        let cut = cut.min(bytes.len());
        let (first, second) = bytes.split_at(cut);
        prop_assert_eq!(lines(&[&bytes]), lines(&[first, second]));
    }

    #[test]
    fn any_cut_of_a_long_line_gives_the_same_lines(cut in 0usize..200_000, unit in "[aä€😀\u{ff}]{1,7}") {
        let bytes = unit.repeat(200_000 / unit.len()).into_bytes();
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        prop_assert_eq!(lines(&[&bytes]), lines(&[first, second]));
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,80}") {
        let line = LogLine::parse(&text);
        prop_assert!(line.message.len() <= text.len());
    }
}
