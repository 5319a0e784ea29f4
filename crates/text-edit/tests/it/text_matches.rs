//! Search texts against a plain model, and properties of every edit by text.

use proptest::prelude::*;
use text_edit::{
    EditErrorKind, EditLimits, MatchRule, NoMatch, Numbering, Operation, SearchText, Source, apply, find_text,
};

/// Lines of few letters with any ending, so that texts occur often, overlap, and end in every way.
fn text() -> impl Strategy<Value = String> {
    let line = "(a|b| a|a |\ta|“|)";
    (prop::collection::vec((line, prop::sample::select(vec!["\n", "\r\n"])), 0..7), line).prop_map(
        |(lines, last)| {
            let lines: String = lines.into_iter().map(|(line, ending)| format!("{line}{ending}")).collect();
            format!("{lines}{last}")
        },
    )
}

fn search() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("(a|b| a|a |\ta|\"|)", 1..4)
}

/// Returns the indexes of all lines at which `lines` occur, including overlapping ones.
fn positions(source: &Source<'_>, lines: &[String]) -> Vec<usize> {
    let present: Vec<String> =
        (1..=source.total_lines()).map(|number| source.line_text(number).unwrap().into_owned()).collect();
    let last = (present.len() + 1).saturating_sub(lines.len());
    (0..last).filter(|start| present[*start..].starts_with(lines)).collect()
}

proptest! {
    #[test]
    fn an_exact_match_is_the_only_position_of_its_lines(text in text(), lines in search()) {
        let source = Source::parse(text.as_bytes()).unwrap();
        let wanted = SearchText::of_lines(&format!("{}\n", lines.join("\n")));
        let positions = positions(&source, &lines);
        let answer = find_text(&source, &wanted, &MatchRule::STRICT, None);
        match (answer, positions.as_slice()) {
            (Ok(passage), [only]) => prop_assert_eq!(passage.lines, only + 1..=only + lines.len()),
            (Err(NoMatch::Occurs { count, line_numbers, .. }), [first, _, ..]) => {
                prop_assert!(count >= 2 && count <= positions.len());
                prop_assert_eq!(line_numbers[0], first + 1);
                prop_assert!(line_numbers.iter().all(|number| positions.contains(&(number - 1))));
            }
            (Err(NoMatch::Absent { .. }), []) => {}
            (Err(NoMatch::Empty), _) => prop_assert!(wanted.is_empty()),
            (answer, positions) => prop_assert!(false, "{answer:?} for {positions:?}"),
        }
    }

    #[test]
    fn a_loose_match_differs_by_whitespace_and_quotes_only(text in text(), lines in search()) {
        let source = Source::parse(text.as_bytes()).unwrap();
        let wanted = SearchText::of_lines(&format!("{}\n", lines.join("\n")));
        if let Ok(passage) = find_text(&source, &wanted, &MatchRule::ALL, None) {
            let bare = |line: &str| line.trim().replace('“', "\"");
            for (number, line) in passage.lines.clone().zip(&lines) {
                prop_assert_eq!(bare(&source.line_text(number).unwrap()), bare(line));
            }
        }
    }

    #[test]
    fn lines_outside_of_the_match_keep_their_bytes(text in text(), lines in search(), new in search()) {
        let operation = Operation::ReplaceText {
            search: SearchText::of_lines(&format!("{}\n", lines.join("\n"))),
            replacement: format!("{}\n", new.join("\n")),
            expected: 1,
            within: None,
        };
        let source = Source::parse(text.as_bytes()).unwrap();
        if let Ok(edited) = apply(text.as_bytes(), &[operation], Numbering::Original, &EditLimits::default()) {
            let [outcome] = edited.texts.as_slice() else { panic!("one operation has one outcome") };
            if outcome.already_applied {
                prop_assert_eq!(&edited.bytes, text.as_bytes());
            } else {
                let passage = outcome.lines[0].clone();
                let before = source.line_span(*passage.start()).map_or(0, |span| span.start);
                prop_assert_eq!(&edited.bytes[..before], &text.as_bytes()[..before]);
                let after = source.line_span(passage.end() + 1).map_or(text.len(), |span| span.start);
                prop_assert!(edited.bytes.ends_with(&text.as_bytes()[after..]));
            }
        }
    }

    #[test]
    fn an_expected_number_of_occurrences_is_replaced_as_a_string(text in "[ab\n]{0,12}", old in "[ab\n]{1,3}", new in "[bc$\n]{0,3}") {
        let count = text.matches(old.as_str()).count();
        prop_assume!(count > 1);
        let operation = Operation::ReplaceText {
            search: SearchText::anywhere(&old),
            replacement: new.clone(),
            expected: count,
            within: None,
        };
        let edited = apply(text.as_bytes(), &[operation], Numbering::Original, &EditLimits::default()).unwrap();
        prop_assert_eq!(String::from_utf8(edited.bytes).unwrap(), text.replace(old.as_str(), &new));
    }

    #[test]
    fn a_text_within_lines_is_replaced_as_a_string(text in "[abcde\n]{0,12}", old in "[ab\n]{1,3}", new in "[bc$\n]{0,3}") {
        let source = Source::parse(text.as_bytes()).unwrap();
        let wanted = SearchText::anywhere(&old);
        let Ok(passage) = find_text(&source, &wanted, &MatchRule::STRICT, None) else { return Ok(()) };
        // Apart from a missing ending of the last line, it occurs exactly.
        if !passage.rules.is_empty() {
            prop_assert!(old.ends_with('\n') && text.ends_with(old.trim_end_matches('\n')));
            return Ok(());
        }
        prop_assert_eq!(text.matches(old.as_str()).count(), 1);
        let operation = Operation::ReplaceText { search: wanted, replacement: new.clone(), expected: 1, within: None };
        let edited = apply(text.as_bytes(), &[operation], Numbering::Original, &EditLimits::default()).unwrap();
        let expected = text.replace(old.as_str(), &new);
        let got = String::from_utf8(edited.bytes).unwrap();
        // A text without a last line feed gets none, and a blank last line keeps its own.
        prop_assert_eq!(got.trim_end_matches('\n'), expected.trim_end_matches('\n'));
    }
}

