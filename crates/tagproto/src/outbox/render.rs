//! Rendering an outbox.

use wap_core::{LineSpan, ShownVersions};

use super::answer::{write_handover, write_review};
use super::budget::{Allowance, is_within};
use super::fence::whole_view::{self, WholeView, WholeViews, usable_views};
use super::gather_first::longest_list;
use super::line_text::{fold, seen_lines_trimmed, visible_lines};
use super::structure::{
    CONTEXT, CONTINUATION, FILES, HEADER, INDENT, LISTING, PROMPT, PROTOCOL, RESULTS, SURROUNDINGS, TASK,
    reads_as_structure,
};
use super::suggested::{View, estimated_tokens};
use super::{Context, TokenCounter, fence, listing, results, suggested};
use crate::protocol_text::SHORT_PROTOCOL_TEXT;
use crate::{HeldReply, Session, protocol_text};

/// An outbox, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    /// The text, ending with LF.
    pub text: String,
    /// The versions that the model knows once it has read the text: the session's and those of the files shown here.
    /// The caller stores them with the session, together with the text.
    pub shown_versions: ShownVersions,
    /// The lines of the list of files that the model knows once it has read the text. The caller stores them with the session.
    pub listed: Vec<String>,
    /// The files that the model was shown whole once it has read the text. The caller stores them with the session.
    pub whole_views: WholeViews,
}

/// Renders the pending outbox of a session.
///
/// `sandbox` is the report of the confinement of commands, as in `WorkspaceInfo.sandbox`; without one the header has no such
/// line. With a token budget, first the listing, then the outputs of commands, then the files and then the results are cut, each
/// with a line about the cut. A budget that is too small even for the remaining text is exceeded.
///
/// The text depends on the arguments alone.
///
/// Source: bracket-tag protocol, Outbox Format; ruling in docs/tagproto.md.
#[must_use]
pub fn render_outbox(session: &Session, context: &Context, sandbox: &str) -> Outbox {
    render_outbox_counted(session, context, sandbox, estimated_tokens)
}

/// Renders like [`render_outbox`], with a budget in tokens as counted by `count`.
///
/// The suggested files of a first message fill the remaining budget, or the usual budget if the session has none.
#[must_use]
pub fn render_outbox_counted(
    session: &Session,
    context: &Context,
    sandbox: &str,
    count: TokenCounter,
) -> Outbox {
    let allowance = match session.token_budget {
        None => Allowance::ALL,
        Some(tokens) => Allowance::within(tokens, session, context, count, |allowance| {
            write(session, context, sandbox, allowance, &[]).text
        }),
    };
    let outbox = write(session, context, sandbox, &allowance, &[]);
    if context.suggested.is_empty() {
        return outbox;
    }
    let budget = u64::from(session.token_budget.unwrap_or(USUAL_BUDGET));
    // A text has at most as many tokens as bytes, so small files need not be counted.
    let whole = write(session, context, sandbox, &allowance, &suggested::all(&context.suggested));
    if whole.text.len() as u64 <= budget {
        return whole;
    }
    let left = budget.saturating_sub(count(&outbox.text) + SUGGESTED_TOKENS);
    let mut views = suggested::choose(&context.suggested, left, count);
    // The count of the whole may differ slightly from the sum of its lines.
    while !views.is_empty() {
        let outbox = write(session, context, sandbox, &allowance, &views);
        if is_within(&outbox.text, budget, count) {
            return outbox;
        }
        views.pop();
    }
    outbox
}

/// The maximum number of tokens of a message if the user did not choose one.
pub const USUAL_BUDGET: u32 = 24_000;

/// The tokens of the heading of suggested files, and of the names of files that do not fit.
const SUGGESTED_TOKENS: u64 = 250;

