//! The state after a cycle, compared with that after an undisturbed one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::fixture::project::Project;

/// The file that the command of the reply appends a line to.
pub(crate) const LOG: &str = "ran.log";

/// The other paths that the command of the reply changes.
const BY_COMMAND: [&str; 5] = [LOG, "made", "goes", "stays", "large.txt"];

/// The result of a command begins its list of changes that could not be adopted with this: each path between backticks, its reason in
/// parentheses.
const NOT_WRITTEN: &str = "could not be written: ";

/// It begins the list of those whose present state could not be determined with this; only paths are between backticks there.
const NOT_READABLE: &str = "saved by another program while the command ran, or not readable";

fn is_by_command(name: &str) -> bool {
    BY_COMMAND
        .iter()
        .any(|path| name == *path || name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
}

/// Everything that a cycle leaves, except for times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aftermath {
    /// Every name in the workspace but the state folder: its permission bits, and its bytes if it is a file.
    pub(crate) tree: BTreeMap<String, (u32, Option<Vec<u8>>)>,
    /// Every name in the state folder, temporary files and all.
    pub(crate) state: Vec<String>,
    pub(crate) session: Value,
    pub(crate) outbox: String,
}

/// The final state after a fault and one more try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Finding {
    /// Everything is as without the fault, byte for byte.
    Same,
    /// The next message reports less confinement, because what there is could not be tested.
    ConfinementUnknown,
    /// The next message lists fewer files or not their sizes.
    ListingIncomplete,
    /// The program ended while the command ran: its result is `UNKNOWN`, and it ran once or not at all.
    CommandUnknown,
    /// The command ran once; its result says that how it ended could not be found out or recorded.
    CommandResultLost,
    /// The command is answered as failed and did not run.
    CommandNotRun,
    /// The command ran in a home that is discarded, and its result says so.
    HomeRefused,
    /// The command ran without a layer, and its result says so.
    LayerRefused,
    /// The command ran and its changes were adopted; its result names more of them as changes that cannot be undone.
    NotUndoable,
    /// The command ran, and its result says that nothing of what it did was kept.
    NothingKept,
    /// A change of the command could not be adopted: the result says so, and the path is as it was.
    EffectRefused,
    /// Changes of files are answered as failed with the cause, and their files are untouched.
    ChangeRefused,
}

impl Aftermath {
    pub(crate) fn of(project: &Project, id: &str, sequence: u32) -> Aftermath {
        let mut tree = BTreeMap::new();
        collect(&project.workspace(), "", &mut tree);
        let state = tree.keys().filter(|name| name.starts_with(".agentd")).cloned().collect();
        tree.retain(|name, _| !name.starts_with(".agentd/"));
        let mut session = project.session_file(id);
        session["updatedAt"] = Value::Null;
        session["lastAnswer"] = Value::Null;
        // The outbox has the same lines.
        session["listed"] = Value::Null;
        Aftermath { tree, state, session, outbox: project.outbox(id, sequence) }
    }

    /// Counts the runs of the command.
    pub(crate) fn times_run(&self) -> usize {
        let log = self.tree.get(LOG).and_then(|(_, bytes)| bytes.as_ref());
        log.map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
    }

    pub(crate) fn results(&self) -> &[Value] {
        self.session["lastResults"].as_array().unwrap()
    }

