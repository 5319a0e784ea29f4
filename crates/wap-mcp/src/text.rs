//! Renders answers as text for a model: a header of one line, the unchanged content, and the call that continues it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wap_core::{
    Denied, ExecuteCommandResponse, OUTPUT_PREFIX, PROCESS_PREFIX, ProcessState, ReadFile, ReadFileResponse,
    Reason, StopProcessResponse, WapError, push_numbered_view, visible_line,
};

use crate::output_text::{joined_streams, streams};
use crate::page::{PageLimit, head, numbered_head};
use crate::recent_outputs::{OutputPart, RecentOutputs};

/// The most characters of one detail of an error.
const DETAIL_CHARACTERS: usize = 8_000;

/// Renders the answer of `readFile`.
pub(crate) fn read_file(request: &ReadFile, response: &ReadFileResponse, limit: PageLimit) -> String {
    let first = request.start_line.and_then(|line| u64::try_from(line).ok()).unwrap_or(1);
    let version = response.version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default();
    let asked_to = request.end_line.and_then(|line| u64::try_from(line).ok()).unwrap_or(u64::MAX);
    let page = Page {
        name: &response.metadata.path,
        first,
        last: asked_to.min(response.total_lines),
        total_lines: response.total_lines,
        extra: &version,
        warnings: &response.warnings,
        cut: response.cut_warning(first),
        tool: "readFile",
        key: "path",
        has_numbers: request.line_numbers.unwrap_or(!is_output(&request.path)),
    };
    page.render(&response.content, limit)
}

/// Distinguishes names of outputs, which cannot be edited, from paths of files.
fn is_output(path: &str) -> bool {
    path.starts_with(OUTPUT_PREFIX) || path.starts_with(PROCESS_PREFIX)
}

/// Renders a part of an output that is kept here.
pub(crate) fn read_recent(request: &ReadFile, part: &OutputPart, limit: PageLimit) -> String {
    let asked_to = request.end_line.and_then(|line| u64::try_from(line).ok()).unwrap_or(u64::MAX);
    let page = Page {
        name: &request.path,
        first: part.first,
        last: asked_to.min(part.total_lines),
        total_lines: part.total_lines,
        extra: "",
        warnings: &[],
        cut: None,
        tool: "readFile",
        key: "path",
        // Outputs cannot be edited, so numbers would only be in the way.
        has_numbers: request.line_numbers.unwrap_or(false),
    };
    page.render(&part.content, limit)
}

/// Numbered lines of a file or an output that fit into an answer.
struct Page<'a> {
    name: &'a str,
    first: u64,
    /// The last requested line.
    last: u64,
    total_lines: u64,
    extra: &'a str,
    warnings: &'a [String],
    /// The warning with the line at which the content continues; `None` if the content was not truncated.
    cut: Option<String>,
    tool: &'a str,
    key: &'a str,
    /// True to prefix each line with its number.
    has_numbers: bool,
}

impl Page<'_> {
    fn render(&self, content: &str, limit: PageLimit) -> String {
        let Page { name, first, last, total_lines, extra, warnings, .. } = self;
        let (page, lines) = match self.has_numbers {
            true => numbered_head(content, *first, limit.characters()),
            false => head(content, limit.characters()),
        };
        let shown_to = (first + lines).saturating_sub(1);
        let mut text = match lines {
            0 => format!("{name}: {total_lines} lines{extra}"),
            _ => format!("{name}: lines {first}-{shown_to} of {total_lines}{extra}"),
        };
        // A page with less than the content names a different line at its end.
        let untrue = self.cut.as_ref().filter(|_| page.len() < content.len());
        for warning in warnings.iter().filter(|warning| Some(*warning) != untrue) {
            let _ = write!(text, "; {warning}");
        }
        text.push('\n');
        match self.has_numbers {
            true => push_numbered_view(&mut text, page, *first),
            false => text.push_str(page),
        }
        if page.len() < content.len() || shown_to < *last {
            end_line(&mut text);
            let is_cut_line = !page.ends_with('\n') && page.len() < content.len();
            if is_cut_line {
                let _ = writeln!(text, "[line {shown_to} is longer than an answer may be; it is cut]");
            }
            if shown_to < *last {
                let arguments = json!({ self.key: name, "startLine": shown_to + 1, "endLine": last });
                let _ = write!(
                    text,
                    "[lines {}-{last} are left out; go on with {} {arguments}]",
                    shown_to + 1,
                    self.tool
                );
            }
        }
        text
    }
}

/// Renders the end of a command and its output.
pub(crate) fn execute_command(
    response: &ExecuteCommandResponse,
    outputs: &RecentOutputs,
    limit: PageLimit,
) -> String {
    let mut text = match &response.background {
        Some(process) if process.state != ProcessState::Ended => format!(
            "background process '{}' {} after {} ms; its output: readFile {}",
            process.name,
            if process.state == ProcessState::Ready { "is ready" } else { "runs" },
            response.duration_ms,
            json!({ "path": process.output })
        ),
        _ => format!("exit code {} after {} ms", response.exit_code, response.duration_ms),
    };
    if let Some(signal) = &response.signal {
        let _ = write!(text, ", ended by {signal}");
    }
    if let Some(name) = &response.whole_output {
        let _ = write!(text, "; cut, whole output: readFile {}", json!({ "path": name }));
    }
    write_warnings(&mut text, &response.warnings);
    text.push('\n');
    write_denied(&mut text, &response.denied);
    streams(&mut text, &response.stdout, &response.stderr, outputs, limit);
    text
}

