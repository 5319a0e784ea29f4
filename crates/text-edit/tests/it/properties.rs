//! Properties of any text and any operations.

use proptest::collection::vec;
use proptest::prelude::*;
use text_edit::{
    EditLimits, Encoding, ExcerptLimits, LineMap, Lines, Mapped, Numbering, Operation, Source,
    already_applied, apply, excerpt, rebase,
};

/// Texts with few different lines, any mixture of endings, with and without final newline, mark and
/// undecodable bytes.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => "[ab]{0,2}".prop_map(String::into_bytes),
        1 => Just("é😀".as_bytes().to_vec()),
        1 => Just(b"\xFFa".to_vec()),
        // Not at the end of a line: a carriage return there becomes part of a line feed's ending.
        1 => Just(b"a\rb".to_vec()),
    ];
    let ending = prop_oneof![3 => Just(&b"\n"[..]), 2 => Just(&b"\r\n"[..])];
    (any::<bool>(), vec((line, ending), 0..10), any::<bool>()).prop_map(|(mark, lines, final_newline)| {
        let mut bytes = if mark { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        let count = lines.len();
        for (nth, (line, ending)) in lines.into_iter().enumerate() {
            bytes.extend(line);
            if final_newline || nth + 1 < count {
                bytes.extend(ending);
            }
        }
        bytes
    })
}

/// The same in UTF-16, where the text can be encoded.
fn wide_text() -> impl Strategy<Value = Vec<u8>> {
    (text(), any::<bool>()).prop_map(|(bytes, big)| {
        let text = String::from_utf8_lossy(&bytes).replace('\u{FEFF}', "");
        let units = "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).collect::<Vec<_>>();
        let pairs =
            units.into_iter().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        pairs.collect()
    })
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => text(), 1 => wide_text()]
}

fn content() -> impl Strategy<Value = Lines> {
    vec("[abx]{0,2}", 0..4).prop_map(Lines::from_body)
}

fn line_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (1i64..11, 0i64..4, content()).prop_map(|(start_line, more, content)| Operation::Replace {
            start_line,
            end_line: start_line + more,
            content
        }),
        (0i64..12, content()).prop_map(|(after_line, content)| Operation::Insert { after_line, content }),
        (1i64..11, 0i64..4)
            .prop_map(|(start_line, more)| Operation::Delete { start_line, end_line: start_line + more }),
    ]
}

