//! Cases of cocode with real agents, worktrees and state.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cocode_env::{AgentState, ExitMeaning};
use cocode_runner::{AgentDefinition, AgentRecord, RunEvent, RunObserver, StopFlag, read_records};
use serde_json::{Value, json};

use crate::conformance::Outcome;
use crate::conformance::cocode::each;
use crate::conformance::cocode::ground::{CocodeGround, script};
use crate::conformance::problem::{Problem, ensure};

/// Runs a case of the kinds agent_run, adapter, worktree and state.
pub(crate) fn run(case: &Value) -> Outcome {
    let result = match case["kind"].as_str() {
        Some("agent_run") => agent_run(case),
        Some("adapter") => adapter(case),
        Some("worktree") => worktree(case),
        Some("state") => state(case),
        other => return Outcome::Failed(format!("the kind {other:?} has another runner")),
    };
    result.unwrap_or_else(|problem| Outcome::Failed(problem.to_string()))
}

/// Keeps the lines that an agent printed, and does something when it has started.
struct Seen<'a> {
    lines: Mutex<Vec<String>>,
    on_start: &'a (dyn Fn() + Sync),
}

impl RunObserver for Seen<'_> {
    fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::Started { .. } => (self.on_start)(),
            RunEvent::Log { line, .. } => {
                self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.message.clone());
            }
            _ => {}
        }
    }
}

/// Variables that a case's agent could be given; all of them are set where it is started.
const OFFERED: [&str; 14] = [
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_TIME",
    "TERM",
    "TERMINFO",
    "USER",
    "USERNAME",
    "TZ",
    "COCODE_EXTRA",
    "CLAUDE_X",
    "ANTHROPIC_X",
    "CODEX_X",
    "ANY_OTHER",
];

fn agent_run(case: &Value) -> Result<Outcome, Problem> {
    let (input, expect) = (&case["input"], &case["expect"]);
    let mut ground = CocodeGround::new()?;
    let text = input["agent_bash"].as_str().ok_or_else(|| Problem::new("the case has no agent"))?;
    for name in OFFERED {
        ground.host.variables.insert(name.into(), "C".into());
    }
    for (name, value) in
        input["parent_env"].as_object().into_iter().flatten().filter(|(name, _)| *name != "HOME")
    {
        ground.host.variables.insert(name.into(), value.as_str().unwrap_or_default().into());
    }
    let is_cancelled = text.contains("cancel from outside");
    let mut agent = script(text.trim_end_matches("(cancel from outside)"))?;
    agent.environment.insert("CUSTOM".to_owned(), "1".to_owned());
    agent.timeout = input["timeout_s"].as_u64().map(Duration::from_secs);
    if case["name"] == "run_empty_repo" {
        let empty = ground.root.join("empty");
        fs::create_dir(&empty)?;
        ground.git(&empty, &["init", "-q"])?;
        let refused = ground.runner(&empty)?.plan(&ground.request(agent, 7)?).is_err();
        return Ok(each(expect, &json!({ "ready": !refused })));
    }
    let stop = StopFlag::new();
    let on_start = || {
        if is_cancelled {
            stop.raise();
        }
    };
    let seen = Seen { lines: Mutex::default(), on_start: &on_start };
    let began = Instant::now();
    let runner = ground.runner(&ground.repository())?;
    let record = runner.run(&ground.request(agent, 7)?, &stop, &seen)?.remove(0);
    let wall = began.elapsed();
    let lines = seen.lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(judge(expect, &record, &lines, wall, &ground))
}

