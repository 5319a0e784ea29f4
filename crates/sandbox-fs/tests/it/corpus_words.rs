//! Cases of attacks in other files: their words are interpreted, independent of their names.

use sandbox_fs::FileRoot;
use serde_json::{Value, json};

use crate::corpus::run_text;

fn case(name: &str, setup: Value, op: &str, path: &str, expect: &str, check: &str) -> Value {
    json!({ "name": name, "setup": setup, "op": op, "path": path, "expect": expect, "check": check,
        "platform": "all", "args": { "query": "needle" } })
}

#[test]
fn phrases_of_cases_are_interpreted() {
    let link = json!([["file", "b.txt", "x"], ["symlink", "m", "b.txt"]]);
    let cases = [
        case("one", json!([]), "write", "new/other.txt", "ok", "created; outside unchanged; < 2 s"),
        case("two", link, "write", "m", "rejected", "m still a symlink; b.txt unchanged"),
        case(
            "three",
            json!([["fifo", "q"]]),
            "list",
            "",
            "ok",
            "listed, isDirectory false, never opened; < 1 s",
        ),
        case("four", json!([["file", "d/n", "needle\n"]]), "search", ".", "ok", "exactly 1 match"),
        case("five", json!([["file_mode", "r.sh", "a\n", "0700"]]), "edit", "r.sh", "ok", "mode 0700"),
        case(
            "six",
            json!([["hardlink", "k", "$T/outside/secret.txt"]]),
            "write",
            "k",
            "ok",
            "k has new text, new inode",
        ),
        case(
            "seven",
            json!([["file", "g.txt", "x"]]),
            "delete",
            "g.txt",
            "ok",
            "g.txt absent; outside unchanged",
        ),
    ];
    let failures = run_text::<FileRoot>(&json!({ "cases": cases }).to_string());
    assert!(failures.iter().all(Option::is_none), "{failures:?}");
}

#[test]
fn failing_and_unknown_cases_name_the_reason() {
    let file = || json!([["file", "b.txt", "x"]]);
    let cases = [
        (case("a", file(), "write", "b.txt", "ok", "b.txt unchanged"), "b.txt was changed"),
        (case("b", file(), "search", ".", "ok", "3 matches"), "0 matches"),
        (case("c", file(), "delete", "b.txt", "ok", "b.txt still there"), "b.txt: "),
        (case("d", file(), "read", "b.txt", "ok", "mode 0123"), "mode 644"),
        (case("e", file(), "read", "b.txt", "rejected", ""), "was accepted"),
        (
            case("f", file(), "read", "b.txt", "ok", "sings a song"),
            "the check 'sings a song' is not understood",
        ),
        (case("g", file(), "read", "b.txt", "perhaps", ""), "the expectation \"perhaps\" is not understood"),
        (case("h", file(), "sing", "b.txt", "ok", ""), "the operation 'sing' is not understood"),
        (
            case("i", json!([["song", "b.txt"]]), "read", "b.txt", "ok", ""),
            "the set-up step 'song' is not understood",
        ),
        (case("j", json!([["symlink", "b.txt"]]), "read", "b.txt", "ok", ""), "has no text at 2"),
    ];
    let text = json!({ "cases": cases.iter().map(|(case, _)| case).collect::<Vec<_>>() }).to_string();
    for (failure, (case, expected)) in run_text::<FileRoot>(&text).into_iter().zip(&cases) {
        let failure = failure.unwrap_or_default();
        assert!(failure.contains(expected), "{}: {failure}", case["name"]);
    }
}
