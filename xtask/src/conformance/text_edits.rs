//! Cases of edits by text, and of replies in the edit formats of other programs.

use serde_json::{Value, json};
use tagproto::{Dialect, Strictness, read_in};
use text_edit::{
    EditError, EditErrorKind, EditLimits, Edited, NoMatch, Numbering, Operation, SearchText, apply,
};

use super::Outcome;

/// Cases of kind edit: hunks on the bytes of a file.
pub(crate) fn edit(case: &Value) -> Outcome {
    let (Some(bytes), Some(hunks)) = (bytes(case), case["hunks"].as_array()) else {
        return Outcome::Failed("the case has no file or no hunks".to_owned());
    };
    let Some(operations) = hunks.iter().map(|hunk| operation(case, hunk)).collect::<Option<Vec<_>>>() else {
        return Outcome::Failed("a hunk of the case has no text to find or to put there".to_owned());
    };
    let got = match apply(&bytes, &operations, Numbering::Sequential, &EditLimits::default()) {
        Ok(edited) => outcome(case, &edited),
        Err(error) => json!({ "refused": refusal(&error) }),
    };
    let mut expected = case["expect"].clone();
    // The number that a case expects is the case's own word.
    if let Some(refused) = expected.get_mut("refused").and_then(Value::as_object_mut) {
        refused.remove("expected");
    }
    Outcome::compare("the outcome", &expected, &got)
}

/// Cases of kind foreign: the blocks that a reply becomes.
pub(crate) fn foreign(case: &Value) -> Outcome {
    let (Some(reply), Some(expected)) = (case["reply"].as_str(), case["expect"]["commands"].as_array())
    else {
        return Outcome::Failed("the case has no reply or expects nothing".to_owned());
    };
    let read = json!(read_in(reply, Strictness::Repair, Dialect::Agentd));
    let commands = read["commands"].as_array().map_or(&[][..], Vec::as_slice);
    let counted = Outcome::compare("the number of blocks", &expected.len().into(), &commands.len().into())
        .and(|| Outcome::compare("the repairs", &case["expect"]["repairs"], &read["repairs"]))
        .and(|| Outcome::compare("the refusal", &Value::Null, &read["refused"]));
    expected.iter().zip(commands).enumerate().fold(counted, |outcome, (index, (expected, command))| {
        outcome.and(|| compare_block(index, expected, command))
    })
}

/// Compares the keys that a case states; of an error it states a part of the text.
fn compare_block(index: usize, expected: &Value, command: &Value) -> Outcome {
    let Some(keys) = expected.as_object() else {
        return Outcome::Failed(format!("block {index} of the case is not an object"));
    };
    keys.iter().fold(Outcome::Passed, |outcome, (key, expected)| {
        outcome.and(|| {
            let is_part =
                expected.as_str().zip(command[key].as_str()).is_some_and(|(part, text)| text.contains(part));
            if key == "error" && is_part {
                return Outcome::Passed;
            }
            Outcome::compare(&format!("{key} of block {index}"), expected, &command[key])
        })
    })
}

fn bytes(case: &Value) -> Option<Vec<u8>> {
    let Some(hex) = case.get("file_hex") else { return Some(case["file"].as_str()?.as_bytes().to_vec()) };
    let digits = hex.as_str()?.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}

fn operation(case: &Value, hunk: &Value) -> Option<Operation> {
    let search = hunk["search"].as_str()?;
    let is_anywhere = case["anywhere"].as_bool().unwrap_or(false);
    let line = |index: usize| hunk["within"][index].as_i64();
    Some(Operation::ReplaceText {
        search: if is_anywhere { SearchText::anywhere(search) } else { SearchText::of_lines(search) },
        replacement: hunk["replace"].as_str()?.to_owned(),
        expected: usize::try_from(case["expected"].as_u64().unwrap_or(1)).ok()?,
        within: line(0).zip(line(1)),
    })
}

fn outcome(case: &Value, edited: &Edited) -> Value {
    let rules = |text: &text_edit::TextOutcome| text.rules.iter().map(|rule| rule.name()).collect::<Vec<_>>();
    let mut outcome = json!({ "rules": edited.texts.iter().map(rules).collect::<Vec<_>>() });
    if case["expect"].get("file_hex").is_some() {
        outcome["file_hex"] =
            edited.bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    } else {
        outcome["file"] = String::from_utf8_lossy(&edited.bytes).into();
    }
    if edited.texts.iter().any(|text| text.already_applied) {
        outcome["already_applied"] =
            edited.texts.iter().map(|text| text.already_applied).collect::<Vec<_>>().into();
    }
    outcome
}

fn refusal(error: &EditError) -> Value {
    let mut refused = match &error.kind {
        EditErrorKind::NoMatch(reason) => match reason.as_ref() {
            NoMatch::Empty => json!({ "kind": "empty" }),
            NoMatch::Occurs { count, line_numbers, .. } => {
                json!({ "kind": "occurs", "count": count, "lines": line_numbers })
            }
            NoMatch::NoAnchor { line, .. } => json!({ "kind": "no_anchor", "line": line }),
            NoMatch::Absent { nearest, new_text } => {
                let lines = nearest.as_ref().map(|nearest| [*nearest.lines.start(), *nearest.lines.end()]);
                let mut refused = json!({ "kind": "absent", "nearest": lines });
                if let Some(lines) = new_text {
                    refused["new_text"] = json!([lines.start(), lines.end()]);
                }
                refused
            }
        },
        EditErrorKind::UnfitIndentation { lines } => {
            json!({ "kind": "unfit_indentation", "lines": [lines.start(), lines.end()] })
        }
        EditErrorKind::UncertainNumbers { lines } => {
            json!({ "kind": "uncertain_numbers", "lines": [lines.start(), lines.end()] })
        }
        EditErrorKind::OtherIndentation { content_line, given, .. } => {
            json!({ "kind": "other_indentation", "line": content_line, "given": given })
        }
        EditErrorKind::OtherQuotes { content_line, .. } => {
            json!({ "kind": "other_quotes", "line": content_line })
        }
        EditErrorKind::NoBreakSpaces { content_line, .. } => {
            json!({ "kind": "no_break_spaces", "line": content_line })
        }
        EditErrorKind::AlreadyThere { lines } => {
            json!({ "kind": "stands_there", "lines": [lines.start(), lines.end()] })
        }
        EditErrorKind::Unencodable { .. } => json!({ "kind": "unencodable" }),
        EditErrorKind::UndecodableMatch { .. } => json!({ "kind": "undecodable_match" }),
        EditErrorKind::Binary(_) => json!({ "kind": "binary" }),
        other => json!({ "kind": other.to_string() }),
    };
    if let Some(index) = error.operation_index {
        refused["hunk"] = index.into();
    }
    refused
}