fn judge(
    expect: &Value,
    record: &AgentRecord,
    lines: &[String],
    wall: Duration,
    ground: &CocodeGround,
) -> Outcome {
    let code = record.exit_code.unwrap_or(-1);
    let verdict = record.verdict.as_ref();
    let parts = verdict.into_iter().flat_map(|verdict| &verdict.parts);
    let failed: Vec<&str> = parts.filter(|part| !part.holds).map(|part| part.name.name()).collect();
    let value = |name: &str| lines.iter().find_map(|line| line.strip_prefix(&format!("{name}=")));
    let user_path = ground.host.search_path().to_string_lossy().into_owned();
    let mut actual = json!({
        "exit": code,
        "state": record.state.name(),
        "outcome": ExitMeaning::of(code).name(),
        "ready": record.state == AgentState::Ready,
        "failed": failed,
        "marker_present": verdict.is_some_and(|verdict| verdict.marker_present),
        "signal": code - 128,
        "stdout": lines,
        "warn": record.warnings.first(),
        "PATH": value("PATH"),
    });
    let has = |name: &str| match name.strip_suffix('*') {
        Some(prefix) => lines.iter().any(|line| line.starts_with(prefix)),
        None => value(name).is_some(),
    };
    // What is not equality is brought to it: the expectation itself if it holds, and what there is if not.
    let holds = |key: &str, holds: bool, found: Value| if holds { expect[key].clone() } else { found };
    if let Some(limit) = expect["wall_s_max"].as_f64() {
        let seconds = wall.as_secs_f64();
        actual["wall_s_max"] = holds("wall_s_max", seconds <= limit, seconds.into());
    }
    if let Some(part) = expect["advice_contains"].as_str() {
        let told = record.detail.clone().unwrap_or_default();
        actual["advice_contains"] = holds("advice_contains", told.contains(part), told.into());
    }
    if let Some(names) = expect["kept"].as_array() {
        let missing: Vec<&str> = names.iter().filter_map(Value::as_str).filter(|name| !has(name)).collect();
        actual["kept"] = holds("kept", missing.is_empty(), json!({ "missing": missing }));
    }
    if let Some(names) = expect["dropped"].as_array() {
        let names = names.iter().filter_map(Value::as_str);
        let names = names.map(|name| if name == "any other" { "ANY_OTHER" } else { name });
        let kept: Vec<&str> = names.filter(|name| has(name)).collect();
        actual["dropped"] = holds("dropped", kept.is_empty(), json!({ "kept": kept }));
    }
    if expect["PATH"] == "the user's" {
        let path = value("PATH").unwrap_or_default();
        let is_theirs = user_path
            .split(':')
            .filter(|folder| folder.starts_with("/usr"))
            .all(|folder| path.contains(folder));
        actual["PATH"] = holds("PATH", is_theirs, path.into());
    }
    each(expect, &actual)
}

fn adapter(case: &Value) -> Result<Outcome, Problem> {
    let ground = CocodeGround::new()?;
    let issue = case["input"]["issue"].as_u64().unwrap_or_default();
    let name =
        if case["name"].as_str().is_some_and(|name| name.starts_with("claude")) { "claude" } else { "codex" };
    ground.stub(name, "#!/bin/sh\nexit 0\n")?;
    let agent =
        AgentDefinition::built_in(&name.parse()?).ok_or_else(|| Problem::new("it is not built in"))?;
    let runner = ground.runner(&ground.repository())?;
    let request = ground.request(agent, issue)?;
    if let Some(parts) = case["expect"]["argv_contains"].as_array() {
        let line = runner.plan(&request)?.lines().remove(0);
        let body_file = format!("{}.issue.txt", line.worktree.display());
        for part in parts.iter().filter_map(Value::as_str) {
            let part = if part.starts_with('<') { &body_file } else { part };
            ensure(line.command.contains(part), || format!("{part} is not in {}", line.command))?;
        }
        return Ok(Outcome::Passed);
    }
    let seen = Seen { lines: Mutex::default(), on_start: &|| {} };
    let record = runner.run(&request, &StopFlag::new(), &seen)?.remove(0);
    Ok(each(&case["expect"], &json!({ "starts": record.exit_code == Some(0) })))
}

fn worktree(case: &Value) -> Result<Outcome, Problem> {
    let (ground, input, expect) = (CocodeGround::new()?, &case["input"], &case["expect"]);
    let name = case["name"].as_str().unwrap_or_default();
    let checked = match name {
        "worktree_branch" => plan_of_a_branch(&ground, input, expect),
        "worktree_existing_branch_stale_marker" => stale_marker(&ground),
        "worktree_foreign_directory" => foreign_directory(&ground),
        "worktree_two_repos_one_parent" => two_repositories(&ground),
        _ => Err(Problem::new("the case has no steps here")),
    };
    checked.map(|actual| each(expect, &actual))
}

