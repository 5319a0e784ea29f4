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
use crate::conformance::cocode::fixture::{CocodeFixture, script};
use crate::conformance::expected::{list, members, text};
use crate::conformance::problem::Problem;

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

/// Records the lines that an agent printed, and calls `on_start` when it has started.
struct LogRecorder<'a> {
    lines: Mutex<Vec<String>>,
    on_start: &'a (dyn Fn() + Sync),
}

impl RunObserver for LogRecorder<'_> {
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
    let mut fixture = CocodeFixture::new()?;
    let text = input["agent_bash"].as_str().ok_or_else(|| Problem::new("the case has no agent"))?;
    for name in OFFERED {
        fixture.host.variables.insert(name.into(), "C".into());
    }
    for (name, value) in
        input["parent_env"].as_object().into_iter().flatten().filter(|(name, _)| *name != "HOME")
    {
        fixture.host.variables.insert(name.into(), value.as_str().unwrap_or_default().into());
    }
    let is_cancelled = text.contains("cancel from outside");
    let mut agent = script(text.trim_end_matches("(cancel from outside)"))?;
    agent.environment.insert("CUSTOM".to_owned(), "1".to_owned());
    agent.timeout = input["timeout_s"].as_u64().map(Duration::from_secs);
    if is_in_empty_repository(case) {
        return in_empty_repository(&fixture, agent, expect);
    }
    let stop = StopFlag::new();
    let on_start = || {
        if is_cancelled {
            stop.raise();
        }
    };
    let recorder = LogRecorder { lines: Mutex::default(), on_start: &on_start };
    let began = Instant::now();
    let runner = fixture.runner(&fixture.repository())?;
    let record = runner.run(&fixture.request(agent, 7)?, &stop, &recorder)?.remove(0);
    let wall = began.elapsed();
    let lines = recorder.lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(judge(expect, &record, &lines, wall, &fixture))
}

/// A case without a commit to begin with says so in its input, or in what it is called for.
fn is_in_empty_repository(case: &Value) -> bool {
    let named = |text: &Value| {
        text.as_str().is_some_and(|text| text.contains("empty_repo") || text.contains("empty repo"))
    };
    case["input"]["repository"] == "empty" || ["name", "why", "source"].iter().any(|key| named(&case[*key]))
}

/// Without a commit nothing can be started, and so nothing gets ready.
fn in_empty_repository(
    fixture: &CocodeFixture,
    agent: AgentDefinition,
    expect: &Value,
) -> Result<Outcome, Problem> {
    let empty = fixture.root.join("empty");
    fs::create_dir(&empty)?;
    fixture.git(&empty, &["init", "-q"])?;
    let runner = fixture.runner(&empty)?;
    let recorder = LogRecorder { lines: Mutex::default(), on_start: &|| {} };
    let records = runner.run(&fixture.request(agent, 7)?, &StopFlag::new(), &recorder);
    let is_ready = records.iter().flatten().any(|record| record.state == AgentState::Ready);
    Ok(each(expect, &json!({ "ready": is_ready, "error": records.is_err() })))
}

fn judge(
    expect: &Value,
    record: &AgentRecord,
    lines: &[String],
    wall: Duration,
    fixture: &CocodeFixture,
) -> Outcome {
    let code = record.exit_code.unwrap_or(-1);
    let verdict = record.verdict.as_ref();
    let parts = verdict.into_iter().flat_map(|verdict| &verdict.parts);
    let failed: Vec<&str> = parts.filter(|part| !part.holds).map(|part| part.name.name()).collect();
    let value = |name: &str| lines.iter().find_map(|line| line.strip_prefix(&format!("{name}=")));
    let user_path = fixture.host.search_path().to_string_lossy().into_owned();
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
    // Of lists of names and texts to be actual, those that are as they should be are what there is.
    let listed = |key: &str| expect[key].as_array().cloned().unwrap_or_default();
    let name_of = |name: &Value| match name.as_str().unwrap_or_default() {
        "any other" => "ANY_OTHER".to_owned(),
        name => name.to_owned(),
    };
    let detail = record.detail.clone().unwrap_or_default();
    let kept: Vec<Value> = listed("kept").into_iter().filter(|name| has(&name_of(name))).collect();
    let dropped: Vec<Value> = listed("dropped").into_iter().filter(|name| !has(&name_of(name))).collect();
    actual["kept"] = kept.into();
    actual["dropped"] = dropped.into();
    actual["advice_contains"] = part_or_all(&expect["advice_contains"], &detail);
    actual["PATH"] = match value("PATH") {
        Some(path) if has_folders_of(path, &user_path) => "the user's".into(),
        path => path.into(),
    };
    let seconds = wall.as_secs_f64();
    let in_time = at_most("wall_s_max", &expect["wall_s_max"], seconds);
    let rest: Value = members(expect)
        .filter(|(key, _)| *key != "wall_s_max")
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect();
    in_time.and(|| each(&rest, &actual))
}