fn write(
    session: &Session,
    context: &Context,
    sandbox: &str,
    allowance: &Allowance,
    views: &[View],
) -> Outbox {
    let mut out = String::new();
    write_header(&mut out, session, sandbox);
    let listed = write_rules_and_listing(&mut out, session, context, allowance.listed_entries);
    if !session.last_results.is_empty() || !session.notes.is_empty() {
        out.push_str(&format!("\n{RESULTS}\n"));
        for note in &session.notes {
            results::write_note(&mut out, note);
        }
        results::write_results(&mut out, &session.last_results, allowance);
    }
    let mut shown_versions = session.shown_versions.clone();
    let mut whole_views = usable_views(session);
    let message = session.sequence_number;
    if !views.is_empty() {
        for (file, lines) in suggested::write(&mut out, &context.suggested, views) {
            let Some(version) = &file.version else { continue };
            for mut lines in lines {
                if lines.first == 1 && lines.last >= file.total_lines {
                    lines = LineSpan::ALL;
                    let view = WholeView { version: version.clone(), message, is_referred_to: false };
                    whole_views.insert(file.path.clone(), view);
                }
                shown_versions.record(&file.path, version.clone(), lines);
            }
        }
    }
    if !context.files.is_empty() {
        out.push_str(&format!("\n{FILES}\n"));
        for file in &context.files {
            let version = file.text.as_ref().and_then(|text| text.version.clone());
            let reference = whole_view::reference(file, &whole_views, session.dialect);
            let lines = match &reference {
                Some(line) => {
                    out.push_str(line);
                    Some(LineSpan::ALL)
                }
                None => fence::write_file(&mut out, file, allowance.file_characters, session.dialect),
            };
            match (&reference, whole_views.get_mut(&file.path), &version) {
                (Some(_), Some(view), _) => view.is_referred_to = true,
                (None, _, Some(version)) if lines == Some(LineSpan::ALL) => {
                    let view = WholeView { version: version.clone(), message, is_referred_to: false };
                    whole_views.insert(file.path.clone(), view);
                }
                _ => {}
            }
            // Without a version there is nothing that later line numbers could refer to.
            if let (Some(lines), Some(version)) = (lines, version) {
                shown_versions.record(&file.path, version, lines);
            }
        }
    }
    write_handover(&mut out, session);
    write_review(&mut out, &session.review);
    out.push_str(&format!("\n{PROMPT}\n"));
    write_prompt(&mut out, session);
    Outbox { text: out, shown_versions, listed, whole_views }
}

/// Writes the rules and the list of files, in full for the first message of a chat and in short otherwise; returns the lines of
/// the list that the model knows then.
fn write_rules_and_listing(
    out: &mut String,
    session: &Session,
    context: &Context,
    limit: usize,
) -> Vec<String> {
    let is_whole = session.shows_everything();
    let rules = if is_whole { protocol_text(session.dialect) } else { SHORT_PROTOCOL_TEXT };
    out.push_str(&format!("\n{PROTOCOL}\n{rules}\n"));
    if is_whole {
        write_surroundings(out, session);
    }
    out.push_str(&format!("{CONTEXT}\n"));
    let changes = match is_whole {
        true => None,
        false => listing::write_changes(out, context, &session.listed, limit),
    };
    changes.unwrap_or_else(|| write_list(out, session, context, limit))
}

fn write_surroundings(out: &mut String, session: &Session) {
    if session.surroundings.is_empty() {
        return;
    }
    out.push_str(&format!("{SURROUNDINGS}\n"));
    for sentence in &session.surroundings {
        out.push_str(&format!("- {}\n", fold(sentence)));
    }
    out.push('\n');
}

/// Writes the whole list, or the shape of the folder if the list is too long.
fn write_list(out: &mut String, session: &Session, context: &Context, limit: usize) -> Vec<String> {
    let Some(shape) = &context.shape else { return listing::write_whole(out, context, limit) };
    // An entry of a list has about 30 characters.
    let characters = limit.saturating_mul(30).min(longest_list(session));
    listing::write_shape(out, context, shape, characters)
}

