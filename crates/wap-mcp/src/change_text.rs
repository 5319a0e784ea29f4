//! Renders answers to file changes as text for a model.

use std::fmt::Write as _;

use wap_core::{CarriedLines, ChangedLines, FileVersion, ModifyFileResponse, WriteFileResponse};

/// Renders the effect of an edit: the changed lines as they are now, and notes for the model to check.
pub(crate) fn modify_file(response: &ModifyFileResponse) -> String {
    let is_unchanged = response.lines_added == 0 && response.lines_removed == 0;
    let mut text = match is_unchanged {
        true => format!("{} was not changed: it is as the edit would make it", response.path),
        false => format!("{}: +{} -{} lines", response.path, response.lines_added, response.lines_removed),
    };
    write_version(&mut text, response.version.as_ref());
    text.push('\n');
    for carried in &response.carried {
        let CarriedLines { operation, first_line, last_line } = carried;
        let _ = writeln!(text, "operation {operation} was carried over to lines {first_line}-{last_line}");
    }
    write_effect(&mut text, response.changed.as_ref(), &response.warnings);
    text
}

/// Renders the effect of writing a whole file.
pub(crate) fn write_file(response: &WriteFileResponse) -> String {
    let verb = if response.created { "created" } else { "written" };
    let (path, bytes) = (&response.path, response.bytes_written);
    let mut text = format!("{path}: {verb}, {bytes} bytes");
    if !response.created {
        let _ = write!(text, ", +{} -{} lines", response.lines_added, response.lines_removed);
    }
    write_version(&mut text, response.version.as_ref());
    text.push('\n');
    write_effect(&mut text, response.changed.as_ref(), &response.warnings);
    text
}

fn write_version(text: &mut String, version: Option<&FileVersion>) {
    if let Some(version) = version {
        let _ = write!(text, ", version {version}");
    }
}

fn write_effect(text: &mut String, changed: Option<&ChangedLines>, warnings: &[String]) {
    let notes = changed.map_or(&[][..], |changed| &changed.notes);
    for note in notes.iter().chain(warnings) {
        let _ = writeln!(text, "note: {note}");
    }
    if let Some(changed) = changed {
        text.push_str("The text is now:\n");
        text.push_str(&changed.text);
    }
}