/// The part of a text that is looked for, if it is there, and else the whole text.
fn part_or_all(part: &Value, text: &str) -> Value {
    let is_there = part.as_str().is_some_and(|part| text.contains(part));
    if is_there { part.clone() } else { text.into() }
}

/// Checks whether a search path has every system folder of another one.
fn has_folders_of(path: &str, other: &str) -> bool {
    let mut folders = other.split(':').filter(|folder| folder.starts_with("/usr"));
    folders.all(|folder| path.split(':').any(|own| own == folder))
}

fn at_most(what: &str, limit: &Value, actual: f64) -> Outcome {
    match limit.as_f64() {
        Some(limit) if actual > limit => {
            Outcome::Failed(format!("{what} is {limit}, and it took {actual:.1}"))
        }
        None if !limit.is_null() => Outcome::Failed(format!("{what} is not a number: {limit}")),
        _ => Outcome::Passed,
    }
}

fn adapter(case: &Value) -> Result<Outcome, Problem> {
    let fixture = CocodeFixture::new()?;
    let issue = case["input"]["issue"].as_u64().unwrap_or_default();
    let name = agent_of(case)?;
    fixture.stub(name, "#!/bin/sh\nexit 0\n")?;
    let agent =
        AgentDefinition::built_in(&name.parse()?).ok_or_else(|| Problem::new("it is not built in"))?;
    let runner = fixture.runner(&fixture.repository())?;
    let request = fixture.request(agent, issue)?;
    let line = runner.plan(&request)?.lines().remove(0);
    let body_file = format!("{}.issue.txt", line.worktree.display());
    let parts = case["expect"]["argv_contains"].as_array().cloned().unwrap_or_default();
    let is_there = |part: &Value| match part.as_str() {
        Some("<issue body file path>") => line.command.contains(&body_file),
        Some(part) => line.command.contains(part),
        None => false,
    };
    let there: Vec<Value> = parts.into_iter().filter(is_there).collect();
    let recorder = LogRecorder { lines: Mutex::default(), on_start: &|| {} };
    let record = runner.run(&request, &StopFlag::new(), &recorder)?.remove(0);
    let actual = json!({ "argv_contains": there, "starts": record.exit_code == Some(0) });
    Ok(each(&case["expect"], &actual))
}

/// Returns the built-in agent of a case, by its input or its name.
fn agent_of(case: &Value) -> Result<&'static str, Problem> {
    let said = [text(&case["input"]["agent"]), text(&case["name"])];
    let agent = ["claude", "codex"].into_iter().find(|agent| said.iter().any(|text| text.starts_with(agent)));
    agent.ok_or_else(|| Problem::new(format!("there is no built-in agent for {said:?}")))
}

/// Runs a case about worktrees. Its input, and not its name, decides the initial state.
fn worktree(case: &Value) -> Result<Outcome, Problem> {
    let (fixture, input, expect) = (CocodeFixture::new()?, &case["input"], &case["expect"]);
    let keys: Vec<&str> = members(input).map(|(key, _)| key).collect();
    let branch =
        keys.iter().find_map(|key| key.strip_prefix("branch ")?.strip_suffix(" exists with marker at HEAD"));
    let foreign = keys.iter().any(|key| key.ends_with(" exists and is not a worktree"));
    let actual = if let Some(branch) = branch {
        stale_marker(&fixture, branch)?
    } else if foreign {
        foreign_directory(&fixture, text(&input["has"]))?
    } else if input["repos"].is_array() {
        two_repositories(&fixture, list(&input["repos"]), agent_named(input)?)?
    } else if input["issue"].is_u64() {
        plan_of_a_branch(&fixture, input)?
    } else {
        return Err(Problem::new(format!("no set-up is known for {keys:?}")));
    };
    Ok(each(expect, &actual))
}

/// An agent that ends at once, by the name in the input.
fn agent_named(input: &Value) -> Result<AgentDefinition, Problem> {
    let mut agent = script("true")?;
    if let Some(name) = input["agent"].as_str() {
        agent.name = name.parse()?;
    }
    Ok(agent)
}

fn plan_of_a_branch(fixture: &CocodeFixture, input: &Value) -> Result<Value, Problem> {
    let repository = fixture.repository();
    let issue = input["issue"].as_u64().unwrap_or_default();
    let plan = |runner: &cocode_runner::Runner, agent, issue| -> Result<_, Problem> {
        Ok(runner.plan(&fixture.request(agent, issue)?)?.lines().remove(0))
    };
    let runner = fixture.runner(&repository)?;
    let line = plan(&runner, agent_named(input)?, issue)?;
    // Each of the three makes another folder.
    let other = fixture.root.join("other");
    fixture.make_repository(&other)?;
    let mut agent = script("true")?;
    agent.name = "another".parse()?;
    let mut folders = vec![
        line.worktree.clone(),
        plan(&fixture.runner(&other)?, agent_named(input)?, issue)?.worktree,
        plan(&runner, agent_named(input)?, issue + 1)?.worktree,
        plan(&runner, agent, issue)?.worktree,
    ];
    folders.sort();
    folders.dedup();
    let is_outside = !line.worktree.ancestors().any(|folder| folder.join(".git").exists());
    let dir = if is_outside && folders.len() == 4 {
        "outside any repository, per repository, issue and agent".to_owned()
    } else {
        format!("{}, and there are {} folders", line.worktree.display(), folders.len())
    };
    let base = if line.base == fixture.git(&repository, &["symbolic-ref", "--short", "HEAD"])? {
        "the base branch, local or remote, detected".to_owned()
    } else {
        line.base
    };
    Ok(json!({ "branch": line.branch, "dir": dir, "base": base }))
}

