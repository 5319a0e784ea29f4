//! `agentd mcp`: the tools over the Model Context Protocol.

use serde_json::{Value, json};
use wap_core::unnumbered;

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

/// A client of the era with a handshake.
fn start(project: &Project, options: &[&str]) -> LineClient {
    let mut arguments = vec!["mcp"];
    arguments.extend(options);
    let mut client = LineClient::start(project.command(&arguments));
    let info = client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    assert_eq!(info["protocolVersion"], "2025-11-25", "{info}");
    client.notify("notifications/initialized", json!({}));
    client
}

/// Calls a tool and returns its result, a failure of the tool included.
#[track_caller]
fn call(client: &mut LineClient, tool: &str, arguments: Value) -> Value {
    client.does("tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Calls a tool that succeeds and returns its text.
#[track_caller]
fn text(client: &mut LineClient, tool: &str, arguments: Value) -> String {
    let result = call(client, tool, arguments);
    assert_ne!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The call that a text names to go on with.
fn follow_up(text: &str, tool: &str) -> Value {
    let from = text.rfind(&format!("{tool} {{")).unwrap_or_else(|| panic!("no call is named:\n{text}"));
    let arguments = &text[from + tool.len()..];
    serde_json::Deserializer::from_str(arguments).into_iter().next().unwrap().unwrap()
}

fn replace(line: u64, text: &str) -> Value {
    let operation = json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": text });
    json!({ "path": "a.txt", "operations": [operation] })
}

#[test]
fn the_handshake_tells_who_it_is_and_how_to_work() {
    let project = Project::new();
    let mut client = LineClient::start(project.command(&["mcp"]));
    let info = client.does("initialize", json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    assert_eq!(info["protocolVersion"], "2025-06-18");
    assert_eq!(info["serverInfo"]["name"], "agentd");
    assert!(info["instructions"].as_str().unwrap().contains("Read a file before you modify it"));
    assert!(info["capabilities"]["tools"].is_object());
    client.end().ok();
}

#[test]
fn the_list_has_eight_tools_and_is_short() {
    let project = Project::new();
    let mut client = start(&project, &[]);
    let id = client.request("tools/list", json!({}));
    let list = client.answer(id);
    let length = list["result"]["tools"].to_string().len();
    assert!(length < 8_000, "{length} bytes");
    insta::assert_json_snapshot!("tools", list["result"]["tools"]);
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "exploreFiles",
        "readFile",
        "writeFile",
        "modifyFile",
        "searchFiles",
        "executeCommand",
        "stopProcess",
        "getWorkspaceInfo",
    ];
    assert_eq!(names, expected);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let is_text = ["readFile", "searchFiles", "executeCommand", "stopProcess"].contains(&name);
        assert_eq!(tool.get("outputSchema").is_none(), is_text, "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        let reads = ["exploreFiles", "readFile", "searchFiles", "getWorkspaceInfo"].contains(&name);
        // By the protocol, a tool without these hints changes and destroys things.
        assert_eq!(tool["annotations"]["readOnlyHint"] == true, reads, "{name}");
        assert_ne!(tool["annotations"]["destructiveHint"], false, "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
    }
}

#[test]
fn text_of_a_change_says_what_it_did() {
    let project = Project::new();
    project.write("a.rs", "fn a() {\n    one();\n}\n").write("src/deep/b.rs", "fn b() {}\n");
    let mut client = start(&project, &[]);
    let mut said = |tool: &str, arguments: Value| {
        let result = call(&mut client, tool, arguments);
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["structuredContent"].clone())
    };
    let (text, _) = said("writeFile", json!({ "path": "new.txt", "content": "one\ntwo\n" }));
    assert!(text.starts_with("new.txt: created, 8 bytes, version ") && text.lines().count() == 1, "{text}");
    let (text, written) = said("writeFile", json!({ "path": "new.txt", "content": "one\nTWO\n" }));
    assert!(text.starts_with("new.txt: written, 8 bytes, +1 -1 lines, version "), "{text}");
    assert!(text.ends_with("\nThe text is now:\n1|one\n2|TWO\n"), "{text}");
    assert_eq!(written["changed"]["text"], "1|one\n2|TWO\n");
    let edit = |old: &str, new: &str| json!({ "path": "a.rs", "operations": [{ "type": "replaceText", "oldText": old, "newText": new }] });
    let (text, edited) = said("modifyFile", edit("one();", "one(;"));
    let note = "syntax error at line 2, column ";
    assert!(text.contains(&format!("\nnote: {note}")) && text.contains("\n2|    one(;\n"), "{text}");
    assert!(edited["changed"]["notes"][0].as_str().unwrap().starts_with(note), "{edited}");
    assert!(project.read("a.rs").contains("one(;"));
    // The control: what parses again, or did not parse before, has no note.
    let (text, _) = said("modifyFile", edit("one(;", "two(;"));
    assert!(!text.contains("syntax error"), "{text}");
    let (text, _) = said("modifyFile", edit("two(;", "two();"));
    assert!(!text.contains("syntax error"), "{text}");
    let (_, listed) = said("exploreFiles", json!({ "path": ".", "pattern": "*.rs" }));
    let paths: Vec<_> = listed["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, ["a.rs", "src/deep/b.rs"]);
}

#[test]
fn a_task_from_end_to_end() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\nthree\n").write("src/b.txt", "two again\n");
    let mut client = start(&project, &["--tools", "undo,log,readOutput,deleteFile"]);
    let explored = call(&mut client, "exploreFiles", json!({ "path": ".", "recursive": true }));
    assert_eq!(explored["structuredContent"]["files"][0]["path"], "a.txt", "{explored}");
    let same: Value = serde_json::from_str(explored["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(same, explored["structuredContent"]);
    let read = text(&mut client, "readFile", json!({ "path": "a.txt" }));
    let (header, content) = read.split_once('\n').unwrap();
    assert!(header.starts_with("a.txt: lines 1-3 of 3, version "), "{header}");
    assert_eq!(content, "1|one\n2|two\n3|three\n");
    let plain =
        text(&mut client, "readFile", json!({ "path": "a.txt", "startLine": 2, "lineNumbers": false }));
    assert!(plain.ends_with("\ntwo\nthree\n"), "{plain}");
    let edited = call(&mut client, "modifyFile", replace(2, "TWO"));
    assert_eq!(edited["structuredContent"]["success"], true, "{edited}");
    let said = edited["content"][0]["text"].as_str().unwrap();
    let (header, effect) = said.split_once('\n').unwrap();
    assert!(header.starts_with("a.txt: +1 -1 lines, version "), "{said}");
    assert_eq!(effect, "The text is now:\n1|one\n2|TWO\n3|three\n");
    assert!(said.ends_with(edited["structuredContent"]["changed"]["text"].as_str().unwrap()), "{edited}");
    let ran = text(&mut client, "executeCommand", json!({ "command": "cat a.txt; echo oh >&2; exit 3" }));
    assert!(ran.starts_with("exit code 3 after "), "{ran}");
    assert!(ran.ends_with("\n[standard output]\none\nTWO\nthree\n[standard error]\noh\n"), "{ran}");
    let answer = text(
        &mut client,
        "searchFiles",
        json!({ "paths": ["."], "query": "(?i)two", "type": "regex", "contextLines": 1 }),
    );
    assert_eq!(answer, "2 matches\na.txt\n1- one\n2: TWO\n3- three\nsrc/b.txt\n1: two again\n");
    assert_eq!(text(&mut client, "undo", json!({})), "restored      a.txt\nundoing change 2 reverts this");
    assert_eq!(project.read("a.txt"), "one\ntwo\nthree\n");
    assert!(text(&mut client, "log", json!({})).contains("a.txt"));
    text(&mut client, "deleteFile", json!({ "path": "a.txt" }));
    assert!(!project.has("a.txt"));
    let ended = client.end().ok();
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
}

#[test]
fn tools_that_ask_the_code_index_are_there_when_they_are_asked_for() {
    let project = Project::new();
    project.write("cart.py", "from money import Money\n\ndef total_price():\n    return Money()\n");
    project.write("money.py", "class Money:\n    pass\n").write(".env", "def hidden(): pass\n");
    let tools = "docdexSearch,docdexSnippet,docdexSymbols,docdexAst,docdexImpact,docdexImpactDiagnostics";
    let mut client = start(&project, &["--tools", tools]);
    let answer = text(&mut client, "docdexSearch", json!({ "query": "totalPrice" }));
    assert!(answer.starts_with("cart.py:1-4 (docId cart.py#1-4)\n"), "{answer}");
    let snippet = text(&mut client, "docdexSnippet", json!({ "docId": "cart.py#1-4" }));
    assert!(snippet.contains("     3  def total_price():\n"), "{snippet}");
    let symbols = text(&mut client, "docdexSymbols", json!({ "file": "cart.py" }));
    assert_eq!(symbols, "3-4 function total_price: def total_price()\n");
    let impact = text(&mut client, "docdexImpact", json!({ "file": "money.py" }));
    assert!(impact.starts_with("depends on this: 1\n  cart.py (import, 1 away)\n"), "{impact}");
    let tree = text(&mut client, "docdexAst", json!({ "file": "money.py", "maxNodes": 2 }));
    assert!(tree.starts_with("module 1:1-3:1\n  class_definition 1:1-2:9\n[2 of "), "{tree}");
    let nowhere = text(&mut client, "docdexImpactDiagnostics", json!({}));
    assert_eq!(nowhere, "[0 of 0 are shown]\n");
    // What was written meanwhile is found.
    text(&mut client, "writeFile", json!({ "path": "new.py", "content": "def brand_new(): pass\n" }));
    let answer = text(&mut client, "docdexSearch", json!({ "query": "brand_new" }));
    assert!(answer.starts_with("new.py:1-1"), "{answer}");
    for (tool, arguments) in [("docdexSymbols", json!({ "file": ".env" })), ("docdexSearch", json!({}))] {
        assert_eq!(call(&mut client, tool, arguments)["isError"], true, "{tool}");
    }
    client.end().ok();
}

#[test]
fn arguments_that_a_tool_does_not_know_are_named() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = start(&project, &["--tools", "undo,log,readOutput,deleteFile"]);
    let note = "unknown argument 'verbose' was ignored";
    let read = text(&mut client, "readFile", json!({ "path": "a.txt", "verbose": true }));
    assert!(read.lines().next().unwrap().ends_with(&format!("; {note}")), "{read}");
    let written = call(&mut client, "writeFile", json!({ "path": "b.txt", "content": "", "verbose": true }));
    assert_eq!(written["structuredContent"]["warnings"], json!([note]), "{written}");
    // Tools in addition to the document's, and failures.
    let logged = call(&mut client, "log", json!({ "verbose": true }));
    assert_eq!(logged["content"][1]["text"], format!("[{note}]"), "{logged}");
    let deleted = call(&mut client, "deleteFile", json!({ "path": "b.txt", "verbose": true }));
    assert!(deleted.to_string().contains(note), "{deleted}");
    let failed = call(&mut client, "readFile", json!({ "file": "a.txt" }));
    assert!(
        failed["content"][0]["text"].as_str().unwrap().contains("unknownArguments: [\"file\"]"),
        "{failed}"
    );
    // The control: nothing is said where nothing was ignored.
    let read = text(&mut client, "readFile", json!({ "path": "a.txt", "endLine": null }));
    assert!(!read.contains("unknown"), "{read}");
    client.end().ok();
}

#[test]
fn variables_come_in_a_form_that_strict_schemas_describe() {
    let project = Project::new();
    let mut client = start(&project, &[]);
    for environment in [json!([{ "name": "GREETING", "value": "hello" }]), json!({ "GREETING": "hello" })] {
        let arguments = json!({ "command": "echo $GREETING", "environment": environment });
        let ran = text(&mut client, "executeCommand", arguments);
        assert!(ran.ends_with("\nhello\n") && !ran.contains("unknown"), "{ran}");
    }
    client.end().ok();
}

#[test]
fn the_stateless_era_needs_no_handshake() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = LineClient::start(project.command(&["mcp"]));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let answer = client.does("server/discover", json!({ "_meta": meta }));
    let versions = answer["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{answer}");
    let list = client.does("tools/list", json!({ "_meta": meta }));
    assert_eq!(list["tools"].as_array().unwrap().len(), 8);
    let read = client
        .does("tools/call", json!({ "_meta": meta, "name": "readFile", "arguments": { "path": "a.txt" } }));
    assert_eq!(read["resultType"], "complete", "{read}");
    assert!(read["content"][0]["text"].as_str().unwrap().ends_with("\n1|one\n"), "{read}");
    client.end().ok();
}

#[test]
fn failures_are_results_and_an_unknown_tool_is_an_error() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    let mut client = start(&project, &[]);
    let cases = [
        ("readFile", json!({ "path": "missing" }), "FILE_NOT_FOUND: "),
        ("readFile", json!({ "path": "../x" }), "PERMISSION_DENIED (PATH_ESCAPE_ATTEMPT): "),
        ("readFile", json!({ "path": "a.txt", "startLine": "2" }), "INVALID_ARGUMENT (INVALID_FIELD): "),
        ("readFile", json!({}), "INVALID_ARGUMENT (INVALID_FIELD): "),
        ("modifyFile", replace(9, "x"), "INVALID_ARGUMENT (INVALID_RANGE): "),
    ];
    for (tool, arguments, start) in cases {
        let result = call(&mut client, tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(start), "{tool} {arguments}: {text}");
        assert!(!text.contains(project.folder().to_str().unwrap()), "{text}");
    }
    // A tool that was not asked for is unknown, too.
    for tool in ["moveFile", "undo", "deleteFile"] {
        let answer = client.ask("tools/call", json!({ "name": tool, "arguments": {} }));
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    }
    // So is what no capability names, though servers of this protocol commonly answer with an empty list.
    for method in ["resources/directory/read", "logging/setLevel", "nonsense/method"] {
        let params = if method.starts_with("logging") { json!({ "level": "info" }) } else { json!({}) };
        assert_eq!(client.ask(method, params)["error"]["code"], -32_601, "{method}");
    }
}

#[test]
fn an_expression_without_a_match_is_an_error_with_the_nearest_lines() {
    let project = Project::new();
    let source = "import os\n\ndef load_config(path):\n    return open(path)\n\ndef load(path):\n    return load_config(path)\n";
    project.write("a.py", source);
    let mut client = start(&project, &[]);
    let mut replace = |pattern: &str| {
        let operation =
            json!({ "type": "regexReplace", "pattern": pattern, "replacement": "read", "flags": "g" });
        call(&mut client, "modifyFile", json!({ "path": "a.py", "operations": [operation] }))
    };
    let refused = replace(r"\bdef load_config\(file\):");
    assert_eq!(refused["isError"], true, "{refused}");
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("no pattern matches anything in 'a.py', so nothing was changed"), "{text}");
    assert!(text.contains("nearestLines:\n     3  def load_config(path):"), "{text}");
    assert!(!text.contains("import os"), "{text}");
    // Where no line is like it, none is named.
    let text = replace("zebra")["content"][0]["text"].to_string();
    assert!(!text.contains("nearestLines"), "{text}");
    assert_eq!(project.read("a.py"), source);
    // The control: with a match it is a success with counts.
    let done = replace(r"load_config\b");
    assert_eq!(done["isError"], false, "{done}");
    assert_eq!(done["structuredContent"]["replacements"][0]["replaced"], 2, "{done}");
}

#[test]
fn a_long_file_comes_in_pages_that_name_the_next() {
    let project = Project::new();
    let content: String =
        (1..=5_000).map(|line| format!("this is line number {line} of a long file\n")).collect();
    project.write("long.txt", &content);
    let mut client = start(&project, &[]);
    let mut arguments = json!({ "path": "long.txt" });
    let mut read = String::new();
    let mut pages = 0;
    loop {
        let page = text(&mut client, "readFile", arguments.clone());
        assert!(page.chars().count() < 60_500, "{}", page.len());
        let body = page.split_once('\n').unwrap().1;
        pages += 1;
        let Some((body, _)) = body.split_once("\n[lines ") else {
            read.push_str(&unnumbered(body).unwrap().1);
            break;
        };
        read.push_str(&unnumbered(&format!("{body}\n")).unwrap().1);
        arguments = follow_up(&page, "readFile");
        assert!(pages < 20);
    }
    assert!(pages > 3, "{pages}");
    assert!(read == content, "the pages together are the file");
    // So does one that is too large to be read at once.
    project.write("large.txt", &content.repeat(7));
    let page =
        text(&mut client, "readFile", json!({ "path": "large.txt", "startLine": 3, "endLine": 35_000 }));
    let header = page.split_once('\n').unwrap().0;
    let shown_to: u64 = header.split_once("lines 3-").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    assert_eq!(follow_up(&page, "readFile")["startLine"], shown_to + 1);
    assert!(!header.contains("was cut at the size limit"), "{header}");
    // Without a limit it comes at once.
    let mut client = start(&project, &["--page", "0"]);
    let whole = text(&mut client, "readFile", json!({ "path": "long.txt", "lineNumbers": false }));
    assert!(whole.ends_with(&content));
    let numbered = text(&mut client, "readFile", json!({ "path": "long.txt" }));
    assert_eq!(unnumbered(numbered.split_once('\n').unwrap().1), Some((1, content)));
}

#[test]
fn a_long_output_keeps_its_end_and_names_how_to_read_the_rest() {
    let project = Project::new();
    let mut client = start(&project, &["--tools", "readOutput"]);
    let ran = text(&mut client, "executeCommand", json!({ "command": "seq 1 30000; echo fault >&2" }));
    assert!(ran.chars().count() < 60_800, "{}", ran.len());
    assert!(ran.contains("\n1\n2\n3\n") && ran.contains("\n30000\n[standard error]\nfault\n"));
    let mut next = follow_up(&ran, "readFile");
    let gap = text(&mut client, "readFile", next.clone());
    let first = next["startLine"].as_u64().unwrap();
    assert!(!ran.contains(&format!("\n{first}\n")) && ran.contains(&format!("\n{}\n", first - 1)));
    assert!(gap.split_once('\n').unwrap().1.starts_with(&format!("{first}\n")), "{}", &gap[..200]);
    // The separate tool reads the same.
    let name = next["path"].take();
    let part =
        text(&mut client, "readOutput", json!({ "name": name, "startLine": 20_000, "endLine": 20_001 }));
    assert!(part.ends_with("\n20000\n20001\n"), "{part}");
    let other = call(&mut client, "readOutput", json!({ "name": "a.txt" }));
    assert_eq!(other["isError"], true, "{other}");
}

#[test]
fn many_matches_come_in_pages_too() {
    let project = Project::new();
    for file in 0..80 {
        project.write(&format!("f{file:02}.txt"), &format!("match {}\n", "x".repeat(950)));
    }
    let mut client = start(&project, &[]);
    let answer =
        text(&mut client, "searchFiles", json!({ "paths": ["."], "query": "match", "type": "literal" }));
    assert!(
        answer.starts_with("the first 62 of 80 matches\n")
            || answer.starts_with("the first 61 of 80 matches\n"),
        "{}",
        &answer[..40]
    );
    let next = text(&mut client, "searchFiles", follow_up(&answer, "searchFiles"));
    assert!(next.contains("f79.txt\n1: match"), "{next}");
}

#[test]
fn wap_json_gives_the_exact_answers() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = start(&project, &["--wap-json"]);
    let list = client.does("tools/list", json!({}));
    assert!(list["tools"].as_array().unwrap().iter().all(|tool| tool.get("outputSchema").is_none()));
    let read: Value =
        serde_json::from_str(&text(&mut client, "readFile", json!({ "path": "a.txt" }))).unwrap();
    assert_eq!((&read["content"], &read["totalLines"]), (&json!("one\n"), &json!(1)));
    assert_eq!(read["metadata"]["path"], "a.txt");
    let failed = call(&mut client, "readFile", json!({ "path": "b" }));
    assert_eq!(failed["isError"], true);
    let error: Value = serde_json::from_str(failed["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&error["code"], &error["details"]["reason"]),
        (&json!("FILE_NOT_FOUND"), &json!("FILE_NOT_FOUND"))
    );
}

#[test]
fn a_log_that_is_too_long_is_read_page_by_page() {
    let project = Project::new();
    let mut client = start(&project, &["--tools", "log,undo", "--page", "1000"]);
    assert_eq!(text(&mut client, "log", json!({})), "nothing was done here yet");
    let command = "for i in $(seq 100 199); do echo $i > a-file-with-a-name-$i; done";
    text(&mut client, "executeCommand", json!({ "command": command }));
    for number in 0..5 {
        call(&mut client, "writeFile", json!({ "path": format!("single-{number}"), "content": "" }));
    }
    let mut pages = Vec::new();
    let mut arguments = json!({});
    loop {
        let page = text(&mut client, "log", arguments);
        assert!(page.chars().count() < 1_300, "{page}");
        let is_last = !page.contains("go on with log");
        if !is_last {
            arguments = follow_up(&page, "log");
            assert!(page.contains("left out"), "{page}");
        } else {
            arguments = Value::Null;
        }
        pages.push(page);
        if is_last {
            break;
        }
    }
    assert!(pages.len() > 5, "{pages:?}");
    let all = pages.concat();
    let named =
        |name: &str| all.lines().filter(|line| line.split("  ").any(|part| part.trim() == name)).count();
    for number in 100..200 {
        assert_eq!(named(&format!("a-file-with-a-name-{number}")), 1, "{number}:\n{all}");
    }
    for number in 0..5 {
        assert_eq!(named(&format!("single-{number}")), 1, "{number}:\n{all}");
    }
    // As many runs as are asked for, and where the others are.
    let page = text(&mut client, "log", json!({ "limit": 2 }));
    assert!(page.contains("single-4") && page.contains("single-3") && !page.contains("single-2"), "{page}");
    let next = follow_up(&page, "log");
    assert!(text(&mut client, "log", next).contains("single-2"));
}

#[test]
fn an_undo_of_many_files_says_what_it_leaves_out() {
    let project = Project::new();
    let mut client = start(&project, &["--tools", "log,undo", "--page", "1000"]);
    let command = "for i in $(seq 100 199); do echo $i > a-file-with-a-name-$i; done";
    text(&mut client, "executeCommand", json!({ "command": command }));
    let report = text(&mut client, "undo", json!({}));
    assert!(report.chars().count() < 1_300, "{report}");
    let count = report.matches("a-file-with").count();
    assert!(report.contains(&format!("[{} lines are left out; log", 100 - count)), "{report}");
    assert!(report.contains("reverts this"), "{report}");
    assert!(!project.has("a-file-with-a-name-150"));
    let listed = text(&mut client, "log", follow_up(&report, "log"));
    assert!(listed.contains("a-file-with-a-name-1"), "{listed}");
    // A refusal, too: what is in the way is more than fits.
    text(&mut client, "executeCommand", json!({ "command": command }));
    for number in 100..200 {
        project.write(&format!("a-file-with-a-name-{number}"), "mine\n");
    }
    let refused = call(&mut client, "undo", json!({}));
    let said = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && said.chars().count() < 1_300, "{refused}");
    assert!(said.contains("has changed since") && said.contains("lines are left out; undo with"), "{said}");
}

