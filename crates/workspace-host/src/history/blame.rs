//! The origin of each line of a file, with the run that made it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use change_journal::{ChangeNumber, JournalError, JournalReader};
use local_workspace::{LineOrigin, line_origins};
use rel_path::RelPath;
use serde::Serialize;

use super::log::run_line_of;
use super::unreadable;
use crate::options::HostOptions;
use crate::state::open_root;
use crate::{Exit, Failure, WorkspacePaths};

/// The longest file whose lines are traced, in bytes.
const MOST_BYTES: u64 = 4 << 20;

/// A file with the origins of its lines.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blame {
    /// The canonical path.
    pub path: String,
    /// The lines of the wanted range.
    pub lines: Vec<BlamedLine>,
    /// The number of lines of the whole file.
    pub total: usize,
}

/// A line with its origin.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlamedLine {
    /// Its number, 1-based.
    pub line: usize,
    /// Its text without the line end.
    pub text: String,
    /// The origin for a person, such as `a1b2c3d4 message 3` or `another program`.
    pub by: String,
    /// The change that made it, as the log numbers them; `None` if no recorded one did.
    pub change: Option<u64>,
    /// The run of that change.
    pub run: Option<u64>,
    /// The conversation of that run.
    pub conversation: Option<String>,
    /// The time at which that run began, ISO 8601 in UTC.
    pub began_at: Option<String>,
}

/// Traces the lines of the current file; `wanted` are line numbers, 1-based and inclusive.
///
/// # Errors
///
/// The path is not one of the workspace, the file is not a text or longer than 4 MiB, or the journal cannot be read.
pub fn blame(
    options: &HostOptions,
    paths: &WorkspacePaths,
    path: &str,
    wanted: &RangeInclusive<usize>,
) -> Result<Blame, Failure> {
    let usage = |error: String| Failure::new(Exit::Usage, format!("{path}: {error}"));
    let name = RelPath::parse(path).map_err(|error| usage(error.to_string()))?;
    // Errors of files name the path themselves.
    let file = open_root(options, paths)?.open_file(&name);
    let file = file.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let bytes = file.read_to_end(MOST_BYTES).map_err(|error| usage(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| usage("is not a text".to_owned()))?;
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let mut blame = Blame { path: name.to_string(), lines: Vec::new(), total: all.len() };
    let journal = paths.journal_reader()?;
    let origins = match &journal {
        Some(journal) => line_origins(journal, &name, &text).map_err(unreadable)?,
        None => vec![LineOrigin::Earlier; all.len()],
    };
    let mut makers: BTreeMap<ChangeNumber, BlamedLine> = BTreeMap::new();
    for (at, (line, origin)) in all.iter().zip(origins).enumerate() {
        if !wanted.contains(&(at + 1)) {
            continue;
        }
        let text = line.trim_end_matches(['\n', '\r']).to_owned();
        let by = |by: &str| BlamedLine {
            line: at + 1,
            text: text.clone(),
            by: by.to_owned(),
            change: None,
            run: None,
            conversation: None,
            began_at: None,
        };
        blame.lines.push(match (origin, &journal) {
            (LineOrigin::Change(number), Some(journal)) => {
                if let std::collections::btree_map::Entry::Vacant(entry) = makers.entry(number) {
                    entry.insert(made_by(journal, number, by("a change")).map_err(unreadable)?);
                }
                let BlamedLine { by, change, run, conversation, began_at, .. } = &makers[&number];
                BlamedLine {
                    line: at + 1,
                    text: text.clone(),
                    by: by.clone(),
                    change: *change,
                    run: *run,
                    conversation: conversation.clone(),
                    began_at: began_at.clone(),
                }
            }
            (LineOrigin::Outside { .. }, _) => by("another program"),
            (LineOrigin::Unknown, _) => by("not known"),
            (LineOrigin::Change(_) | LineOrigin::Earlier, _) => by("there before"),
        });
    }
    Ok(blame)
}

/// Adds the journal's data on a change.
fn made_by(
    journal: &JournalReader,
    number: ChangeNumber,
    line: BlamedLine,
) -> Result<BlamedLine, JournalError> {
    let Some(change) = journal.change(number)? else { return Ok(line) };
    let line = BlamedLine { change: Some(number.0), run: Some(change.run.0), ..line };
    let Some(run) = journal.run(change.run)? else { return Ok(line) };
    let run = run_line_of(&run);
    Ok(BlamedLine {
        by: run.by(),
        conversation: Some(run.conversation().to_owned()),
        began_at: Some(run.began_at().to_owned()),
        ..line
    })
}
