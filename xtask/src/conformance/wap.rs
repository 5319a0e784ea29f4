//! Cases of the native tools, over a real folder.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use local_workspace::LocalWorkspace;
use serde_json::{Value, json};
use wap_core::{
    Call, CancelFlag, ConversationId, Limits, Origin, Request, Retention, RunKey, Unobserved, WapError,
};

use super::Outcome;
use super::crash;
use super::expected::{derived, expectations, list, members, text};
use super::fixture::Fixture;
use super::generator::set_up;
use super::llm4s;
use super::problem::{Problem, ensure};
use super::survivors::survivors;

/// The tool that a kind of case is about.
const TOOLS: [(&str, &str); 7] = [
    ("read", "readFile"),
    ("write", "writeFile"),
    ("modify", "modifyFile"),
    ("search", "searchFiles"),
    ("explore", "exploreFiles"),
    ("exec", "executeCommand"),
    ("info", "getWorkspaceInfo"),
];

/// Makes one call and compares every key of what is expected. A key that stands for no check of its own is a field of
/// the answer, so that an unknown key fails the case.
pub(super) fn run(case: &Value) -> Outcome {
    let also_in_dialect = || match case["llm4s_expect"] {
        Value::Null => Ok(()),
        _ => llm4s::modified(case),
    };
    check(case).and_then(|()| also_in_dialect()).into()
}

fn check(case: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    let case = fixture.fill_in(case);
    let (input, expect) = (&case["input"], &case["expect"]);
    for (name, content) in members(&input["files"]) {
        set_up(&fixture, name, content)?;
    }
    let request = &input["request"];
    let kind = text(&case["kind"]);
    let tool = TOOLS.iter().find(|(of_kind, _)| *of_kind == kind).map(|(_, tool)| *tool);
    let tool = tool.ok_or_else(|| Problem::new(format!("no tool is known for kind {kind}")))?;
    if !request["_crash"].is_null() {
        return crash::write_is_atomic(&fixture, request, expect);
    }
    let limits = match &request["_limits"] {
        Value::Null => Limits::default(),
        limits => serde_json::from_value(limits.clone())?,
    };
    let (engine, _) = fixture.engine(limits)?;
    let start = Instant::now();
    let answer = answer(tool, request, &engine, &fixture)?;
    let path = text(&request["path"]);
    let effects = Effects { answer, path, wall: start.elapsed(), fixture: &fixture };
    expectations(expect)?.try_for_each(|(key, value)| effects.compare(key, value))
}

/// Makes a call that stands for itself, and returns the answer, or the error object, as it would be sent.
pub(super) fn answer(
    tool: &str,
    request: &Value,
    engine: &LocalWorkspace,
    fixture: &Fixture,
) -> Result<Value, Problem> {
    let origin = Origin {
        conversation: ConversationId("conformance".to_owned()),
        run: RunKey::unnumbered(unique()),
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
    let root = fixture.workspace();
    let answered = Request::parse(tool, request.clone())
        .and_then(|request| request.answer(engine, &call, &mut Unobserved))
        .map(|response| response.with_absolute_metadata(&root.to_string_lossy()));
    Ok(answered.map_or_else(|error: WapError| serde_json::to_value(error), serde_json::to_value)?)
}

/// Returns a text that no other call has, in this process or another.
fn unique() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// The effects of a call.
struct Effects<'a> {
    fixture: &'a Fixture,
    answer: Value,
    /// The path of the request.
    path: &'a str,
    wall: Duration,
}

impl Effects<'_> {
    fn compare(&self, key: &str, expected: &Value) -> Result<(), Problem> {
        let answer = &self.answer;
        let entries = list(&answer["files"]).iter().chain(list(&answer["matches"]));
        let mut paths = entries.map(|entry| &entry["path"]);
        let holds = match key {
            "reason" => answer["details"]["reason"] == *expected,
            "ok" => answer["error"].is_null() == (*expected == true),
            "error_contains" => text(&answer["error"]).contains(text(expected)),
            "after" => {
                let files = self.fixture.files()?;
                members(expected).all(|(path, content)| {
                    files.get(path).map(Vec::as_slice) == content.as_str().map(str::as_bytes)
                })
            }
            "outside_untouched" => json!(self.fixture.is_outside_untouched()?) == *expected,
            "paths" => paths.eq(list(expected)),
            "paths_contain" => {
                let paths: Vec<_> = paths.collect();
                list(expected).iter().all(|path| paths.contains(&path))
            }
            "paths_exclude" => !paths.any(|path| list(expected).contains(path)),
            "files_len" => json!(list(&answer["files"]).len()) == *expected,
            "matches_len" => json!(list(&answer["matches"]).len()) == *expected,
            "lines" => list(&answer["matches"]).iter().map(|entry| &entry["line"]).eq(list(expected)),
            "match" => contains(&answer["matches"][0], expected),
            "limits" => contains(&answer["limits"], expected),
            "totalMatches_min" => {
                answer["totalMatches"].as_u64().is_some_and(|total| Some(total) >= expected.as_u64())
            }
            "metadata_path" | "root" if text(expected).starts_with("absolute") => {
                let reported = if key == "root" { &answer["root"] } else { &answer["metadata"]["path"] };
                let path = if key == "root" { String::new() } else { format!("/{}", self.path) };
                text(reported) == format!("{}{path}", self.fixture.workspace().display())
            }
            "descendants_alive" => json!(survivors(self.fixture.path())) == *expected,
            "wall_s_max" => Some(self.wall.as_secs()) < expected.as_u64(),
            "absent" | "exists" => {
                let is_there =
                    |path: &Value| fs::symlink_metadata(self.fixture.workspace().join(text(path))).is_ok();
                let paths = if expected.is_array() { list(expected) } else { std::slice::from_ref(expected) };
                paths.iter().all(|path| is_there(path) == (key == "exists"))
            }
            field => match derived(field, expected, |field| answer.get(field).cloned()) {
                Some(holds) => holds,
                None => answer[field] == *expected,
            },
        };
        ensure(holds, || {
            let wall = self.wall.as_secs_f64();
            format!("{key} should be {expected}, and the answer after {wall:.1} s is {answer}")
        })
    }
}

/// Checks whether an object has all members of another one.
fn contains(object: &Value, part: &Value) -> bool {
    part.is_object() && members(part).all(|(key, value)| object[key] == *value)
}
