//! The cases of the kinds foreign and carried_out in `fixtures/vectors/text-edits.json`, and properties of any reply.

mod alongside_blocks;
mod new_names;
mod whole_hunks;

use std::collections::BTreeMap;

use memory_workspace::MemoryWorkspace;
use proptest::prelude::*;
use serde_json::{Value, json};
use tagproto::{Block, Dialect, Item, RepairKind, Strictness, base_versions, read_in, render_block};

use crate::fixture::call_frame::Frame;
use crate::fixture::round_trip::{run_items, session};

const VECTORS: &str = include_str!("../../../../fixtures/vectors/text-edits.json");

fn cases() -> Vec<Value> {
    cases_of("foreign")
}

fn cases_of(kind: &str) -> Vec<Value> {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["kind"] == kind).cloned().collect()
}

/// Checks whether `got` has every key of `expected`: an error text that contains the expected text, or else the same value.
pub(crate) fn agrees(got: &Value, expected: &Value) -> bool {
    expected.as_object().unwrap().iter().all(|(key, expected)| match key.as_str() {
        "error" => got[key].as_str().is_some_and(|got| got.contains(expected.as_str().unwrap())),
        _ => got[key] == *expected,
    })
}

#[test]
fn every_reply_in_another_format_reads_as_the_vectors_state() {
    let cases = cases();
    assert!(cases.len() > 60);
    let mut failures = Vec::new();
    for case in &cases {
        let reply = case["reply"].as_str().unwrap();
        let read = json!(read_in(reply, Strictness::Repair, Dialect::Agentd));
        let (got, expected) =
            (read["commands"].as_array().unwrap(), case["expect"]["commands"].as_array().unwrap());
        let agree = got.len() == expected.len()
            && got.iter().zip(expected).all(|(got, expected)| agrees(got, expected));
        if !agree || read["repairs"] != case["expect"]["repairs"] || !read["refused"].is_null() {
            failures.push(format!("{}: {read}\n    expected {}", case["name"], case["expect"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_reply_that_is_carried_out_leaves_the_files_of_the_vectors() {
    let cases = cases_of("carried_out");
    assert!(cases.len() > 10);
    let texts =
        |value: &Value| -> BTreeMap<String, String> { serde_json::from_value(value.clone()).unwrap() };
    let mut failures = Vec::new();
    for case in &cases {
        let before = texts(&case["files"]);
        let workspace = MemoryWorkspace::with_files(before.clone());
        let reply = case["reply"].as_str().unwrap();
        let items = read_in(reply, Strictness::Repair, Dialect::Agentd).items;
        let session = session("T", Dialect::Agentd);
        let base = base_versions(&items, &session, &workspace, &Frame::new(reply).call()).unwrap();
        let results = run_items(&items, &session, base, &workspace).results;
        let expected = texts(&case["expect"]["files"]);
        let all = before.keys().chain(expected.keys());
        let is_as_expected = |path: &String| workspace.text(path).as_ref() == expected.get(path);
        let agree = |(result, part): (&tagproto::CommandResult, &Value)| {
            let notes = result.notes.join("\n");
            let text =
                format!("{} {}\n{notes}", if result.success { "OK" } else { "FAILED" }, result.summary);
            part.as_array().unwrap().iter().all(|part| text.contains(part.as_str().unwrap()))
        };
        let parts = case["expect"]["results"].as_array().unwrap();
        let results_agree = results.len() == parts.len() && results.iter().zip(parts).all(agree);
        if !all.clone().all(is_as_expected) || !results_agree {
            let now: Vec<_> = all.map(|path| (path, workspace.text(path))).collect();
            failures.push(format!("{}: {results:#?}\n    {now:?}", case["name"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_original_dialect_and_strict_reading_read_no_other_format() {
    for case in cases() {
        let reply = case["reply"].as_str().unwrap();
        for (strictness, dialect) in [
            (Strictness::Strict, Dialect::CodingAgent),
            (Strictness::Repair, Dialect::CodingAgent),
            (Strictness::Strict, Dialect::Agentd),
        ] {
            let read = read_in(reply, strictness, dialect);
            assert!(!read.repairs.contains(RepairKind::OtherFormat), "{}", case["name"]);
            let is_by_text = |item: &Item<'_>| matches!(item, Item::Block(block) if matches!(block.value, Block::EditText { .. }));
            assert!(!read.items.iter().any(is_by_text), "{}", case["name"]);
        }
        assert_eq!(tagproto::parse(reply), read_in(reply, Strictness::Strict, Dialect::CodingAgent).items);
    }
}

#[test]
fn an_edit_by_text_is_written_as_it_is_read() {
    for case in cases() {
        let reply = case["reply"].as_str().unwrap();
        for item in read_in(reply, Strictness::Repair, Dialect::Agentd).items {
            let Item::Block(block) = item else { continue };
            let Block::EditText { hunks, .. } = &block.value else { continue };
            let text = render_block(&block.value).unwrap();
            let again = read_in(&text, Strictness::Repair, Dialect::Agentd);
            let [Item::Block(again)] = again.items.as_slice() else { panic!("{text}") };
            let Block::EditText { hunks: again, .. } = &again.value else { panic!("{text}") };
            let texts = |hunks: &[tagproto::TextHunk]| -> Vec<(String, String)> {
                hunks.iter().map(|hunk| (hunk.search.clone(), hunk.replacement.clone())).collect()
            };
            assert_eq!(texts(again), texts(hunks), "{text}");
        }
    }
}

/// Lines of the formats, whole and cut, in any order.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "<<<<<<< SEARCH\n",
        "=======\n",
        ">>>>>>> REPLACE\n",
        "a.py\n",
        "```\n",
        "\n",
        " one\n",
        "-two\n",
        "+three\n",
        "--- a/a.py\n",
        "+++ b/a.py\n",
        "@@ -1 +1 @@\n",
        "diff --git a/a.py b/a.py\n",
        "GIT binary patch\n",
        "*** Begin Patch\n",
        "*** End Patch\n",
        "*** Update File: a.py\n",
        "*** Add File: b\n",
        "*** Delete File: c\n",
        "*** Move to: d\n",
        "<think>\n",
        "</think>\n",
        "[EDIT_FILE path=\"a\"]\n",
        "[/EDIT_FILE]\n",
        "é\r\n",
        "\\ x\n",
    ])
}

proptest! {
    #[test]
    fn any_mixture_is_read_and_spans_are_within_the_reply(pieces in prop::collection::vec(piece(), 0..40)) {
        let text: String = pieces.concat();
        let reply = read_in(&text, Strictness::Repair, Dialect::Agentd);
        for item in &reply.items {
            let (span, lines) = match item {
                Item::Block(block) => (block.span, block.lines),
                Item::Error(error) => (error.span, error.lines),
            };
            prop_assert!(span.start <= span.end && text.get(span.range()).is_some());
            prop_assert!(lines.first >= 1 && lines.first <= lines.last);
        }
    }
}

#[test]
fn no_cut_of_a_diff_in_a_fence_gives_another_edit() {
    let first = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n def f(x):\n-    return x\n+    y = 100\n+    return x + y\n";
    let second = "diff --git a/new.py b/new.py\nnew file mode 100644\nindex 000..123\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+import os\n+os.remove('tmp')\n";
    let reply = format!("I change it:\n\n```diff\n{first}```\n\n```diff\n{second}```\n");
    let blocks = |text: &str| -> Vec<Block<'static>> {
        let items = read_in(text, Strictness::Repair, Dialect::Agentd).into_owned().items;
        let blocks = items.into_iter().filter_map(|item| match item {
            Item::Block(block) => Some(block.value),
            Item::Error(_) => None,
        });
        blocks.collect()
    };
    let whole = blocks(&reply);
    assert_eq!(whole.len(), 2);
    for cut in 0..reply.len() {
        for end in ["", "\n"] {
            let text = format!("{}{end}", &reply[..cut]);
            assert!(whole.starts_with(&blocks(&text)), "{text}");
        }
    }
}

#[test]
fn python_that_lost_its_indentation_in_a_hunk_refuses_the_paste() {
    let hunk = |new: &str| {
        format!(
            "[EDIT_FILE path=\"a.py\"]\n<<<<<<< SEARCH\ndef f():\n=======\ndef f():\n{new}\n>>>>>>> REPLACE\n[/EDIT_FILE]\n"
        )
    };
    let refused = |new: &str| {
        read_in(&hunk(new), Strictness::Repair, Dialect::Agentd).refused.map(|refusal| refusal.kind)
    };
    assert_eq!(refused("return 1"), Some(tagproto::RefusalKind::IndentationLost));
    assert_eq!(refused("    return 1"), None);
}