/// Bytes of which some are undecodable, with or without a mark, and with any line endings.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b"ab",
        b"\xe9",
        b"\xc3\xa9",
        b"\r",
        b"\n",
        b"\r\n",
        b"\t",
    ]);
    (any::<bool>(), prop::collection::vec(piece, 0..14)).prop_map(|(has_mark, pieces)| {
        let mark = if has_mark { &b"\xef\xbb\xbf"[..] } else { b"" };
        [mark, &pieces.concat()].concat()
    })
}

proptest! {
    #[test]
    fn a_text_within_a_line_is_replaced_and_no_other_byte(bytes in bytes(), search in "[ab]{1,3}", new in "[xy]{0,3}") {
        let positions: Vec<usize> =
            (0..bytes.len()).filter(|at| bytes[*at..].starts_with(search.as_bytes())).collect();
        let operation = Operation::ReplaceText {
            search: SearchText::anywhere(&search),
            replacement: new.clone(),
            expected: 1,
            within: None,
        };
        let edited = apply(&bytes, &[operation], Numbering::Original, &EditLimits::default());
        match positions[..] {
            [at] => {
                let expected = [&bytes[..at], new.as_bytes(), &bytes[at + search.len()..]].concat();
                prop_assert_eq!(edited.unwrap().bytes, expected);
            }
            // A text that occurs with a difference is not the subject here.
            [] => {}
            _ => prop_assert!(edited.is_err()),
        }
    }
}

#[test]
fn each_line_that_leads_to_a_text_counts_as_work() {
    let lines: String = (0..8000).map(|number| format!("a {number}\n")).collect();
    let text = format!("{lines}end\n");
    let edited = |anchors: usize| {
        let operation = Operation::ReplaceText {
            search: SearchText::of_lines("end\n").after(vec!["a".to_owned(); anchors]),
            replacement: "END\n".to_owned(),
            expected: 1,
            within: None,
        };
        apply(text.as_bytes(), &[operation], Numbering::Original, &EditLimits::default())
    };
    assert_eq!(edited(16).unwrap().bytes, format!("{lines}END\n").into_bytes());
    assert!(matches!(edited(4000).unwrap_err().kind, EditErrorKind::TooMuchWork { .. }));
}