#[test]
fn cancelling_kills_the_command_and_progress_tells_of_it() {
    let project = Project::new();
    let mut client = start(&project, &[]);
    let id = client.request(
        "tools/call",
        json!({
            "name": "executeCommand",
            "arguments": { "command": "echo working; touch begun; sleep 30; touch ended", "timeout": 60_000 },
            "_meta": { "progressToken": "p1" }
        }),
    );
    let report = client.wait_for("progress", |message| {
        message["params"]["message"].as_str().is_some_and(|text| text.contains("working"))
    });
    assert_eq!(
        (&report["method"], &report["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("p1"))
    );
    eventually("the command runs", || project.written("begun").is_some());
    client.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
    // Commands queue, so this one runs because the other one is gone.
    assert!(text(&mut client, "executeCommand", json!({ "command": "echo next" })).ends_with("next\n"));
    assert!(!project.has("ended"));
}

#[test]
fn a_client_that_closes_its_end_leaves_nothing_running() {
    let project = Project::new();
    let mut client = start(&project, &[]);
    client.request("tools/call", json!({
        "name": "executeCommand", "arguments": { "command": "touch begun; sleep 30; touch ended", "timeout": 60_000 }
    }));
    eventually("the command runs", || project.written("begun").is_some());
    client.end().ok();
    assert!(!project.has("ended"));
}

#[test]
fn line_numbers_stay_right_while_another_client_edits() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\nthree\n");
    let (mut one, mut other) = (start(&project, &[]), start(&project, &[]));
    text(&mut one, "readFile", json!({ "path": "a.txt" }));
    let operation = json!({ "type": "insert", "afterLine": 0, "newContent": "zero" });
    call(&mut other, "modifyFile", json!({ "path": "a.txt", "operations": [operation] }));
    assert_eq!(call(&mut one, "modifyFile", replace(3, "THREE"))["structuredContent"]["success"], true);
    assert_eq!(project.read("a.txt"), "zero\none\ntwo\nTHREE\n");
}

#[test]
fn what_is_no_message_does_not_end_it() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = start(&project, &[]);
    client.send_bytes(b"not json\n[]\n{}\n\xff\n");
    assert!(text(&mut client, "readFile", json!({ "path": "a.txt" })).ends_with("one\n"));
}

