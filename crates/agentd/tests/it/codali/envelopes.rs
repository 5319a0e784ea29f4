//! Requests in envelopes: what is read, and what is answered.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::project::Project;
use test_support::skip;

const ARCHITECT: &str = "AGENT_REQUEST v1\nrole: architect\nrequest_id: 123\nneeds:\n  - type: docdex.search\n    query: \"landing page HTML\"\n    limit: 5\n  - type: file.read\n    path: \"src/public/index.html\"\ncontext:\n  summary: \"Need root page HTML to finish plan\"\n";

fn project() -> Project {
    let project = Project::new();
    project.write("src/public/index.html", "<h1>landing page</h1>\n").write("notes.md", "one\n");
    project
}

#[test]
fn parse_prints_what_the_reader_sees() {
    let project = project();
    let parsed = project.run_with_input(&["parse", "codali"], ARCHITECT).ok().json();
    let needs = json!([
        { "type": "docdex.search", "query": "landing page HTML", "limit": 5 },
        { "type": "file.read", "path": "src/public/index.html" }
    ]);
    let request = json!({
        "version": "v1",
        "role": "architect",
        "request_id": "123",
        "needs": needs,
        "context": { "summary": "Need root page HTML to finish plan" }
    });
    assert_eq!(parsed, json!({ "request": request, "warnings": [] }));

    let file = project.reply_file(
        "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - type: file.list\n    pattern: *.rs\n    limit: x\n",
    );
    let file = file.to_str().unwrap();
    let parsed = project.run(&["parse", "codali", file]).ok().json();
    assert_eq!(parsed["request"]["needs"][0]["pattern"], "*.rs");
    assert_eq!(parsed["request"]["context"], Value::Null);
    let refused = project.run(&["parse", "codali", file, "--strict"]).exits(2).says("\"    pattern: *.rs\"");
    assert_eq!(refused.json(), json!({ "error": "invalid_yaml", "line": 5, "column": 14 }));
    // The reader takes a bare envelope; finding one in a reply is another matter.
    let refused = project.run_with_input(&["parse", "codali", "-"], &format!("Hello\n{ARCHITECT}")).exits(2);
    assert_eq!(refused.json(), json!({ "error": "no_request", "line": 1, "column": 1 }));
    let refused = project
        .run_with_input(&["parse", "codali"], "AGENT_REQUEST v1\nrequest_id: 1\nneeds: [a]\n")
        .exits(2);
    assert_eq!(refused.json()["warnings"], json!(["invalid_need: a need is not a list of fields"]));
    assert!(!project.base().exists());
}

#[test]
fn codali_answers_the_request_in_a_reply() {
    let project = project();
    let reply = format!("Let me look first.\n\n```yaml\n{ARCHITECT}```\nThanks!");
    let ran = project.run_with_input(&["codali", "--deterministic"], &reply).ok();
    let beginning = "CODALI_RESPONSE v1\nrequest_id: \"123\"\nresults:\n  - type: docdex.search\n    query: landing page HTML\n    hits:\n      - doc_id: src/public/index.html#1-1\n        path: src/public/index.html\n        score: ";
    assert!(ran.stdout.starts_with(beginning), "{}", ran.stdout);
    let end = "        snippet: |\n          <h1>landing page</h1>\n        line_start: 1\n        line_end: 1\n        token_estimate: 6\n  - type: file.read\n    path: src/public/index.html\n    content: |\n      <h1>landing page</h1>\nmeta:\n  repo_root: code\n";
    assert!(ran.stdout.ends_with(end), "{}", ran.stdout);
    let again = project.run_with_input(&["codali", "-", "--deterministic"], &reply).ok();
    assert_eq!(again.stdout, ran.stdout);

    let json_body = project.run_with_input(&["codali", "--format", "json-body"], &reply).ok();
    let (header, body) = json_body.stdout.split_once('\n').unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (header, &body["version"], &body["request_id"]),
        ("CODALI_RESPONSE v1", &json!("v1"), &json!("123"))
    );
    assert!(body["meta"]["elapsed_ms"].is_u64());
    let json = project.run_with_input(&["codali", "--json"], &reply).ok().json();
    assert_eq!(json["results"], body["results"]);
    assert!(!ran.stdout.contains(project.folder().to_str().unwrap()));
    assert!(!project.base().exists(), "answering makes no state folder");
}