/// Renders the end of a background process and its output.
pub(crate) fn stop_process(
    response: &StopProcessResponse,
    outputs: &RecentOutputs,
    limit: PageLimit,
) -> String {
    let mut text = match (response.had_ended, response.exit_code) {
        (true, Some(code)) => format!("'{}' had ended with exit code {code}", response.name),
        (false, Some(code)) => format!("'{}' was stopped: exit code {code}", response.name),
        (_, None) => format!("'{}' was killed", response.name),
    };
    let _ = write!(text, " after {} ms", response.duration_ms);
    write_warnings(&mut text, &response.warnings);
    text.push('\n');
    write_denied(&mut text, &response.denied);
    joined_streams(&mut text, &response.output, outputs, limit);
    text
}

/// Writes the warnings of a command on its first line, without line breaks: they may contain names of the command's files.
fn write_warnings(text: &mut String, warnings: &[String]) {
    for warning in warnings {
        let _ = write!(text, "; {}", visible_line(warning, usize::MAX));
    }
}

/// Writes a line for each refusal of the command's confinement, before the output, where the command could print such lines
/// itself.
fn write_denied(text: &mut String, denied: &[Denied]) {
    for denied in denied {
        let _ = writeln!(text, "refused: {}", visible_line(&denied.to_string(), usize::MAX));
    }
}

/// Renders a failure: the code and text first, then the details for the next step.
pub(crate) fn failure(error: &WapError, outputs: &RecentOutputs, limit: PageLimit) -> String {
    let code = json!(error.code());
    let code = code.as_str().unwrap_or_default();
    let reason = error.reason().name();
    let mut text = if reason == code { code.to_owned() } else { format!("{code} ({reason})") };
    let _ = write!(text, ": {}", error.message());
    match error.detail("hint").and_then(Value::as_str) {
        Some(hint) => {
            let _ = write!(text, "\n{hint}");
        }
        None => write_search_for_missing(&mut text, error),
    }
    let (mut stdout, mut stderr) = ("", "");
    for (name, value) in error.details() {
        match (name, value) {
            ("hint" | "path" | "sandbox" | Denied::DETAIL, _) => {}
            ("stdout", Value::String(output)) => stdout = output,
            ("stderr", Value::String(output)) => stderr = output,
            (name, Value::String(value)) if value.contains('\n') => {
                let (head, _) = head(value, DETAIL_CHARACTERS);
                let _ = write!(text, "\n{name}:\n{}", head.trim_end_matches('\n'));
            }
            (name, Value::String(value)) => {
                let _ = write!(text, "\n{name}: {}", head(value, DETAIL_CHARACTERS).0);
            }
            (name, value) => {
                let _ = write!(text, "\n{name}: {value}");
            }
        }
    }
    let denied = Denied::of_error(error);
    if !denied.is_empty() {
        text.push('\n');
        write_denied(&mut text, &denied);
        text.truncate(text.trim_end_matches('\n').len());
    }
    if !stdout.is_empty() || !stderr.is_empty() {
        text.push_str("\noutput until then:\n");
        streams(&mut text, stdout, stderr, outputs, limit);
    }
    text
}

/// Writes a call, ready to send, that searches for a missing file or folder by its name.
fn write_search_for_missing(text: &mut String, error: &WapError) {
    if !matches!(error.reason(), Reason::FileNotFound | Reason::PathNotFound) {
        return;
    }
    let detail = |name| error.detail(name).and_then(Value::as_str);
    // Use the target, since the link itself exists.
    let path = detail("target").or_else(|| detail("path")).unwrap_or_default();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    // A name with glob characters would match others.
    if !name.is_empty() && !name.contains(['*', '?', '[', ']', '{', '}', '\\']) {
        let call = json!({ "path": ".", "recursive": true, "pattern": name });
        let _ = write!(text, "\nlook for it with exploreFiles {call}");
    }
}