fn regex_operation() -> impl Strategy<Value = Operation> {
    let pattern = prop_oneof![
        Just("a"),
        Just("(a|b)"),
        Just("\\n"),
        Just("^"),
        Just("$"),
        Just(""),
        Just("b\\r?\\n"),
        Just(".+"),
        Just("[^a]"),
        Just("("),
        Just("(?=a)"),
        Just("a*\\n*"),
    ];
    let replacement =
        prop_oneof![Just("x"), Just(""), Just("$&"), Just("$&\n"), Just("$1"), Just("a\r\nb"), Just("é")];
    let flags = prop_oneof![Just(""), Just("g"), Just("gm"), Just("gs"), Just("q")];
    (pattern, replacement, flags).prop_map(|(pattern, replacement, flags)| Operation::RegexReplace {
        pattern: pattern.to_owned(),
        replacement: replacement.to_owned(),
        flags: flags.to_owned(),
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![3 => line_operation(), 1 => regex_operation()]
}

fn wild_operation() -> impl Strategy<Value = Operation> {
    let number = || prop_oneof![any::<i64>(), -2i64..20];
    prop_oneof![
        (number(), number(), any::<String>()).prop_map(|(start_line, end_line, content)| {
            Operation::Replace { start_line, end_line, content: Lines::from_content(&content) }
        }),
        (number(), any::<String>()).prop_map(|(after_line, content)| Operation::Insert {
            after_line,
            content: Lines::from_content(&content)
        }),
        (number(), number()).prop_map(|(start_line, end_line)| Operation::Delete { start_line, end_line }),
        ("[a\\\\()\\[\\]?<>$^.*+{}0-9,|]{0,8}", "[a$&{}<>0-9\n`']{0,8}", "[gims]{0,2}").prop_map(
            |(pattern, replacement, flags)| Operation::RegexReplace { pattern, replacement, flags }
        ),
    ]
}

/// The lines of a text that a line operation addresses, as 0-based half-open indexes.
fn position(operation: &Operation, total_lines: usize) -> (usize, usize) {
    let line = |number: i64| usize::try_from(number).unwrap().min(total_lines);
    match *operation {
        Operation::Replace { start_line, end_line, .. } | Operation::Delete { start_line, end_line } => {
            (line(start_line) - 1, line(end_line))
        }
        Operation::Insert { after_line, .. } => (line(after_line), line(after_line)),
        Operation::ReplaceText { .. } | Operation::RegexReplace { .. } => {
            unreachable!("only line operations have a position")
        }
    }
}

fn content_of(operation: &Operation) -> Vec<String> {
    match operation {
        Operation::Replace { content, .. } | Operation::Insert { content, .. } => {
            content.iter().map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn texts(source: &Source<'_>) -> Vec<String> {
    (1..=source.total_lines()).map(|line| source.line_text(line).unwrap().into_owned()).collect()
}

/// Every line that the map keeps has the same bytes in both texts.
fn check_kept(map: &LineMap, old: &Source<'_>, new: &Source<'_>) -> Result<(), TestCaseError> {
    prop_assert_eq!((map.old_lines(), map.new_lines()), (old.total_lines(), new.total_lines()));
    for line in 1..=old.total_lines() {
        if let Mapped::Kept(now) = map.map(line) {
            prop_assert_eq!(old.line_bytes(line), new.line_bytes(now));
        }
    }
    Ok(())
}

fn limits() -> EditLimits {
    EditLimits::default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn bytes_outside_the_edited_lines_are_the_same(source in any_text(), operation in line_operation()) {
        let old = Source::parse(&source).unwrap();
        let total = old.total_lines();
        let Ok(edited) = apply(&source, std::slice::from_ref(&operation), Numbering::Original, &limits())
        else { return Ok(()) };
        let (start, end) = position(&operation, total);
        let offset = |index: usize| old.line_span(index + 1).map_or(source.len(), |span| span.start);
        let (before, after) = (&source[..offset(start)], &source[offset(end)..]);
        if end < total {
            // Lines follow the edited ones: both sides stay byte for byte.
            prop_assert!(edited.bytes.starts_with(before));
            prop_assert!(edited.bytes[before.len()..].ends_with(after));
        } else {
            // At the end of the text only the last ending before the edit can come or go.
            let kept = if start == 0 { old.text_start() } else { old.text_start() + {
                let line = old.line_span(start).unwrap();
                line.start + old.line_bytes(start).unwrap().len() - old.text_start()
            } };
            prop_assert!(edited.bytes.starts_with(&source[..kept]));
        }
        let new = Source::parse(&edited.bytes).unwrap();
        let mut expected = texts(&old);
        expected.splice(start..end, content_of(&operation));
        prop_assert_eq!(texts(&new), expected);
        let ends_blank = texts(&new).last().is_none_or(|line| line.is_empty());
        if total > 0 && new.total_lines() > 0 && !ends_blank {
            prop_assert_eq!(old.format().final_newline, new.format().final_newline);
        }
        prop_assert_eq!(old.format().byte_order_mark, new.format().byte_order_mark);
    }

    #[test]
    fn one_operation_means_the_same_in_both_numberings(source in any_text(), operation in operation()) {
        let one = apply(&source, std::slice::from_ref(&operation), Numbering::Original, &limits());
        let other = apply(&source, &[operation], Numbering::Sequential, &limits());
        prop_assert_eq!(one, other);
    }

    #[test]
    fn operations_of_one_call_equal_single_calls_from_the_bottom(
        source in text(), operations in vec(line_operation(), 1..4),
    ) {
        let total = Source::parse(&source).unwrap().total_lines();
        let Ok(together) = apply(&source, &operations, Numbering::Original, &limits()) else { return Ok(()) };
        let mut order: Vec<usize> = (0..operations.len()).collect();
        order.sort_by_key(|index| (position(&operations[*index], total), *index));
        // An emptied text forgets its format between calls, so the sequence runs as one call.
        let from_bottom: Vec<Operation> = order.iter().rev().map(|index| {
            let mut operation = operations[*index].clone();
            // Here, past the end means the end of the original.
            if let Operation::Insert { after_line, .. } = &mut operation {
                *after_line = (*after_line).min(i64::try_from(total).unwrap());
            }
            if let Operation::Replace { end_line, .. } | Operation::Delete { end_line, .. } = &mut operation {
                *end_line = (*end_line).min(i64::try_from(total).unwrap());
            }
            operation
        }).collect();
        let apart = apply(&source, &from_bottom, Numbering::Sequential, &limits()).unwrap();
        let (one, other) = (Source::parse(&together.bytes).unwrap(), Source::parse(&apart.bytes).unwrap());
        prop_assert_eq!(texts(&one), texts(&other));
    }

    #[test]
    fn an_edit_is_undone_by_the_edit_of_its_hunks(
        source in text(), operations in vec(operation(), 1..4), numbering in prop_oneof![
            Just(Numbering::Original), Just(Numbering::Sequential),
        ],
    ) {
        let Ok(edited) = apply(&source, &operations, numbering, &limits()) else { return Ok(()) };
        let (old, new) = (Source::parse(&source).unwrap(), Source::parse(&edited.bytes).unwrap());
        let lines = texts(&old);
        let back: Vec<Operation> = edited.line_map.hunks().iter().map(|hunk| {
            let content = Lines::from_body(&lines[hunk.old.clone()]);
            let (start, end) = (i64::try_from(hunk.new.start).unwrap(), i64::try_from(hunk.new.end).unwrap());
            if hunk.new.is_empty() {
                Operation::Insert { after_line: start, content }
            } else {
                Operation::Replace { start_line: start + 1, end_line: end, content }
            }
        }).collect();
        // An undecodable line that was removed cannot be sent back as characters.
        if old.is_lossy() || back.is_empty() { return Ok(()) }
        let undone = apply(&edited.bytes, &back, Numbering::Original, &limits()).unwrap();
        let undone_source = Source::parse(&undone.bytes).unwrap();
        prop_assert_eq!(texts(&undone_source), lines);
        let is_plain = |source: &Source<'_>| {
            !source.bytes().contains(&b'\r') && source.format().final_newline && source.total_lines() > 0
        };
        if is_plain(&old) && is_plain(&new) {
            prop_assert_eq!(undone.bytes, source);
        }
    }

    #[test]
    fn maps_keep_only_lines_that_are_the_same(
        source in text(), operations in vec(operation(), 1..5), numbering in prop_oneof![
            Just(Numbering::Original), Just(Numbering::Sequential),
        ],
    ) {
        let Ok(edited) = apply(&source, &operations, numbering, &limits()) else { return Ok(()) };
        let (old, new) = (Source::parse(&source).unwrap(), Source::parse(&edited.bytes).unwrap());
        check_kept(&edited.line_map, &old, &new)?;
        let compared = LineMap::between(&old, &new);
        check_kept(&compared, &old, &new)?;
        prop_assert_eq!(compared.is_identity(), texts(&old) == texts(&new));
        prop_assert_eq!(edited.line_map.inverse().inverse(), edited.line_map);
    }

    #[test]
    fn composition_keeps_what_both_maps_keep(a in text(), b in text(), c in text()) {
        let (a, b, c) = (Source::parse(&a).unwrap(), Source::parse(&b).unwrap(), Source::parse(&c).unwrap());
        let (first, second) = (LineMap::between(&a, &b), LineMap::between(&b, &c));
        let composed = first.compose(&second);
        for line in 0..=a.total_lines() + 1 {
            let stepwise = match first.map(line) {
                Mapped::Kept(middle) => second.map(middle),
                Mapped::Changed => Mapped::Changed,
            };
            prop_assert_eq!(composed.map(line), stepwise);
        }
        prop_assert_eq!(&LineMap::identity(a.total_lines()).compose(&first), &first);
    }

    #[test]
    fn rebased_operations_have_the_same_effect_on_the_current_text(
        earlier in text(), change in line_operation(), operation in line_operation(),
    ) {
        let Ok(changed) = apply(&earlier, &[change], Numbering::Original, &limits()) else { return Ok(()) };
        let (old, now) = (Source::parse(&earlier).unwrap(), Source::parse(&changed.bytes).unwrap());
        let Ok(carried) =
            rebase(std::slice::from_ref(&operation), &old, &now, &changed.line_map, &limits())
        else { return Ok(()) };
        let Ok(edited) = apply(&changed.bytes, &carried, Numbering::Original, &limits()) else { return Ok(()) };
        // The removed lines are exactly the addressed ones.
        let (start, end) = position(&operation, old.total_lines());
        let (new_start, new_end) = position(&carried[0], now.total_lines());
        prop_assert_eq!(end - start, new_end - new_start);
        let (old_lines, now_lines) = (texts(&old), texts(&now));
        prop_assert_eq!(&old_lines[start..end], &now_lines[new_start..new_end]);
        let mut expected = now_lines.clone();
        expected.splice(new_start..new_end, content_of(&operation));
        let edited = Source::parse(&edited.bytes).unwrap();
        prop_assert_eq!(texts(&edited), expected);
    }

    #[test]
    fn no_bytes_and_no_operations_panic(
        source in prop_oneof![vec(any::<u8>(), 0..60), any_text(),
            (prop_oneof![Just(b"\xFF\xFE"), Just(b"\xFE\xFF")], vec(any::<u8>(), 0..40))
                .prop_map(|(mark, bytes)| [&mark[..], &bytes].concat())],
        other in vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..60),
        operations in vec(prop_oneof![wild_operation(), operation()], 0..5),
    ) {
        for numbering in [Numbering::Original, Numbering::Sequential] {
            if let Ok(edited) = apply(&source, &operations, numbering, &limits()) {
                prop_assert_eq!(edited.outcomes.len(), operations.len());
            }
        }
        if let (Ok(one), Ok(two)) = (Source::parse(&source), Source::parse(&other)) {
            let map = LineMap::between(&one, &two);
            if let Err(error) = rebase(&operations, &one, &two, &map, &limits()) {
                let _ = (error.to_string(), error.kind.lines_in_question());
            }
            for operation in &operations { let _ = already_applied(&two, operation); }
            let _ = excerpt(&two, other.len()..=source.len(), 2, &ExcerptLimits::default()).to_string();
            for gap in 0..=one.total_lines() + 1 { let _ = map.map_gap(gap); }
            for offset in 0..=source.len() { prop_assert!(one.line_at(offset) <= one.total_lines() + 1); }
            prop_assert!(one.format().encoding != Encoding::UnknownEightBit || one.is_lossy());
        }
    }

    #[test]
    fn line_spans_cover_the_text_without_gaps(source in any_text()) {
        let source = Source::parse(&source).unwrap();
        let mut at = source.text_start();
        for line in 1..=source.total_lines() {
            let span = source.line_span(line).unwrap();
            prop_assert_eq!(span.start, at);
            prop_assert_eq!(source.line_at(span.start), line);
            prop_assert!(!span.is_empty());
            at = span.end;
        }
        prop_assert_eq!(at, source.bytes().len());
    }
}
