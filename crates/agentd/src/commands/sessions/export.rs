//! `agentd show ID --export FILE`: a session as a transcript.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use tag_session::{LeftOut, Transcript};
use workspace_host::WorkspacePaths;
use workspace_host::session_failure::explain;
use workspace_host::state;

use crate::commands::session::parse_id;
use crate::commands::sessions::reader;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::count::counted;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    session: String,
    rounds: usize,
    files: usize,
    left_out: &'a [LeftOut],
}

/// Writes the transcript of a session into a new file, or to standard output for `-`.
pub(crate) fn export(common: &CommonOptions, console: Console, id: &str, file: &Path) -> Outcome {
    if common.read_only && file != Path::new("-") {
        return Err(Failure::new(Exit::Refused, "--read-only refuses to write a file")
            .advise("`--export -` prints the transcript"));
    }
    let id = parse_id(id)?;
    let journal = reader(common)?;
    let root = state::open_root(&common.host(), &WorkspacePaths::find(&common.host())?)?;
    let transcript = Transcript::collect(&journal, id, &root).map_err(explain)?;
    let mut text = serde_json::to_string_pretty(&transcript).expect("transcripts have string keys");
    text.push('\n');
    if file == Path::new("-") {
        console.result(&text);
    } else {
        write_new(file, text.as_bytes()).map_err(|error| {
            let failure = Failure::new(Exit::Failed, format!("cannot write {}: {error}", file.display()));
            match error.kind() {
                io::ErrorKind::AlreadyExists => failure.advise("choose another name: nothing is overwritten"),
                _ => failure,
            }
        })?;
        let Transcript { rounds, files, left_out, .. } = &transcript;
        let report = Report { session: id.to_string(), rounds: rounds.len(), files: files.len(), left_out };
        if console.json {
            console.json_result(&report);
        } else {
            console.result(&format!(
                "{} and {} written",
                counted(report.rounds, "round"),
                counted(report.files, "file")
            ));
        }
    }
    for left_out in &transcript.left_out {
        console.progress(&format!("left out: {}: {}", left_out.what, left_out.why));
    }
    Ok(Exit::Done)
}

fn write_new(file: &Path, text: &[u8]) -> io::Result<()> {
    let mut new = OpenOptions::new().write(true).create_new(true).open(file)?;
    let written = new.write_all(text).and_then(|()| new.sync_all());
    if written.is_err() {
        // The beginning of a transcript on a full disk would be in the way of the next one.
        let _ = fs::remove_file(file);
    }
    written
}
