//! Cases of numbered views: a file in an outbox, and what is read back from it.

use serde_json::{Value, json};
use tagproto::{
    Context, Dialect, RequestedFile, RequestedText, Session, SessionId, read_outbox, render_outbox,
};
use wap_core::LineSpan;

use crate::conformance::Outcome;

/// Cases of kind view.
pub(crate) fn view(case: &Value) -> Outcome {
    let Some(text) = case["file"].as_str() else {
        return Outcome::Failed("the case has no file".to_owned());
    };
    let line = |index: usize| case["lines"][index].as_u64();
    let counted = text.split_inclusive('\n').count() as u64;
    let requested = RequestedText {
        text: text.to_owned(),
        version: None,
        total_lines: case["total"].as_u64().unwrap_or(counted),
        lines: line(0).zip(line(1)).map(|(first, last)| LineSpan { first, last }),
        is_cut: false,
        warnings: Vec::new(),
    };
    let id = SessionId::from_random([0; 4]);
    let session = Session::new(id, "Task", "2025-01-15T10:30:00Z", Dialect::Agentd, None);
    let files = vec![RequestedFile { path: "p".to_owned(), text: Some(requested) }];
    let outbox = render_outbox(&session, &Context { files, ..Context::default() }, "").text;
    let read = match read_outbox(&outbox) {
        Ok(read) => read,
        Err(error) => return Outcome::Failed(format!("the outbox cannot be read back: {error}")),
    };
    let note = read.files.first().and_then(|file| file.note.clone());
    let section = section(&outbox, note.as_deref());
    let text_read = json!(read.files.first().and_then(|file| file.text.clone()));
    Outcome::compare("what is shown", &case["expect"]["shown"], &json!(section))
        .and(|| Outcome::compare("the note", &case["expect"]["note"], &json!(note)))
        .and(|| Outcome::compare("the text that is read back", &case["file"], &text_read))
}

/// Returns the passage from fence to fence, without the note.
fn section(outbox: &str, note: Option<&str>) -> Option<String> {
    let (_, files) = outbox.split_once("## Requested File Contents\n")?;
    let (file, _) = files.split_once("\n\n=== PROMPT ===\n")?;
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    Some(file.strip_suffix(&note)?.to_owned())
}