/// `branch` is `cocode/ISSUE-AGENT`.
fn stale_marker(fixture: &CocodeFixture, branch: &str) -> Result<Value, Problem> {
    let repository = fixture.repository();
    fixture.git(&repository, &["checkout", "-q", "-b", branch])?;
    fixture.git(&repository, &["commit", "-q", "--allow-empty", "-m", "cocode ready for check"])?;
    fixture.git(&repository, &["checkout", "-q", "main"])?;
    let named = branch.strip_prefix("cocode/").and_then(|rest| rest.split_once('-'));
    let (issue, agent) = named.ok_or_else(|| Problem::new(format!("{branch} names no issue and agent")))?;
    let agent = agent_named(&json!({ "agent": agent }))?;
    let recorder = LogRecorder { lines: Mutex::default(), on_start: &|| {} };
    let runner = fixture.runner(&repository)?;
    let records = runner.run(&fixture.request(agent, issue.parse()?)?, &StopFlag::new(), &recorder);
    let is_ready = records.iter().flatten().any(|record| record.state == AgentState::Ready);
    Ok(json!({ "ready_before_agent_commits": is_ready, "error": records.is_err() }))
}

fn foreign_directory(fixture: &CocodeFixture, name: &str) -> Result<Value, Problem> {
    let runner = fixture.runner(&fixture.repository())?;
    let request = fixture.request(script("true")?, 7)?;
    let folder = runner.plan(&request)?.lines().remove(0).worktree;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), "kept")?;
    let recorder = LogRecorder { lines: Mutex::default(), on_start: &|| {} };
    let is_refused = runner.run(&request, &StopFlag::new(), &recorder).is_err();
    runner.clean(true, false)?;
    let is_kept = fs::read(folder.join(name))? == b"kept";
    Ok(json!({ "error": is_refused, format!("{name}_kept"): is_kept }))
}

/// One folder for each repository, of equal names too.
fn two_repositories(
    fixture: &CocodeFixture,
    names: &[Value],
    agent: AgentDefinition,
) -> Result<Value, Problem> {
    let first = names.first().map(text).unwrap_or_default();
    let repositories = names.iter().map(|name| format!("one/{}", text(name))).chain([format!("two/{first}")]);
    let mut folders = Vec::new();
    for name in repositories {
        let folder = fixture.root.join(name);
        fixture.make_repository(&folder)?;
        let runner = fixture.runner(&folder)?;
        folders.push(runner.plan(&fixture.request(agent.clone(), 7)?)?.lines().remove(0).worktree);
    }
    let all = folders.len();
    folders.sort();
    folders.dedup();
    Ok(json!({ "distinct_dirs": folders.len() == all }))
}

fn state(case: &Value) -> Result<Outcome, Problem> {
    let fixture = CocodeFixture::new()?;
    let expect = &case["expect"];
    let runner = fixture.runner(&fixture.repository())?;
    let (folder, copy) = (fixture.root.join("state-repository"), fixture.root.join("copy"));
    // What is on the disk at a moment in the middle is what a crash leaves.
    let on_start = || {
        let _ = copy_folder(&folder.join("records"), &copy.join("records"));
    };
    let recorder = LogRecorder { lines: Mutex::default(), on_start: &on_start };
    runner.run(&fixture.request(script("true")?, 7)?, &StopFlag::new(), &recorder)?;
    if expect.get("old_or_new_state_readable").is_some() {
        let records = read_records(&copy)?;
        let is_readable = records.len() == 1;
        return Ok(each(expect, &json!({ "old_or_new_state_readable": is_readable })));
    }
    let record = serde_json::to_value(runner.records()?.first())?;
    let has_field = |name: &&Value| record.get(text(name)).is_some();
    let fields: Vec<&Value> = list(&expect["agent_fields"]).iter().filter(has_field).collect();
    let values: Vec<&str> = AgentState::ALL.iter().map(|state| state.name()).collect();
    let is_untouched =
        fixture.git(&fixture.repository(), &["status", "--porcelain", "--ignored"])?.is_empty();
    let is_under = folder.join("records").is_dir();
    Ok(each(
        expect,
        &json!({
            "under": if is_under { "the state folder" } else { "elsewhere" },
            "in_repository": if is_untouched { "nothing" } else { "something" },
            "agent_fields": fields,
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