#[test]
fn codali_asks_the_code_index_of_the_folder() {
    let project = project();
    project.write("app/cart.py", "from app.money import Money\nfrom app.gone import x\n\nclass Cart:\n    def total(self):\n        return Money()\n");
    project
        .write("app/money.py", "class Money:\n    pass\n")
        .write("app/__init__.py", "")
        .write(".env", "class Money: hidden\n");
    let request = "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - {type: docdex.search, query: class Money}\n  - {type: docdex.symbols, file: app/cart.py}\n  - {type: docdex.impact, file: app/money.py}\n  - {type: docdex.impact_diagnostics}\n  - {type: docdex.ast, file: app/money.py, max_nodes: 2}\n  - {type: docdex.symbols, file: .env}\n  - {type: docdex.snippet, doc_id: \"app/money.py#1-2\", window: 10}\n";
    let first = project.run_with_input(&["codali", "--json", "--deterministic"], request).ok().json();
    let results = &first["results"];
    assert_eq!(results[0]["hits"][0]["path"], "app/money.py");
    assert_eq!(results[1]["symbols"][1]["signature"], "def total(self)");
    assert_eq!(results[2]["inbound"], json!([{ "file": "app/cart.py", "kind": "import", "depth": 1 }]));
    assert_eq!(
        results[3]["diagnostics"],
        json!([{ "file": "app/cart.py", "line": 2, "import": "from app.gone import x" }])
    );
    assert_eq!(
        (results[4]["nodes"][0]["kind"].as_str(), results[4]["truncated"].as_bool()),
        (Some("module"), Some(true))
    );
    assert_eq!(results[5]["error"], "docdex_symbols_failed");
    assert_eq!(results[6]["content"], "class Money:\n    pass\n");
    assert!(!first.to_string().contains("hidden"), "{first}");
    assert!(!project.base().exists(), "answering makes no state folder");

    // With an index that is kept the answer is the same, and what has changed since is seen.
    project.run(&["index", "build"]).ok();
    assert!(project.base().join("index").is_dir());
    let kept = project.run_with_input(&["codali", "--json", "--deterministic"], request).ok().json();
    assert_eq!(kept, first);
    project.write("app/gone.py", "x = 1\n");
    let later = project.run_with_input(&["codali", "--json"], request).ok().json();
    assert_eq!(later["results"][3]["diagnostics"], json!([]));
}

#[test]
fn the_index_knows_the_languages_that_a_release_has() {
    let project = project();
    project
        .write(
            "lib/cart.rb",
            "require_relative \"money\"\n\nclass Cart\n  def total\n    Money.new\n  end\nend\n",
        )
        .write("lib/money.rb", "class Money\nend\n")
        .write("bin/deploy", "#!/usr/bin/env bash\nsend() {\n  echo sent\n}\n");
    let request = "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - {type: docdex.symbols, file: lib/cart.rb}\n  - {type: docdex.impact, file: lib/money.rb}\n  - {type: docdex.symbols, file: bin/deploy}\n";
    let answer = project.run_with_input(&["codali", "--json", "--deterministic"], request).ok().json();
    let names = |result: usize| -> Vec<&str> {
        let symbols = answer["results"][result]["symbols"].as_array().unwrap();
        symbols.iter().map(|symbol| symbol["name"].as_str().unwrap()).collect()
    };
    assert_eq!(names(0), ["Cart", "total"], "{answer}");
    assert_eq!(answer["results"][1]["inbound"][0]["file"], "lib/cart.rb", "{answer}");
    assert_eq!(names(2), ["send"], "{answer}");
}

