//! `file.diff`: changes according to git.

use wap_core::{Call, ExecuteCommand, ExecuteCommandResponse, Reason, Unobserved};

use super::failure::{Failure, excerpt};
use super::fit;
use super::need_call::{Answer, NeedCall};
use crate::{FileDiffResult, NeedResult, WarningCode};

/// The command line. It runs confined like every other command, because a repository can configure programs that
/// git runs; the options disable as many of them as possible. Prefixes, quoting and colours are set to git's
/// defaults.
const GIT_DIFF: &str = "git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null \
    -c core.quotePath=false -c 'safe.directory=*' diff --no-color --no-ext-diff --no-textconv --submodule=short \
    --src-prefix=a/ --dst-prefix=b/";

/// Lists only the paths of changed files. A rename would hide the path of the original content.
const ONLY_NAMES: &str = " --no-renames --name-only -z";

/// The step, in a run with numbered steps, of the command that lists them: after those of all needs.
const NAMES_STEP: u32 = 1 << 20;

/// The most files that are named in a warning.
const MOST_NAMED: usize = 5;

pub(super) fn diff(paths: &[String], frame: &mut NeedCall<'_>) -> Answer {
    let mut specs = String::from(" --");
    for path in paths {
        let checked = frame.path(path)?;
        let relative = checked.to_str().ok_or_else(|| Failure::about(WarningCode::FileDiffFailed, path))?;
        specs.push_str(&quoted(":(literal)", if relative.is_empty() { "." } else { relative }));
    }
    let withheld = withheld_paths(&specs, frame)?;
    for path in &withheld {
        specs.push_str(&quoted(":(top,exclude,literal)", path));
    }
    let ended = run(format!("{GIT_DIFF}{specs}"), frame.call, frame)?;
    if !withheld.is_empty() {
        let named = withheld.iter().take(MOST_NAMED).map(|path| excerpt(path)).collect::<Vec<_>>().join(", ");
        let more = if withheld.len() > MOST_NAMED { ", …" } else { "" };
        let count = withheld.len();
        let text = format!("file.diff leaves out what may hold credentials ({count}): {named}{more}");
        frame.warn(WarningCode::Truncated, text);
    }
    let lines = fit::lines(without_contexts(&ended.stdout), frame.room);
    let truncated = ended.is_output_truncated || lines.kept < lines.total;
    // The output of a command is truncated in its middle, without the number of missing lines.
    let total_lines = (truncated && !ended.is_output_truncated).then_some(lines.total);
    match total_lines {
        Some(total) => frame.warn_cut("file.diff", lines.kept, total),
        None if truncated => {
            frame.warn(WarningCode::Truncated, "file.diff has a gap in its middle; ask for fewer paths");
        }
        None => {}
    }
    Ok(NeedResult::FileDiff(FileDiffResult {
        paths: paths.to_vec(),
        truncated,
        total_lines,
        diff: lines.text,
    }))
}

/// Returns a diff without the lines that git quotes after the ranges of hunks. Git truncates them at 80 bytes, possibly within a
/// secret, whose remaining part no detector recognises.
fn without_contexts(diff: &str) -> String {
    diff.split_inclusive('\n')
        .map(|line| line_without_context(line).unwrap_or_else(|| line.to_owned()))
        .collect()
}

/// Returns the header of a hunk without the text after its ranges; `None` for other lines, and if there is no such text.
fn line_without_context(line: &str) -> Option<String> {
    // Lines of files have a prefix. The diff of a conflict has one more `@` for each further side.
    let mark = &line[..line.len() - line.trim_start_matches('@').len()];
    if mark.len() < 2 {
        return None;
    }
    let close = format!(" {mark}");
    let end = mark.len() + line[mark.len()..].find(&close)? + close.len();
    let rest = &line[end..];
    let is_ranges = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'+' | b',');
    let has_ranges = line[mark.len()..end - mark.len()].bytes().all(is_ranges);
    (has_ranges && !rest.trim_end_matches('\n').is_empty())
        .then(|| if rest.ends_with('\n') { format!("{}\n", &line[..end]) } else { line[..end].to_owned() })
}

/// Returns the changed files whose content is left out, as paths relative to the top of the repository.
fn withheld_paths(specs: &str, frame: &NeedCall<'_>) -> Result<Vec<String>, Failure> {
    let Some(withholds) = frame.sources.withholds else { return Ok(Vec::new()) };
    let mut origin = frame.call.origin.clone();
    // Use a separate run, so that this is not considered a repetition of the other command.
    if origin.run.sequence == 0 {
        origin.run.digest.push_str("-names");
    } else {
        origin.step = origin.step.saturating_add(NAMES_STEP);
    }
    let call = Call { origin: &origin, ..*frame.call };
    let ended = run(format!("{GIT_DIFF}{ONLY_NAMES}{specs}"), &call, frame)?;
    if ended.is_output_truncated {
        let text = "too many files have changed to leave out those with credentials; ask for fewer paths";
        return Err(Failure::new(WarningCode::FileDiffFailed).saying(text));
    }
    let withheld: Vec<String> =
        ended.stdout.split('\0').filter(|path| withholds(path)).map(str::to_owned).collect();
    if withheld.iter().any(|path| path.contains(char::REPLACEMENT_CHARACTER)) {
        let text = "a changed file that usually holds credentials has a path that is not UTF-8; ask for the other paths";
        return Err(Failure::new(WarningCode::FileDiffFailed).saying(text));
    }
    Ok(withheld)
}

fn run(command: String, call: &Call<'_>, frame: &NeedCall<'_>) -> Result<ExecuteCommandResponse, Failure> {
    // At least one millisecond: the workspace refuses zero as a timeout.
    let left = frame.call.time_left.map(|_| frame.deadline.saturating_sub(frame.stopwatch.elapsed()));
    let timeout = left.map(|left| i64::try_from(left.as_millis()).unwrap_or(i64::MAX).max(1));
    let request = ExecuteCommand { command, timeout, ..ExecuteCommand::default() };
    let ended = frame.sources.workspace.execute_command(call, &request, &mut Unobserved);
    let ended = ended.map_err(|error| match error.reason() {
        Reason::Timeout => Failure::about(WarningCode::NeedTimeout, "file.diff"),
        _ => Failure::new(WarningCode::FileDiffFailed).saying(error.message()),
    })?;
    // Git's own message may contain paths outside of the workspace.
    match ended.exit_code {
        0 => Ok(ended),
        127 => {
            Err(Failure::new(WarningCode::FileDiffFailed).saying("git is not installed where commands run"))
        }
        code => {
            let text = format!("git ended with exit code {code}: the workspace may not be a git repository");
            Err(Failure::new(WarningCode::FileDiffFailed).saying(text))
        }
    }
}

/// Quotes a path with its magic as one shell word, preceded by a space.
fn quoted(magic: &str, path: &str) -> String {
    format!(" '{magic}{}'", path.replace('\'', "'\\''"))
}
