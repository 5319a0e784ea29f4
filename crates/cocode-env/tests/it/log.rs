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
