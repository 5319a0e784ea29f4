//! Named background processes: started by `executeCommand`, read as `@process/…`, ended by `stopProcess`.
//!
//! A process runs on the folder itself, read-only except for build folders, so that it sees later edits and leaves
//! nothing to adopt. It shares a loopback network only with the later commands of its conversation.

pub(crate) mod registry;
mod start;
pub(crate) mod status;
mod stop;

use std::sync::PoisonError;

use sandbox_exec::{Captured, Ending};
use wap_core::{PROCESS_PREFIX, Reason, WapError};

use crate::adopt::build_folder_check::check;
use crate::command::answer::collapse_progress;
use crate::command::effect_notes::EffectNotes;
use crate::engine::LocalWorkspace;
use crate::processes::registry::Entry;

/// The bytes kept of a process's output, half from its start and half from its end.
const KEPT_OUTPUT_BYTES: usize = 256 << 10;

impl LocalWorkspace {
    /// Checks, once, the files that an ended process left in build folders. Returns warnings.
    fn settle(&self, entry: &Entry) -> Vec<String> {
        let before = entry.build_folders.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut before) = before else { return Vec::new() };
        let findings = check(&self.root, &mut before, entry.began);
        let notes = EffectNotes {
            taken_away: findings.taken_away,
            not_taken_away: findings.left,
            ..EffectNotes::default()
        };
        notes.warnings()
    }

    /// Returns the notices about processes that have ended since the last answer to their conversation.
    pub(crate) fn ended_processes(&self, conversation: &wap_core::ConversationId) -> Vec<String> {
        let mut news = Vec::new();
        for entry in self.processes.newly_ended(conversation) {
            let ending = match entry.process.end() {
                Some(Ok(outcome)) => describe_ending(outcome.ending),
                Some(Err(_)) | None => "in an unknown way".to_owned(),
            };
            let name = &entry.name;
            news.push(format!(
                "the background process '{name}' has ended {ending}; its output is '{PROCESS_PREFIX}{name}'"
            ));
            news.extend(self.settle(&entry));
        }
        news
    }
}

fn describe_ending(ending: Ending) -> String {
    match ending {
        Ending::Cancelled => "because it was stopped".to_owned(),
        ending => format!("with {ending}"),
    }
}

/// Renders the kept output; the marker of a gap does not name a file, since there is none.
fn text_of(output: &Captured) -> String {
    collapse_progress(&output.text(|omitted| format!("\n… {omitted} bytes left out …\n")))
}

/// Returns the error for a process that its conversation does not have.
fn unknown(name: &str, names: &[String]) -> WapError {
    let name: String = name.chars().take(100).collect();
    let others = match names {
        [] => "this conversation has none; they end with their conversation and with agentd".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    WapError::new(Reason::FileNotFound, format!("there is no background process '{name}': {others}"))
}