fn plan_of_a_branch(ground: &CocodeGround, input: &Value, expect: &Value) -> Result<Value, Problem> {
    let runner = ground.runner(&ground.repository())?;
    let request = ground.request(script("true")?, input["issue"].as_u64().unwrap_or_default())?;
    let line = runner.plan(&request)?.lines().remove(0);
    let is_outside = !line.worktree.ancestors().any(|folder| folder.join(".git").exists());
    ensure(is_outside && line.base == "main", || format!("{line:?}"))?;
    Ok(json!({ "branch": line.branch, "dir": expect["dir"], "base": expect["base"] }))
}

fn stale_marker(ground: &CocodeGround) -> Result<Value, Problem> {
    let repository = ground.repository();
    ground.git(&repository, &["checkout", "-q", "-b", "cocode/7-a"])?;
    ground.git(&repository, &["commit", "-q", "--allow-empty", "-m", "cocode ready for check"])?;
    ground.git(&repository, &["checkout", "-q", "main"])?;
    let is_refused = ground.runner(&repository)?.plan(&ground.request(script("true")?, 7)?).is_err();
    Ok(json!({ "ready_before_agent_commits": !is_refused }))
}

fn foreign_directory(ground: &CocodeGround) -> Result<Value, Problem> {
    let runner = ground.runner(&ground.repository())?;
    let request = ground.request(script("true")?, 7)?;
    let folder = runner.plan(&request)?.lines().remove(0).worktree;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("precious"), "kept")?;
    let seen = Seen { lines: Mutex::default(), on_start: &|| {} };
    let is_refused = runner.run(&request, &StopFlag::new(), &seen).is_err();
    runner.clean(true, false)?;
    Ok(json!({ "error": is_refused, "precious_kept": fs::read(folder.join("precious"))? == b"kept" }))
}

fn two_repositories(ground: &CocodeGround) -> Result<Value, Problem> {
    let mut folders = Vec::new();
    for name in ["one/main", "one/other", "two/main"] {
        let folder = ground.root.join(name);
        ground.make_repository(&folder)?;
        let runner = ground.runner(&folder)?;
        folders.push(runner.plan(&ground.request(script("true")?, 7)?)?.lines().remove(0).worktree);
    }
    folders.sort();
    folders.dedup();
    Ok(json!({ "distinct_dirs": folders.len() == 3 }))
}

fn state(case: &Value) -> Result<Outcome, Problem> {
    let ground = CocodeGround::new()?;
    let expect = &case["expect"];
    let runner = ground.runner(&ground.repository())?;
    let (folder, copy) = (ground.root.join("state-repository"), ground.root.join("copy"));
    // What is on the disk at a moment in the middle is what a crash leaves.
    let on_start = || {
        let _ = copy_folder(&folder.join("records"), &copy.join("records"));
    };
    let seen = Seen { lines: Mutex::default(), on_start: &on_start };
    runner.run(&ground.request(script("true")?, 7)?, &StopFlag::new(), &seen)?;
    if expect.get("old_or_new_state_readable").is_some() {
        let records = read_records(&copy)?;
        let is_readable = records.len() == 1;
        return Ok(each(expect, &json!({ "old_or_new_state_readable": is_readable })));
    }
    let record = serde_json::to_value(runner.records()?.first())?;
    let names = |key: &str| expect[key].as_array().cloned().unwrap_or_default();
    let missing = names("agent_fields")
        .into_iter()
        .find(|name| record.get(name.as_str().unwrap_or_default()).is_none());
    ensure(missing.is_none(), || format!("the record lacks {missing:?}"))?;
    let values: Vec<&str> = AgentState::ALL.iter().map(|state| state.name()).collect();
    let is_untouched = ground.git(&ground.repository(), &["status", "--porcelain", "--ignored"])?.is_empty();
    let is_under = folder.join("records").is_dir();
    Ok(each(
        expect,
        &json!({
            "under": if is_under { "the state folder" } else { "elsewhere" },
            "in_repository": if is_untouched { "nothing" } else { "something" },
            "agent_fields": expect["agent_fields"],
            "state_values": values,
        }),
    ))
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
