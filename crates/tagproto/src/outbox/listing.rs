//! The section with the files of the workspace: all of them in the first message of a chat, later the changes.

use std::collections::BTreeMap;

use rel_path::Shortlist;

use super::line_text::{escape_name, fold};
use super::structure::{AS_BEFORE, BUT_FOR_THESE, EMPTY_WORKSPACE, GONE, INDENT, LISTING};
use super::{Context, ListedEntry, Shape};
use wap_core::EntryKind;

/// The maximum number of lines about unlisted folders, and of characters of such a line.
const NOTES: usize = 5;
const NOTE_CHARACTERS: usize = 300;

/// The maximum number of changes that replace the whole list, unless they are fewer than half of it.
const CHANGES: usize = 20;

/// Writes the whole list, with at most `limit` entries, and returns its lines.
pub(super) fn write_whole(out: &mut String, context: &Context, limit: usize) -> Vec<String> {
    out.push_str(&format!("{LISTING}\n"));
    let paths = context.listing.iter().map(|entry| entry.path.as_str());
    let listed: Vec<String> =
        Shortlist::of_paths(paths, limit).iter().map(|index| line(&context.listing[*index])).collect();
    for line in &listed {
        out.push_str(&format!("{INDENT}{line}\n"));
    }
    let note = note(context, (context.listing.len() - listed.len()) as u64);
    if !note.is_empty() {
        out.push_str(&format!("({note})\n"));
    } else if listed.is_empty() {
        out.push_str(&format!("{EMPTY_WORKSPACE}\n"));
    }
    listed
}

/// Writes the shape of a workspace in at most `limit` characters, and returns the lines of the whole list: the model knows the
/// entries by their folders.
pub(super) fn write_shape(out: &mut String, context: &Context, shape: &Shape, limit: usize) -> Vec<String> {
    out.push_str(&format!("{LISTING}\n"));
    let (entries, folders) = shape.within(limit);
    let mut lines: Vec<(&str, String)> =
        entries.iter().map(|entry| (entry.path.as_str(), line(entry))).collect();
    lines.extend(
        folders.iter().map(|folder| {
            (folder.path.as_str(), format!("{}/ ({})", escape_name(&folder.path), folder.about))
        }),
    );
    lines.sort();
    for (_, line) in &lines {
        out.push_str(&format!("{INDENT}{line}\n"));
    }
    let mut notes = vec!["a folder with a count is not listed further".to_owned()];
    if !context.listing_notes.is_empty() {
        notes.extend(context.listing_notes.iter().take(NOTES).map(|note| in_short(note)));
    }
    notes.push("RUN_COMMAND with ls or find lists any folder".to_owned());
    out.push_str(&format!("({})\n", notes.join("; ")));
    context.listing.iter().map(line).collect()
}

fn in_short(note: &str) -> String {
    fold(note).chars().take(NOTE_CHARACTERS).collect()
}

/// Writes the entries that differ from the lines of an earlier list, and returns the lines that the model knows then; `None` if
/// the whole list is not much longer, or if more than `limit` entries differ.
pub(super) fn write_changes(
    out: &mut String,
    context: &Context,
    before: &[String],
    limit: usize,
) -> Option<Vec<String>> {
    let mut lines: BTreeMap<&str, String> = before.iter().map(|line| (path_of(line), line.clone())).collect();
    let now: BTreeMap<String, String> =
        context.listing.iter().map(|entry| (escape_name(&entry.path), line(entry))).collect();
    let mut changes: BTreeMap<&str, String> = now
        .iter()
        .filter(|(path, line)| lines.get(path.as_str()) != Some(line))
        .map(|(path, line)| (path.as_str(), line.clone()))
        .collect();
    // In an incomplete list, an entry may be missing because others took precedence.
    if context.unlisted == 0 && context.listing_notes.is_empty() {
        let gone = before.iter().map(|line| path_of(line)).filter(|path| !now.contains_key(*path));
        changes.extend(gone.map(|path| (path, format!("{path} {GONE}"))));
    }
    if changes.len() > limit || changes.len() > CHANGES.max(now.len() / 2) {
        return None;
    }
    let head = if changes.is_empty() { AS_BEFORE } else { BUT_FOR_THESE };
    out.push_str(&format!("{LISTING}\n{head}\n"));
    for line in changes.values() {
        out.push_str(&format!("{INDENT}{line}\n"));
    }
    if !context.listing_notes.is_empty() {
        out.push_str(&format!("({})\n", note(context, 0)));
    }
    for (path, line) in changes {
        if now.contains_key(path) {
            lines.insert(path, line);
        } else {
            lines.remove(path);
        }
    }
    Some(lines.into_values().collect())
}

fn line(ListedEntry { path, size_bytes, kind }: &ListedEntry) -> String {
    let size = kind.map_or_else(|| format!("{size_bytes} bytes"), |kind| kind_name(kind).to_owned());
    format!("{} ({size})", escape_name(path))
}

/// Returns the path in a line of the list.
fn path_of(line: &str) -> &str {
    line.rsplit_once(" (").map_or(line, |(path, _)| path)
}

/// Returns the note about entries that a list leaves out, with the command that lists them; empty if there are none. `cut` is the
/// number of entries that are left out to keep to the budget.
fn note(context: &Context, cut: u64) -> String {
    let mut notes = Vec::new();
    let left_out = context.unlisted.saturating_add(cut);
    if left_out > 0 {
        let entries = if left_out == 1 { "entry is" } else { "entries are" };
        notes.push(format!("{left_out} more {entries} not listed"));
    }
    if !context.listing_notes.is_empty() {
        notes.push("the list is not complete".to_owned());
        notes.extend(context.listing_notes.iter().take(NOTES).map(|note| in_short(note)));
    }
    if !notes.is_empty() {
        notes.push("RUN_COMMAND with ls or find lists any folder".to_owned());
    }
    notes.join("; ")
}

/// Returns the displayed name of a kind of entry.
pub(super) const fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Symlink => "symbolic link",
        EntryKind::Fifo => "named pipe",
        EntryKind::Socket => "socket",
        EntryKind::Device => "device",
    }
}