#[test]
fn long_answers_and_refusals_are_whole_lines_each() {
    let project = Project::new();
    // Much to escape, and more than a pipe holds.
    let content: String =
        (0..20_000).map(|line| format!("\tlet line_{line} = \"\\u{{1b}}\u{1b} \u{20ac}\";\r\n")).collect();
    project.write("long.txt", &content);
    let mut client = start(&project, &["--page", "0"]);
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(
            client.request("tools/call", json!({ "name": "readFile", "arguments": { "path": "long.txt" } })),
        );
        client.send_bytes(b"{}\n");
    }
    for id in ids {
        let answer = client.answer(id);
        let (header, body) =
            answer["result"]["content"][0]["text"].as_str().unwrap().split_once('\n').unwrap();
        assert!(header.starts_with("long.txt: lines 1-20000 of 20000"), "{header}");
        assert!(unnumbered(body).is_some_and(|(_, text)| text == content));
    }
    for _ in 0..10 {
        let refusal = client.wait_for("a refusal", |message| message.get("error").is_some());
        assert_eq!(refusal["error"]["code"], -32_600, "{refusal}");
    }
    assert!(client.is_silent());
}

#[test]
fn a_workspace_that_is_none_is_said_at_once() {
    let project = Project::new();
    project.run(&["mcp", "--workspace", "missing"]).exits(2).says("does not exist");
}

#[test]
fn a_folder_that_cannot_be_opened_is_said_by_the_first_call() {
    let project = Project::new();
    project.write("plain", "");
    let mut client = LineClient::start(project.command(&["mcp", "--base", "plain/state"]));
    client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    client.notify("notifications/initialized", json!({}));
    let result = call(&mut client, "readFile", json!({ "path": "plain" }));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(result["isError"] == true && text.contains("standard error says why"), "{result}");
    let ended = client.end();
    assert!(ended.stderr.contains("cannot be used"), "{ended}");
}