/// Makes a pending outbox independent of earlier messages: with all rules, the whole list of files, and the task.
///
/// Results and requested files stay unchanged, except for files for which the pending outbox refers to an earlier message: these
/// are shown if `context` has them in the same version. The rest of `context` is only needed for its listing.
#[must_use]
pub fn whole_outbox(outbox: &str, session: &Session, context: &Context) -> String {
    let Some((head, _)) = outbox.split_once(&format!("\n{PROTOCOL}\n")) else { return outbox.to_owned() };
    let Some((_, rest)) = outbox.split_once(&format!("\n{LISTING}\n")) else { return outbox.to_owned() };
    // No line of the list is empty.
    let Some((_, rest)) = rest.split_once("\n\n") else { return outbox.to_owned() };
    let mut out = format!("{head}\n{PROTOCOL}\n{}\n", protocol_text(session.dialect));
    write_surroundings(&mut out, session);
    out.push_str(&format!("{CONTEXT}\n"));
    listing::write_whole(&mut out, context, usize::MAX);
    let mut rest = rest.to_owned();
    for file in &context.files {
        let Some(reference) = whole_view::pending_reference(file, session) else { continue };
        let mut text = String::new();
        fence::write_file(&mut text, file, usize::MAX, session.dialect);
        // Lines of shown files begin with numbers, so none of them reads like the reference.
        rest = rest.replacen(&format!("\n{reference}"), &format!("\n{text}"), 1);
    }
    out.push_str(&format!("\n{rest}"));
    if session.sequence_number > 1 {
        out.push_str(&format!("\n{TASK}\n"));
        write_task(&mut out, session);
    }
    out
}

fn write_header(out: &mut String, session: &Session, sandbox: &str) {
    out.push_str(&format!(
        "{HEADER}\nSession: {}\nSequence: {}\n",
        session.session_id, session.sequence_number
    ));
    out.push_str(&format!("Task: {}\n", fold(&session.task)));
    let sandbox = fold(sandbox);
    // The report begins with its name, which the header line already has.
    let sandbox = sandbox.strip_prefix("sandbox: ").unwrap_or(&sandbox);
    if !sandbox.is_empty() {
        out.push_str(&format!("Sandbox: {sandbox}\n"));
    }
    out.push_str(&format!("Reply-To: {}\n", session.reply_to()));
}

fn write_prompt(out: &mut String, session: &Session) {
    if let Some(held) = &session.held {
        return write_held(out, held);
    }
    if session.sequence_number > 1 {
        out.push_str(&format!("{CONTINUATION}\n"));
        return;
    }
    write_task(out, session);
}

fn write_task(out: &mut String, session: &Session) {
    // The task may quote an outbox, and its lines must not read as sections of this one.
    for line in seen_lines_trimmed(&visible_lines(&session.task)) {
        if reads_as_structure(line) {
            out.push_str(INDENT);
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// The maximum number of characters of the opening tag that a prompt repeats.
const TAG_CHARACTERS: usize = 200;

fn write_held(out: &mut String, held: &HeldReply) {
    let tag: String = fold(held.open_tag()).chars().take(TAG_CHARACTERS).collect();
    // A closing tag that was forgotten or misspelt looks like a cut, too.
    let end = held.closing_tag().map(|tag| format!(" The block ends with {tag}, alone on its line."));
    let end = end.unwrap_or_default();
    out.push_str(&format!(
        "Your last reply was cut off inside {tag}. What arrived is kept, and nothing of it was done yet. Begin your next \
         reply with exactly the lines between the two marks, then go on to the end of that reply. Do not repeat \
         anything that came before them.{end} For something else, begin with a [MESSAGE].\n{FIRST_LINES}\n"
    ));
    for line in held.last_lines() {
        let line = visible_lines(line);
        // Whitespace around a line makes no difference when the two replies are joined.
        let indent = if reads_as_structure(&line) { INDENT } else { "" };
        out.push_str(&format!("{indent}{line}\n"));
    }
    out.push_str(&format!("{LAST_LINES}\n"));
}

/// The marks around the lines with which a continuation begins.
pub(crate) const FIRST_LINES: &str = "<<< begin with these lines";
pub(crate) const LAST_LINES: &str = ">>> and go on from here";