#[test]
fn a_docdex_daemon_that_is_gone_is_answered_for_by_the_local_index() {
    let project = project();
    let refusing = test_support::RefusingAddress::bind();
    let url = format!("http://{}", refusing.address);
    let ran = project.run_with_input(&["codali", "--json", "--docdex", &url], ARCHITECT).ok().json();
    assert_eq!(ran["results"][0]["hits"][0]["path"], "src/public/index.html", "{ran}");
    let warning = ran["meta"]["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.starts_with("docdex_search_failed: the docdex daemon gave no answer"), "{ran}");
    for bad in ["https://127.0.0.1", "127.0.0.1", "http://a/b", "http://"] {
        project.run_with_input(&["codali", "--docdex", bad], ARCHITECT).exits(2);
    }
}

#[test]
fn an_index_is_built_looked_at_and_searched() {
    let project = project();
    let built = project.run(&["index", "build", "--json"]).ok().json();
    assert_eq!((&built["state"], &built["read"]), (&json!("ready"), &json!(2)));
    let again = project.run(&["index", "build", "--json"]).ok().json();
    assert_eq!((&again["files"], &again["read"]), (&json!(2), &json!(0)));
    assert_eq!(project.run(&["index", "build", "--fresh", "--json"]).ok().json()["read"], 2);
    let status = project.run(&["index", "status", "--json"]).ok().json();
    assert_eq!((&status["state"], &status["texts"]), (&json!("ready"), &json!(2)));
    let answer = project.run(&["index", "search", "landing", "page", "--json"]).ok().json();
    assert_eq!(answer["hits"][0]["path"], "src/public/index.html");
    project.run(&["index", "search", "landing"]).ok();
    fs::write(project.base().join("index/index.db"), "no database").unwrap();
    let anew = project.run(&["index", "build"]).ok();
    assert!(anew.stderr.contains("it is built anew"), "{}", anew.stderr);
}

#[test]
fn codali_says_why_a_request_is_not_answered() {
    let project = project();
    project
        .run_with_input(&["codali"], "The bug is in line 12.\n")
        .exits(2)
        .says("there is no request in the text");
    project.run(&["codali", "missing.txt"]).exits(2).says("cannot read missing.txt");
    let two = format!("{ARCHITECT}\n{ARCHITECT}");
    let ran =
        project.run_with_input(&["codali", "--json"], &two).exits(2).says("a second envelope begins here");
    let warning = ran.json()["meta"]["warnings"][0].as_str().unwrap().to_owned();
    assert!(warning.starts_with("multiple_envelopes: line 13, column 1: "), "{warning}");
    let nameless = "AGENT_REQUEST v1\nneeds:\n  - {type: file.read, path: a}\n";
    project.run_with_input(&["codali"], nameless).exits(2).says("--request-id NAME");
    let bad = "AGENT_REQUEST v1\nrequest_id: r\nneeds:\n  - type: shell.run\n";
    let ran = project.run_with_input(&["codali", "--json"], bad).exits(2).json();
    assert_eq!((&ran["request_id"], &ran["results"][0]["error"]), (&json!("r"), &json!("unsupported_need")));
}

#[test]
fn codali_keeps_within_its_budget_and_the_folder() {
    let project = project();
    let long: String = (0..1_000).map(|line| format!("line {line}\n")).collect();
    project.write("long.txt", &long);
    fs::write(project.folder().join("outside.txt"), "secret\n").unwrap();
    std::os::unix::fs::symlink("../outside.txt", project.workspace().join("link.txt")).unwrap();
    let request = "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - {type: file.read, path: long.txt}\n  - {type: file.read, path: link.txt}\n  - {type: file.read, path: ../outside.txt}\n  - {type: file.list, root: ..}\n";
    let whole = project.run_with_input(&["codali", "--json"], request).ok().json();
    assert_eq!(whole["results"][0]["content"], *long);
    let errors: Vec<_> =
        (1..4).map(|index| whole["results"][index]["error"].as_str().unwrap().to_owned()).collect();
    assert_eq!(errors, ["path_outside_workspace"; 3]);
    assert!(!whole.to_string().contains("secret"));
    let small = project.run_with_input(&["codali", "--budget", "250"], request).ok();
    assert!(small.stdout.len() < 2_000, "{}", small.stdout);
    assert!(small.stdout.contains("truncated: true\n    total_lines: 1000\n"), "{}", small.stdout);
    assert!(small.stdout.contains("\"truncated: long.txt "), "{}", small.stdout);
}

#[test]
fn codali_shows_what_has_changed_in_a_repository() {
    let project = project();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(arguments).current_dir(project.workspace());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        git.output().is_ok_and(|output| output.status.success())
    };
    if !git(&["init", "--quiet"]) {
        return skip("codali_shows_what_has_changed_in_a_repository", "there is no git here");
    }
    assert!(git(&["add", "--all"]));
    project.write("notes.md", "one\ntwo\n").write("ran.sh", "#!/bin/sh\necho ran >> ran.log\n");
    // What a repository configures is not run.
    for key in ["diff.external", "core.fsmonitor", "core.pager"] {
        assert!(git(&["config", key, "sh ran.sh"]));
    }
    let request = "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - {type: file.diff, paths: [notes.md]}\n  - {type: file.diff, paths: [src]}\n";
    let answered = project.run_with_input(&["codali", "--json"], request).ok().json();
    if answered["results"][0]["message"].as_str().is_some_and(|why| why.contains("git is not installed")) {
        return skip("codali_shows_what_has_changed_in_a_repository", "confined commands find no git");
    }
    let diff = answered["results"][0]["diff"].as_str().unwrap_or_else(|| panic!("{answered}"));
    assert!(
        diff.starts_with("diff --git a/notes.md b/notes.md\n") && diff.ends_with(" one\n+two\n"),
        "{diff}"
    );
    assert_eq!(answered["results"][1]["diff"], "", "{answered}");
    assert!(!project.has("ran.log") && !project.base().exists());
    // It would be, if it were left to the repository.
    assert!(git(&["diff"]) && project.has("ran.log"));
    // A file of credentials that git tracks is left out, and its absence is reported.
    project.write(".env", "PIN=4711\n");
    assert!(git(&["add", "-f", ".env"]));
    project.write(".env", "PIN=0815\n");
    let request = "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - {type: file.diff, paths: [notes.md, .env]}\n";
    let answered = project.run_with_input(&["codali", "--json"], request).ok().json();
    let diff = answered["results"][0]["diff"].as_str().unwrap_or_else(|| panic!("{answered}"));
    assert!(diff.starts_with("diff --git a/notes.md") && !diff.contains("PIN"), "{diff}");
    let warning = "truncated: file.diff leaves out what may hold credentials (1): .env";
    assert!(answered["meta"]["warnings"].as_array().unwrap().iter().any(|one| one == warning), "{answered}");
    let arguments = ["codali", "--json", "--read-secret", ".env"];
    let granted = project.run_with_input(&arguments, request).ok().json();
    assert!(granted["results"][0]["diff"].as_str().unwrap().contains("+PIN=0815"), "{granted}");
}

