//! Rendering an outbox.

use rel_path::Shortlist;
use wap_core::{EntryKind, ShownVersions};

use super::budget::Allowance;
use super::line_text::{escape_name, fold, seen_lines_trimmed, visible_lines};
use super::structure::{
    CONTEXT, CONTINUATION, EMPTY_WORKSPACE, FILES, HEADER, INDENT, LISTING, PROMPT, PROTOCOL, RESULTS,
    reads_as_structure,
};
use super::{Context, ListedEntry, fence, results};
use crate::{HeldReply, Session, protocol_text};

/// An outbox, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    /// The text, ending with LF.
    pub text: String,
    /// The versions that the model knows once it has read the text: the session's and those of the files shown here.
    /// The caller stores them with the session, together with the text.
    pub shown_versions: ShownVersions,
}

/// Renders the pending outbox of a session.
///
/// `sandbox` is the report of the confinement of commands, as in `WorkspaceInfo.sandbox`; without one the header has no
/// such line. With a token budget, first the listing, then the outputs of commands, then the files and then the results
/// are cut, each with a line that says so. A budget that is too small even for the remaining text is exceeded.
///
/// The text depends on the arguments alone.
///
/// Source: bracket-tag protocol, Outbox Format; ruling in docs/tagproto.md.
#[must_use]
pub fn render_outbox(session: &Session, context: &Context, sandbox: &str) -> Outbox {
    let allowance = match session.token_budget {
        None => Allowance::ALL,
        Some(tokens) => Allowance::within(tokens, session, context, |allowance| {
            write(session, context, sandbox, allowance).text
        }),
    };
    write(session, context, sandbox, &allowance)
}

fn write(session: &Session, context: &Context, sandbox: &str, allowance: &Allowance) -> Outbox {
    let mut out = String::new();
    write_header(&mut out, session, sandbox);
    out.push_str(&format!("\n{PROTOCOL}\n{}\n{CONTEXT}\n", protocol_text(session.dialect)));
    write_listing(&mut out, context, allowance.listed_entries);
    if !session.last_results.is_empty() || !session.notes.is_empty() {
        out.push_str(&format!("\n{RESULTS}\n"));
        for note in &session.notes {
            results::write_note(&mut out, note);
        }
        results::write_results(&mut out, &session.last_results, allowance);
    }
    let mut shown_versions = session.shown_versions.clone();
    if !context.files.is_empty() {
        out.push_str(&format!("\n{FILES}\n"));
        for file in &context.files {
            let lines = fence::write_file(&mut out, file, allowance.file_characters, session.dialect);
            let version = file.text.as_ref().and_then(|text| text.version.clone());
            // Without a version there is nothing that later line numbers could refer to.
            if let (Some(lines), Some(version)) = (lines, version) {
                shown_versions.record(&file.path, version, lines);
            }
        }
    }
    out.push_str(&format!("\n{PROMPT}\n"));
    write_prompt(&mut out, session);
    Outbox { text: out, shown_versions }
}

fn write_header(out: &mut String, session: &Session, sandbox: &str) {
    out.push_str(&format!(
        "{HEADER}\nSession: {}\nSequence: {}\n",
        session.session_id, session.sequence_number
    ));
    out.push_str(&format!("Task: {}\n", fold(&session.task)));
    let sandbox = fold(sandbox);
    // The report begins with its name, for places where it is printed alone; here the field is named already.
    let sandbox = sandbox.strip_prefix("sandbox: ").unwrap_or(&sandbox);
    if !sandbox.is_empty() {
        out.push_str(&format!("Sandbox: {sandbox}\n"));
    }
    out.push_str(&format!("Reply-To: {}\n", session.reply_to()));
}

fn write_listing(out: &mut String, context: &Context, limit: usize) {
    out.push_str(&format!("{LISTING}\n"));
    let paths = context.listing.iter().map(|entry| entry.path.as_str());
    let listed: Vec<_> =
        Shortlist::of_paths(paths, limit).iter().map(|index| &context.listing[*index]).collect();
    for ListedEntry { path, size_bytes, kind } in listed.iter().copied() {
        let size = kind.map_or_else(|| format!("{size_bytes} bytes"), |kind| kind_name(kind).to_owned());
        out.push_str(&format!("{INDENT}{} ({size})\n", escape_name(path)));
    }
    let note = listing_note(context, (context.listing.len() - listed.len()) as u64);
    if !note.is_empty() {
        out.push_str(&format!("({note})\n"));
    } else if listed.is_empty() {
        out.push_str(&format!("{EMPTY_WORKSPACE}\n"));
    }
}

/// The most lines about unlisted folders, and the most characters of one.
const LISTING_NOTES: usize = 5;
const LISTING_NOTE_CHARACTERS: usize = 300;

/// Returns the note about entries that a listing leaves out, and the way to see them; empty if there are none. `cut` is
/// the number of entries that are left out to keep to the budget.
fn listing_note(context: &Context, cut: u64) -> String {
    let mut notes = Vec::new();
    let left_out = context.unlisted.saturating_add(cut);
    if left_out > 0 {
        let entries = if left_out == 1 { "entry is" } else { "entries are" };
        notes.push(format!("{left_out} more {entries} not listed"));
    }
    if !context.listing_notes.is_empty() {
        notes.push("the list is not complete".to_owned());
        let in_short = |note: &String| fold(note).chars().take(LISTING_NOTE_CHARACTERS).collect();
        notes.extend(context.listing_notes.iter().take(LISTING_NOTES).map(in_short));
    }
    if !notes.is_empty() {
        notes.push("RUN_COMMAND with ls or find lists any folder".to_owned());
    }
    notes.join("; ")
}

/// Returns the name of a kind of entry.
pub(super) const fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Symlink => "symbolic link",
        EntryKind::Fifo => "named pipe",
        EntryKind::Socket => "socket",
        EntryKind::Device => "device",
    }
}

fn write_prompt(out: &mut String, session: &Session) {
    if let Some(held) = &session.held {
        return write_held(out, held);
    }
    if session.sequence_number > 1 {
        out.push_str(&format!("{CONTINUATION}\n"));
        return;
    }
    // The task may quote an outbox, and its lines must not read as sections of this one.
    for line in seen_lines_trimmed(&visible_lines(&session.task)) {
        if reads_as_structure(line) {
            out.push_str(INDENT);
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// The most characters of the opening tag that a prompt repeats.
const TAG_CHARACTERS: usize = 200;

fn write_held(out: &mut String, held: &HeldReply) {
    let tag: String = fold(held.open_tag()).chars().take(TAG_CHARACTERS).collect();
    out.push_str(&format!(
        "Your last reply was cut off inside {tag}. What arrived is kept, and nothing of it was done yet. Begin your next \
         reply with exactly the lines between the two marks, then go on to the end of that reply. Do not repeat \
         anything that stood before them.\n{FIRST_LINES}\n"
    ));
    for line in held.last_lines() {
        let line = visible_lines(line);
        // Blanks around a line make no difference when the two replies are joined.
        let indent = if reads_as_structure(&line) { INDENT } else { "" };
        out.push_str(&format!("{indent}{line}\n"));
    }
    out.push_str(&format!("{LAST_LINES}\n"));
}

/// The marks around the lines with which a continuation begins.
const FIRST_LINES: &str = "<<< begin with these lines";
const LAST_LINES: &str = ">>> and go on from here";
