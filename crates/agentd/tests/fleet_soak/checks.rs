//! The checks at the end: records, branches, verdicts, and nothing that is left over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cast::{KINDS, kind_of};
use crate::figures::Figures;
use crate::site::Site;

/// The parts of a record that do not depend on where and when the agent ran.
pub(crate) type Verdict = (Value, Value, Value, Value);

fn verdict(record: &Value) -> Verdict {
    let mut verdict = record["verdict"].clone();
    forget_commits(&mut verdict);
    (record["state"].clone(), record["exit_code"].clone(), record["commits"].clone(), verdict)
}

/// Commits have times in them.
fn forget_commits(value: &mut Value) {
    match value {
        Value::String(text) if text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            "commit".clone_into(text);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_commits),
        Value::Object(values) => {
            values.values_mut().for_each(forget_commits);
        }
        _ => {}
    }
}

/// Runs an agent of each kind on this machine, and returns their verdicts by kind.
pub(crate) fn verdicts_alone(site: &Site) -> BTreeMap<&'static str, Verdict> {
    let repository = site.root.join("alone");
    let mut command = site.agentd(None, "home");
    command.current_dir(&repository).args(["cocode", "run", "--issue", "5", "--issue-body", "x"]);
    command.arg("--agent").args(KINDS.iter().map(|kind| kind.name));
    command.arg("--agents-file").arg(site.definitions());
    let _ = command.stdout(Stdio::null()).status().unwrap();
    let records = site.records(&repository);
    let one = |kind: &crate::cast::Kind| {
        let record = records.iter().find(|record| record["agent"] == kind.name).unwrap();
        assert_eq!(record["state"], kind.state, "alone, {}: {record:#}", kind.name);
        (kind.name, verdict(record))
    };
    KINDS.iter().map(one).collect()
}

/// Checks the records and the repository against what is known beforehand.
pub(crate) fn records(site: &Site, alone: &BTreeMap<&str, Verdict>, tasks: usize, figures: &mut Figures) {
    let code = site.code();
    let records = site.records(&code);
    let mut names = BTreeSet::new();
    let mut heads = BTreeSet::new();
    let listed =
        site.git(&code, &["for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/cocode"]);
    let branches: BTreeMap<&str, &str> = listed.lines().filter_map(|line| line.split_once(' ')).collect();
    for record in &records {
        let text = |name: &str| record[name].as_str().unwrap_or_default();
        let (agent, state) = (text("agent"), text("state"));
        if !names.insert(agent) {
            figures.problems.push(format!("{agent} has two records"));
        }
        *figures.states.entry(state.to_owned()).or_default() += 1;
        let expected = &alone[kind_of(agent).name];
        if verdict(record) != *expected {
            figures.other_verdicts += 1;
            figures.problems.push(format!(
                "{agent}: {:?}, alone {expected:?}, {}",
                verdict(record),
                text("detail")
            ));
        }
        let epoch = record["elsewhere"]["epoch"].as_u64().unwrap_or_default();
        // A task waits during its first epoch.
        figures.most_starts = figures.most_starts.max(epoch.saturating_sub(1));
        figures.started_again += usize::from(epoch > 2);
        let head = text("head");
        if branches.get(text("branch")) != Some(&head) {
            figures.problems.push(format!("{agent}: its branch is not at {head}"));
        }
        // Only its own file, by its own name. Worktrees are called after issue and agent.
        let range = format!("{}..{head}", text("start_commit"));
        let own = format!("5-{agent}");
        let history = site.git(&code, &["log", "--format=%an", "--name-only", &range]);
        let is_foreign = |line: &str| {
            (line.starts_with("5-") && line != own)
                || (line.starts_with("by-") && line != format!("by-{own}"))
        };
        let is_own = history.lines().any(|line| line == own) && !history.lines().any(is_foreign);
        if !is_own || !heads.insert(head.to_owned()) {
            figures.problems.push(format!("{agent}: not its own work: {history}"));
        }
    }
    figures.lost = tasks - names.len().min(tasks);
    if names.len() != tasks || branches.len() != tasks {
        let (names, branches) = (names.len(), branches.len());
        figures.problems.push(format!("{tasks} tasks, {names} records, {branches} branches"));
    }
    figures.fsck = site.git(&code, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
    if !figures.fsck.trim().is_empty() {
        figures.problems.push(format!("git fsck: {}", figures.fsck));
    }
}

/// Returns what is left of the run: processes, namespaces, mounts.
pub(crate) fn nothing_is_left(site: &Site, figures: &Figures) -> Vec<String> {
    let began = Instant::now();
    loop {
        let left = left_over(&site.root, &figures.namespaces);
        if left.is_empty() || began.elapsed() > Duration::from_secs(30) {
            return left;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn left_over(root: &Path, namespaces: &[u64]) -> Vec<String> {
    let location = root.display().to_string();
    let mut left = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()) {
        let is_process = process.join("exe").read_link().is_ok();
        let works_here = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(root));
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_inside =
            fs::metadata(process.join("ns/net")).is_ok_and(|data| namespaces.contains(&data.ino()));
        if is_process && (works_here || is_inside || line.contains(&location)) {
            left.push(format!("the process {}: {line}", process.display()));
        }
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    left.extend(
        mounts.lines().filter(|line| line.contains(&location)).map(|line| format!("the mount {line}")),
    );
    left
}
