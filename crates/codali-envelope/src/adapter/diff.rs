//! `file.diff`: changes according to git.

use wap_core::{ExecuteCommand, Unobserved};

use super::failure::Failure;
use super::fit;
use super::need_call::{Answer, NeedCall};
use crate::{FileDiffResult, NeedResult, WarningCode};

/// The command line. It runs confined like every other command, because a repository can configure programs that
/// git runs; the options disable as many of them as possible. Prefixes, quoting and colours are set to git's
/// defaults.
const GIT_DIFF: &str = "git --no-pager --literal-pathspecs --no-optional-locks -c core.fsmonitor=false \
    -c core.hooksPath=/dev/null -c core.quotePath=false -c 'safe.directory=*' diff --no-color --no-ext-diff \
    --no-textconv --src-prefix=a/ --dst-prefix=b/";

pub(super) fn diff(paths: &[String], frame: &mut NeedCall<'_>) -> Answer {
    let mut command = GIT_DIFF.to_owned();
    command.push_str(" --");
    for path in paths {
        let checked = frame.path(path)?;
        let relative = checked.to_str().ok_or_else(|| Failure::about(WarningCode::FileDiffFailed, path))?;
        command.push_str(&format!(" {}", quoted(if relative.is_empty() { "." } else { relative })));
    }
    // At least one millisecond: the workspace refuses zero as a timeout.
    let timeout = frame.call.time_left.map(|left| i64::try_from(left.as_millis()).unwrap_or(i64::MAX).max(1));
    let request = ExecuteCommand { command, timeout, ..ExecuteCommand::default() };
    let ended = frame.sources.workspace.execute_command(frame.call, &request, &mut Unobserved);
    let ended = ended.map_err(|error| match error.reason() {
        wap_core::Reason::Timeout => Failure::about(WarningCode::NeedTimeout, "file.diff"),
        _ => Failure::new(WarningCode::FileDiffFailed).saying(error.message()),
    })?;
    if ended.exit_code != 0 {
        // Git's own message may contain paths outside of the workspace.
        let why = match ended.exit_code {
            127 => "git is not installed where commands run".to_owned(),
            code => format!("git ended with exit code {code}: the workspace may not be a git repository"),
        };
        return Err(Failure::new(WarningCode::FileDiffFailed).saying(why));
    }
    let lines = fit::lines(ended.stdout, frame.room);
    let truncated = ended.is_output_truncated || lines.kept < lines.total;
    // The output of a command is cut in its middle, and how many lines are missing there is not reported.
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

/// Quotes a text as one shell word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