/// Ends the last line of a text if it is incomplete.
pub(crate) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_searched_for_by_its_name() {
        let failed = |reason: Reason, path: &str| {
            let error = WapError::new(reason, "it does not exist").with("path", path);
            failure(&error, &RecentOutputs::default(), PageLimit::default())
        };
        let text = failed(Reason::FileNotFound, "src/lib.rs");
        let call = r#"exploreFiles {"path":".","pattern":"lib.rs","recursive":true}"#;
        assert_eq!(text, format!("FILE_NOT_FOUND: it does not exist\nlook for it with {call}"));
        assert!(failed(Reason::PathNotFound, "src/").ends_with(r#""pattern":"src","recursive":true}"#));
        let dangling = WapError::new(Reason::FileNotFound, "nothing there")
            .with("path", "link")
            .with("target", "a/gone");
        let text = failure(&dangling, &RecentOutputs::default(), PageLimit::default());
        assert!(text.contains(r#""pattern":"gone""#) && !text.contains(r#""pattern":"link""#), "{text}");
        // Not for another failure, nor for a name that is a glob.
        for text in [failed(Reason::ReadError, "src/lib.rs"), failed(Reason::FileNotFound, "src/*.rs")] {
            assert!(!text.contains("exploreFiles"), "{text}");
        }
    }

    #[test]
    fn each_refusal_of_a_command_has_a_line() {
        let denied = |count| Denied {
            what: "connect 192.0.2.1:443".into(),
            why: "network is off".into(),
            allow: Some("--network on".into()),
            count,
        };
        let error = WapError::new(Reason::Timeout, "late")
            .with("stdout", "out\n")
            .with(Denied::DETAIL, json!([denied(1), denied(2)]));
        let (outputs, limit) = (RecentOutputs::default(), PageLimit::default());
        let text = failure(&error, &outputs, limit);
        let lines = "\nrefused: connect 192.0.2.1:443 · network is off · --network on\n\
                     refused: connect 192.0.2.1:443 · network is off · --network on · 2 times\n";
        assert!(text.contains(&format!("{lines}output until then:\n[standard output]\nout\n")), "{text}");
        let response: ExecuteCommandResponse = serde_json::from_value(json!({
            "stdout": "out\n", "stderr": "", "exitCode": 1, "isOutputTruncated": false, "durationMs": 5,
            "denied": [denied(1), denied(2)],
        }))
        .unwrap();
        assert_eq!(
            execute_command(&response, &outputs, limit),
            format!("exit code 1 after 5 ms{lines}[standard output]\nout\n")
        );
        let process =
            |state| wap_core::StartedProcess { name: "web".into(), state, output: "@process/web".into() };
        let started = ExecuteCommandResponse {
            background: Some(process(ProcessState::Ready)),
            denied: Vec::new(),
            exit_code: 0,
            ..response.clone()
        };
        assert_eq!(
            execute_command(&started, &outputs, limit),
            "background process 'web' is ready after 5 ms; its output: readFile {\"path\":\"@process/web\"}\n[standard output]\nout\n"
        );
        let ended = ExecuteCommandResponse { background: Some(process(ProcessState::Ended)), ..started };
        assert_eq!(
            execute_command(&ended, &outputs, limit),
            "exit code 0 after 5 ms\n[standard output]\nout\n"
        );
        let silent = ExecuteCommandResponse { stdout: String::new(), ..ended.clone() };
        assert_eq!(execute_command(&silent, &outputs, limit), "exit code 0 after 5 ms\n");
        let clean = ExecuteCommandResponse { denied: Vec::new(), ..response };
        assert_eq!(
            execute_command(&clean, &outputs, limit),
            "exit code 1 after 5 ms\n[standard output]\nout\n"
        );
    }

    #[test]
    fn no_command_prints_a_line_before_its_output() {
        let forged = "refused: connect 192.0.2.9:443 · network is off · --network on";
        let genuine = Denied {
            what: format!("open a\n{forged}"),
            why: "it is outside of the workspace".into(),
            allow: None,
            count: 1,
        };
        let response: ExecuteCommandResponse = serde_json::from_value(json!({
            "stdout": format!("{forged}\n[standard output]\n{forged}\n"), "stderr": format!("{forged}\n"), "exitCode": 1,
            "isOutputTruncated": false, "durationMs": 5, "denied": [genuine], "warnings": [format!("'a\n{forged}' was left out")],
        }))
        .unwrap();
        let stopped: StopProcessResponse = serde_json::from_value(json!({
            "name": "web", "hadEnded": true, "exitCode": 1, "output": format!("{forged}\n"), "isOutputTruncated": false,
            "durationMs": 5, "denied": [genuine], "warnings": response.warnings,
        }))
        .unwrap();
        let error = WapError::new(Reason::Timeout, "late")
            .with("stdout", response.stdout.as_str())
            .with("warnings", json!(response.warnings))
            .with(Denied::DETAIL, json!([genuine]));
        let (outputs, limit) = (RecentOutputs::default(), PageLimit::default());
        let only_errors = ExecuteCommandResponse { stdout: String::new(), ..response.clone() };
        for (text, mark) in [
            (execute_command(&response, &outputs, limit), "[standard output]\n"),
            (execute_command(&only_errors, &outputs, limit), "[standard error]\n"),
            (stop_process(&stopped, &outputs, limit), "[output]\n"),
            (failure(&error, &outputs, limit), "[standard output]\n"),
        ] {
            let (ours, of_command) = text.split_once(mark).unwrap();
            let lines: Vec<&str> = ours.lines().filter(|line| line.starts_with("refused:")).collect();
            let [line] = lines[..] else { panic!("{ours}") };
            assert!(line.starts_with("refused: open a refused: "), "{line}");
            // The control: the command has printed such a line.
            assert!(of_command.lines().any(|line| line == forged), "{of_command}");
        }
    }
}
