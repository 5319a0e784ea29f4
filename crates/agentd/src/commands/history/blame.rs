//! `agentd blame`: the origin of each line of a file.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use workspace_host::{BlamedLine, WorkspacePaths};

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Outcome};
use crate::views::console::{Console, Tone};
use crate::views::progress::printable;

/// The length of a date and time to the minute.
const MINUTE: usize = "2026-11-26T01:30".len();

/// Prints the lines of a file, each with the run that made it.
pub(crate) fn blame(
    common: &CommonOptions,
    console: Console,
    file: &str,
    lines: Option<RangeInclusive<usize>>,
) -> Outcome {
    let wanted = lines.unwrap_or(1..=usize::MAX);
    let paths = WorkspacePaths::find(&common.host())?;
    let file = from_current_folder(&common.workspace, file).unwrap_or_else(|| file.to_owned());
    let blame = workspace_host::blame(&common.host(), &paths, &file, &wanted)?;
    if console.json {
        console.json_result(&blame);
        return Ok(Exit::Done);
    }
    if blame.lines.is_empty() {
        console.notice(&format!("the file has {} lines", blame.total));
    }
    let origin = |line: &BlamedLine| match (&line.change, &line.began_at) {
        (Some(change), Some(time)) => {
            format!("{change:>6}  {}  {}", time.get(..MINUTE).unwrap_or(time).replace('T', " "), line.by)
        }
        _ => format!("     –  {:16}  {}", "", line.by),
    };
    let width = blame.lines.iter().map(|line| origin(line).chars().count()).max().unwrap_or(0);
    let digits = wanted.end().min(&blame.total).to_string().len();
    for line in &blame.lines {
        let head = format!("{:width$}  {:>digits$} ", origin(line), line.line);
        console.result_row(&[(Tone::Faint, &head), (Tone::Plain, &printable(&line.text))]);
    }
    Ok(Exit::Done)
}

/// Returns the path in the workspace of a file that the user names from the current folder; `None` if nothing is there.
fn from_current_folder(workspace: &Path, file: &str) -> Option<String> {
    let workspace = fs::canonicalize(workspace).ok()?;
    let named = fs::canonicalize(".").ok()?.join(file);
    // The folder alone: a link at its end is the user's to name.
    let folder = fs::canonicalize(named.parent()?).ok()?;
    let path = folder.strip_prefix(&workspace).ok()?.join(named.file_name()?);
    fs::symlink_metadata(workspace.join(&path)).ok()?;
    path.into_os_string().into_string().ok()
}

/// Takes `N` or `N-M`.
pub(crate) fn line_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |text: &str| {
        let number = text.parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| format!("'{text}' is not the number of a line"))
    };
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    match first <= last {
        true => Ok(first..=last),
        false => Err(format!("the range is empty: {first} comes after {last}")),
    }
}
