//! Ten thousand random files and edits on the disk: an edit is exactly what was asked, or nothing at all happens.
//!
//! The expected result is computed here from the bytes alone, without code of the crates under test.

use std::cell::Cell;
use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use wap_core::*;

use crate::fixture::workspace::*;

/// A line without its ending, and the ending; only a last line may have none.
type Line = (Vec<u8>, &'static [u8]);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Bytes as they are, valid UTF-8 or not.
    Bytes,
    /// UTF-8 with a mark.
    Marked,
    Utf16 {
        big: bool,
    },
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        4 => Just(Form::Bytes),
        1 => Just(Form::Marked),
        1 => any::<bool>().prop_map(|big| Form::Utf16 { big }),
    ]
}

/// Few different lines, any mixture of endings, with and without a final newline.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    let line = prop_oneof![
        6 => "[ab]{0,2}".prop_map(String::into_bytes),
        1 => Just("é😀".as_bytes().to_vec()),
        1 => Just(b"\xFFa\x80".to_vec()),
        1 => Just(b"a\rb".to_vec()),
    ];
    let ending = prop_oneof![3 => Just(&b"\n"[..]), 2 => Just(&b"\r\n"[..])];
    (vec((line, ending), 1..10), any::<bool>()).prop_map(|(mut lines, final_newline)| {
        let last = lines.last_mut().expect("there is a line at least");
        // Nothing at the end is no line.
        if !final_newline && !last.0.is_empty() {
            last.1 = b"";
        }
        lines
    })
}

/// Lines `start..end` go (0-based, half-open), and these come.
#[derive(Clone, Debug)]
struct Edit {
    start: usize,
    end: usize,
    new: Vec<&'static str>,
}

fn edit() -> impl Strategy<Value = Edit> {
    let new = vec(prop_oneof![Just("x"), Just(""), Just("yy"), Just("ü")], 0..4);
    (0..10_usize, 0..4_usize, new)
        .prop_filter("it does something", |(_, count, new)| *count > 0 || !new.is_empty())
        .prop_map(|(start, count, new)| Edit { start, end: start + count, new })
}

impl Edit {
    fn request(&self) -> ModifyOperation {
        let (start_line, end_line) = (self.start as i64 + 1, self.end as i64);
        // One newline at the end adds no line, so every content can be spelled with one.
        let new_content = self.new.iter().map(|line| format!("{line}\n")).collect();
        match (self.start == self.end, self.new.is_empty()) {
            (true, _) => ModifyOperation::Insert { after_line: self.start as i64, new_content, was: None },
            (_, true) => ModifyOperation::Delete { start_line, end_line, was: None },
            _ => ModifyOperation::Replace { start_line, end_line, new_content, was: None },
        }
    }

    /// The same with its end, and a place to insert, where the file ends; `None` if it begins after that.
    fn clamped(&self, total: usize) -> Option<Edit> {
        let is_insertion = self.start == self.end;
        (is_insertion || self.start < total).then(|| Edit {
            start: self.start.min(total),
            end: self.end.min(total),
            new: self.new.clone(),
        })
    }
}

/// The ending that most lines have, on a tie the one that comes first.
fn dominant(lines: &[Line]) -> &'static [u8] {
    let count = |ending: &[u8]| lines.iter().filter(|line| line.1 == ending).count();
    let (lf, crlf) = (count(b"\n"), count(b"\r\n"));
    let first = lines.first().map_or(&b""[..], |line| line.1);
    if crlf > lf || crlf == lf && first == b"\r\n" { b"\r\n" } else { b"\n" }
}

/// Returns the expected content of the file afterwards; `None` if the edits must be refused.
fn expected(lines: &[Line], edits: &[Edit], is_utf8: bool) -> Option<Vec<u8>> {
    let mut edits = edits.iter().map(|edit| edit.clamped(lines.len())).collect::<Option<Vec<Edit>>>()?;
    edits.sort_by_key(|edit| (edit.start, edit.end));
    if edits.windows(2).any(|pair| pair[1].start < pair[0].end) {
        return None;
    }
    if !is_utf8 && edits.iter().flat_map(|edit| &edit.new).any(|line| !line.is_ascii()) {
        return None;
    }
    let ending = dominant(lines);
    let mut result: Vec<Line> = Vec::new();
    let mut next = 0;
    for edit in &edits {
        result.extend_from_slice(&lines[next..edit.start]);
        result.extend(edit.new.iter().map(|line| (line.as_bytes().to_vec(), ending)));
        next = edit.end;
    }
    result.extend_from_slice(&lines[next..]);
    let has_final_newline = lines.last().is_some_and(|line| !line.1.is_empty());
    if let Some((last, others)) = result.split_last_mut() {
        for line in others.iter_mut().filter(|line| line.1.is_empty()) {
            // It was the last one, and now something follows.
            line.1 = ending;
        }
        if !has_final_newline && !last.0.is_empty() {
            last.1 = b"";
        }
    }
    Some(joined(&result))
}

fn joined(lines: &[Line]) -> Vec<u8> {
    lines.iter().flat_map(|(text, ending)| [text, *ending].concat()).collect()
}

fn stored(bytes: &[u8], form: Form) -> Vec<u8> {
    match form {
        Form::Bytes => bytes.to_vec(),
        Form::Marked => [b"\xEF\xBB\xBF", bytes].concat(),
        Form::Utf16 { big } => {
            let text = format!("\u{feff}{}", std::str::from_utf8(bytes).unwrap());
            let pair = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            text.encode_utf16().flat_map(pair).collect()
        }
    }
}

#[test]
fn edit_is_exactly_what_was_asked_or_is_refused() {
    let fixture = Fixture::in_memory();
    let journal = change_journal::Journal::in_memory().unwrap();
    let workspace = fixture.open_with(journal, fixture.config()).0;
    let (accepted, refused) = (Cell::new(0_u32), Cell::new(0_u32));
    let config = ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(form in form(), lines in lines(), edits in vec(edit(), 1..4))| {
        let content = joined(&lines);
        let is_utf8 = std::str::from_utf8(&content).is_ok();
        if !is_utf8 && matches!(form, Form::Utf16 { .. }) {
            return Err(TestCaseError::reject("it cannot be written in UTF-16"));
        }
        let before = stored(&content, form);
        fixture.put("file", &before);
        let request = ModifyFile {
            path: "file".into(),
            operations: edits.iter().map(Edit::request).collect(),
            ..ModifyFile::default()
        };
        let outcome = change(&workspace, FileChange::Modify(request));
        let after = fs::read(fixture.root().join("file")).unwrap();
        // A mark determines the encoding, whatever bytes follow.
        match (expected(&lines, &edits, is_utf8 || form == Form::Marked), outcome) {
            (Some(expected), Ok(_)) => {
                prop_assert_eq!(after, stored(&expected, form));
                accepted.set(accepted.get() + 1);
            }
            (None, Err(_)) => {
                prop_assert_eq!(after, before);
                refused.set(refused.get() + 1);
            }
            (Some(_), Err(error)) => return Err(TestCaseError::fail(format!("refused: {error:?}"))),
            (None, Ok(_)) => return Err(TestCaseError::fail("accepted")),
        }
    });
    assert!(accepted.get() > 2_000 && refused.get() > 500, "{} and {}", accepted.get(), refused.get());
    assert_eq!(fixture.all_names(), ["file"]);
}
