//! Lines of input within a bound.

use std::io::BufReader;

use proptest::prelude::*;
use workspace_host::line_input::{Line, read_line};

proptest! {
    #[test]
    fn lines_are_those_between_line_feeds_and_long_ones_are_skipped(
        text in "[a\n]{0,60}",
        limit in 0..8_usize,
        buffer_bytes in 1..9_usize,
    ) {
        let mut input = BufReader::with_capacity(buffer_bytes, text.as_bytes());
        let mut buffer = Vec::new();
        let mut lines = Vec::new();
        loop {
            match read_line(&mut input, &mut buffer, limit as u64).unwrap() {
                Line::End => break,
                Line::TooLong => lines.push(None),
                Line::Whole => lines.push(Some(String::from_utf8(buffer.clone()).unwrap())),
            }
            prop_assert!(buffer.len() <= limit);
        }
        let expected: Vec<Option<String>> =
            text.lines().map(|line| (line.len() <= limit).then(|| line.to_owned())).collect();
        prop_assert_eq!(lines, expected);
    }
}