#[test]
fn a_request_without_a_name_can_be_given_one() {
    let project = project();
    let nameless = ARCHITECT.replace("request_id: 123\n", "");
    let refused = project.run_with_input(&["codali", "--deterministic"], &nameless).exits(2);
    assert!(refused.stdout.contains("missing_request_id"), "{}", refused.stdout);
    let named = project.run_with_input(&["codali", "--request-id", "mine"], &nameless).ok();
    assert!(named.stdout.starts_with("CODALI_RESPONSE v1\nrequest_id: mine\n"), "{}", named.stdout);
    let own = project.run_with_input(&["codali", "--request-id", "mine"], ARCHITECT).ok();
    assert!(own.stdout.starts_with("CODALI_RESPONSE v1\nrequest_id: \"123\"\n"), "{}", own.stdout);
    project.run_with_input(&["codali", "--request-id", ""], &nameless).exits(2);
    project.run(&["codali", "--request-id", "mine", "--watch", "."]).exits(2);
}

#[test]
fn where_nothing_valid_is_asked_the_exit_code_says_so() {
    let project = project();
    let ran = project
        .run_with_input(&["codali"], "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - type: shell.run\n")
        .exits(2)
        .says("the request has no valid need");
    assert!(ran.stdout.starts_with("CODALI_RESPONSE v1\n"), "the agent learns why: {}", ran.stdout);
    assert!(ran.stdout.contains("unsupported_need: shell.run"), "{}", ran.stdout);
}

#[test]
fn dependencies_are_paths_where_the_public_readers_are_to_read_them() {
    let project = project();
    project
        .write("src/a.py", "from . import b\nimport os\n")
        .write("src/__init__.py", "")
        .write("src/b.py", "");
    let request = "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - type: docdex.impact\n    file: src/a.py\n";
    let impact = |options: &[&str]| {
        let options: Vec<&str> = ["codali", "--json"].iter().chain(options).copied().collect();
        project.run_with_input(&options, request).ok().json()["results"][0].clone()
    };
    let plain = impact(&[]);
    assert_eq!(plain["outbound"][0]["file"], "src/b.py", "{plain}");
    let compatible = impact(&["--compat", "codali"]);
    assert_eq!(
        (&compatible["type"], &compatible["file"], &compatible["inbound"], &compatible["outbound"]),
        (&json!("docdex.impact"), &json!("src/a.py"), &json!([]), &json!(["src/b.py"])),
        "{compatible}"
    );
    project.run_with_input(&["codali", "--compat", "other"], request).exits(2);
}

#[test]
fn parse_tag_takes_both_dialects_and_names_them() {
    let project = project();
    let reply = "[READ_FILE path=\"a\"]\n";
    let plain = project.run_with_input(&["parse", "tag"], reply).ok().json();
    assert_eq!(plain.get("dialect"), None);
    for dialect in ["agentd", "codingagent"] {
        let mut parsed = project.run_with_input(&["parse", "tag", "--dialect", dialect], reply).ok().json();
        assert_eq!(parsed["dialect"], dialect);
        parsed.as_object_mut().unwrap().remove("dialect");
        assert_eq!(parsed, plain);
    }
    project.run_with_input(&["parse", "tag", "--dialect", "other"], reply).exits(2);
}