    /// Compares with an undisturbed cycle that began with `before`.
    ///
    /// Anything but the findings that are named is an error, with what is wrong.
    pub(crate) fn compare(&self, undisturbed: &Aftermath, before: &Aftermath) -> Result<Finding, String> {
        if self.times_run() > 1 {
            return Err(format!("the command ran {} times", self.times_run()));
        }
        if self == undisturbed {
            return Ok(Finding::Same);
        }
        if self.state != undisturbed.state {
            return Err(format!("the state folder holds {:?}", difference(&self.state, &undisturbed.state)));
        }
        let (results, expected) = (self.results(), undisturbed.results());
        if results.len() != expected.len() {
            return Err(format!("{} results instead of {}", results.len(), expected.len()));
        }
        let mut findings = Vec::new();
        let mut untouched = Vec::new();
        for (result, expected) in results.iter().zip(expected).filter(|(result, expected)| result != expected)
        {
            let summary = result["summary"].as_str().unwrap_or_default();
            let says = |text| notes(result).iter().any(|note| note.contains(text));
            if result["summary"] == expected["summary"] && says("nothing that the command changed was kept") {
                findings.push(Finding::NothingKept);
                continue;
            }
            if is_same_but_notes(result, expected, FRESH_HOME) {
                findings.push(Finding::HomeRefused);
                continue;
            }
            if is_same_but_notes(result, expected, NO_LAYER) {
                findings.push(Finding::LayerRefused);
                continue;
            }
            if is_less_undoable(result, expected) {
                findings.push(Finding::NotUndoable);
                continue;
            }
            let refused = refused_effects(result);
            if !refused.is_empty() && result["summary"] == expected["summary"] {
                findings.push(Finding::EffectRefused);
                untouched.extend(refused);
                continue;
            }
            if result["summary"] == expected["summary"] && says("the permissions of a folder were not set") {
                findings.push(Finding::EffectRefused);
                continue;
            }
            if result["success"] != false || result["commandType"] != expected["commandType"] {
                return Err(format!("a result is {result}"));
            }
            if expected["commandType"] == "RUN_COMMAND" {
                findings.push(match self.times_run() {
                    _ if summary.starts_with("UNKNOWN: ") => Finding::CommandUnknown,
                    0 => Finding::CommandNotRun,
                    _ if summary.contains("could not be recorded") || summary.contains("is not known") => {
                        Finding::CommandResultLost
                    }
                    _ => return Err(format!("the command ran, and its result is {summary}")),
                });
            } else {
                findings.push(Finding::ChangeRefused);
                // The summary of a change names its path between quotes.
                untouched.extend(expected["summary"].as_str().unwrap_or_default().split('\'').nth(1));
            }
        }
        self.compare_trees(undisturbed, before, &untouched, &findings)?;
        findings.extend(self.compare_texts(undisturbed)?);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let unexplained = || difference(&lines(&self.outbox), &lines(&undisturbed.outbox));
        findings
            .into_iter()
            .max()
            .ok_or_else(|| format!("the results are right, and the outbox has {:?}", unexplained()))
    }

    fn compare_trees(
        &self,
        undisturbed: &Aftermath,
        before: &Aftermath,
        untouched: &[&str],
        findings: &[Finding],
    ) -> Result<(), String> {
        let names = self.tree.keys().chain(undisturbed.tree.keys());
        let has_not_run = findings.iter().any(|finding| {
            matches!(finding, Finding::CommandUnknown | Finding::CommandNotRun | Finding::NothingKept)
        });
        for name in names {
            let is_above = |path: &&str| path.starts_with(&format!("{name}/"));
            let is_in = |path: &&str| {
                name.strip_prefix(*path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let expected = if untouched.iter().any(is_in) {
                before
            } else if is_by_command(name) && has_not_run {
                // A command that is not known to have run may have.
                if self.times_run() == 1 { undisturbed } else { before }
            } else if untouched.iter().any(is_above) {
                // A folder that was made for a file that could not be written may stay or go.
                continue;
            } else {
                undisturbed
            };
            if self.tree.get(name) != expected.tree.get(name) {
                return Err(format!("'{name}' is {:?}", self.tree.get(name).map(render)));
            }
        }
        Ok(())
    }

    /// The rest of session and outbox: only the reports of failures may differ.
    fn compare_texts(&self, undisturbed: &Aftermath) -> Result<Option<Finding>, String> {
        let rest = |session: &Value| {
            let mut session = session.clone();
            session["lastResults"] = Value::Null;
            // Which versions the next message shows depends on which changes came about.
            session["shownVersions"] = Value::Null;
            session
        };
        if rest(&self.session) != rest(&undisturbed.session) {
            return Err(format!("the session is {}", self.session));
        }
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (now, expected) = (lines(&self.outbox), lines(&undisturbed.outbox));
        let mut finding = None;
        for line in now.iter().filter(|line| !expected.contains(line)) {
            if line.starts_with("Sandbox: ") {
                finding = finding.max(Some(Finding::ConfinementUnknown));
            } else if line.starts_with(LIST_INCOMPLETE) {
                finding = finding.max(Some(Finding::ListingIncomplete));
            } else if !["[FAILED] ", "[NOTE] effect: ", " ", "(as listed before"]
                .iter()
                .any(|start| line.starts_with(start))
            {
                // Results and their effects are compared apart; the rest of them and the list of files, with their sizes, are indented.
                return Err(format!("the outbox has the line '{line}'"));
            }
        }
        let is_listing = |line: &String| line[1..].starts_with("  ") && line.ends_with(" bytes)");
        let different = difference(&now, &expected);
        if self.results() == undisturbed.results() && different.iter().any(is_listing) {
            finding = finding.max(Some(Finding::ListingIncomplete));
        }
        Ok(finding)
    }
}

/// The list of files says with this that it lacks some.
const LIST_INCOMPLETE: &str = "(the list is not complete; ";

/// A result notes with this that the kept home could not be used.
const FRESH_HOME: &str = "the command had a fresh home, ";

/// A result notes this if the command ran without a layer.
const NO_LAYER: &str =
    "the copy-on-write layer could not be mounted, so the command changed the folder itself";

/// The result of a command lists with this the changes of which the journal does not hold the content.
const NOT_UNDOABLE: &str = "changed, not undoable: ";

/// Returns the paths whose changes could not be adopted, as a result says.
fn refused_effects(result: &Value) -> Vec<&str> {
    let mut paths = Vec::new();
    for note in notes(result) {
        if let Some(list) = note.strip_prefix(NOT_WRITTEN) {
            paths.extend(paths_with_reasons(list));
        } else if note.starts_with(NOT_READABLE) {
            paths.extend(note.split('`').skip(1).step_by(2));
        }
    }
    paths
}

/// Returns the paths of a list of changes that could not be adopted, without those that a reason names.
fn paths_with_reasons(list: &str) -> impl Iterator<Item = &str> {
    let pieces: Vec<&str> = list.split('`').collect();
    let paths = (1..pieces.len().saturating_sub(1)).step_by(2);
    paths
        .filter(|index| pieces[index + 1].starts_with(" ("))
        .map(|index| pieces[index])
        .collect::<Vec<_>>()
        .into_iter()
}

/// Returns the workspace's notes in a result.
fn notes(result: &Value) -> Vec<&str> {
    result["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Splits the notes of a result into those that begin like this and the others.
fn split_by<'a>(result: &'a Value, start: &str) -> (Vec<&'a str>, Vec<&'a str>) {
    notes(result).into_iter().partition(|note| note.starts_with(start))
}

/// Checks whether two results are equal in everything but their notes.
fn is_same_without_notes(result: &Value, expected: &Value) -> bool {
    let without = |result: &Value| {
        let mut result = result.clone();
        result["notes"] = Value::Null;
        result
    };
    without(result) == without(expected)
}

/// Checks whether a result differs in this only: it has notes that begin with `start`.
fn is_same_but_notes(result: &Value, expected: &Value, start: &str) -> bool {
    let ((notes, rest), (usual_notes, usual)) = (split_by(result, start), split_by(expected, start));
    is_same_without_notes(result, expected) && rest == usual && !notes.is_empty() && usual_notes.is_empty()
}

/// Checks whether a result differs in this only: it lists changes of the command as not undoable that the other one does not list.
fn is_less_undoable(result: &Value, expected: &Value) -> bool {
    let paths = |notes: Vec<&str>| -> BTreeSet<String> {
        notes.iter().flat_map(|line| line.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
    };
    let ((notes, rest), (usual_notes, usual_rest)) =
        (split_by(result, NOT_UNDOABLE), split_by(expected, NOT_UNDOABLE));
    let (listed, usual) = (paths(notes), paths(usual_notes));
    is_same_without_notes(result, expected)
        && rest == usual_rest
        && listed.len() > usual.len()
        && listed.is_superset(&usual)
        && listed.iter().all(|path| is_by_command(path))
}

fn render((mode, bytes): &(u32, Option<Vec<u8>>)) -> String {
    format!("{mode:o} {:?}", bytes.as_deref().map(String::from_utf8_lossy))
}

fn difference(left: &[String], right: &[String]) -> Vec<String> {
    let more = left.iter().filter(|name| !right.contains(name)).map(|name| format!("+{name}"));
    let less = right.iter().filter(|name| !left.contains(name)).map(|name| format!("-{name}"));
    more.chain(less).collect()
}

fn collect(folder: &Path, prefix: &str, tree: &mut BTreeMap<String, (u32, Option<Vec<u8>>)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        let metadata = entry.metadata().unwrap();
        let bytes = metadata.is_file().then(|| fs::read(entry.path()).unwrap());
        if metadata.is_dir() {
            collect(&entry.path(), &format!("{name}/"), tree);
        }
        tree.insert(name, (metadata.permissions().mode() & 0o7777, bytes));
    }
}

#[test]
fn a_result_with_more_changes_that_cannot_be_undone_differs_in_this_only() {
    let result = |output: &str, notes: &[&str]| serde_json::json!({ "success": true, "summary": "s", "output": output, "notes": notes });
    let usual = result("x", &["changed, not undoable: `made`"]);
    let more = result("x", &["changed, not undoable: `made/a`, `made`"]);
    assert!(is_less_undoable(&more, &usual));
    for (output, others) in [
        ("x", &["changed, not undoable: `goes`, `stays`"][..]),
        ("y", &["changed, not undoable: `made`, `goes`"]),
        ("x", &["changed, not undoable: `made`, `made`"]),
        ("x", &["changed, not undoable: `made`, `of a person`"]),
        ("x", &["changed, not undoable: `made/a`, `made`", "something else"]),
        ("note: changed, not undoable: `made/a`, `made`", &[]),
        ("x", &[]),
    ] {
        assert!(!is_less_undoable(&result(output, others), &usual), "{output} {others:?}");
    }
    assert!(!is_less_undoable(&usual, &usual));
    for (field, value) in [("success", Value::Bool(false)), ("summary", "t".into()), ("paths", "made".into())]
    {
        let mut other = more.clone();
        other[field] = value;
        assert!(!is_less_undoable(&other, &usual), "{field}");
    }
}

#[test]
fn paths_in_reasons_are_not_those_of_the_list() {
    let paths = |list| paths_with_reasons(list).collect::<Vec<_>>();
    assert_eq!(paths("`a/b` (no space is left to write `a`), `c` (is absolute)"), ["a/b", "c"]);
    assert_eq!(paths("`a` (`b`: Input/output error)"), ["a"]);
    assert_eq!(paths("nothing"), [""; 0]);
}

#[test]
fn a_result_with_one_more_note_differs_in_it_only() {
    let result = |is_done: bool, output: &str, notes: &[&str]| serde_json::json!({ "success": is_done, "output": output, "notes": notes });
    let usual = result(true, "x\n", &[]);
    let note = ["the command had a fresh home, because"];
    assert!(is_same_but_notes(&result(true, "x\n", &note), &usual, FRESH_HOME));
    assert!(!is_same_but_notes(&result(false, "x\n", &note), &usual, FRESH_HOME));
    assert!(!is_same_but_notes(&result(true, "y\n", &note), &usual, FRESH_HOME));
    assert!(!is_same_but_notes(&result(true, "x\n", &["another note"]), &usual, FRESH_HOME));
    assert!(!is_same_but_notes(&result(false, "x\n", &[]), &usual, FRESH_HOME), "it has no note");
}
