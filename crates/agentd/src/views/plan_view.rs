//! Shows the plan of a reply before it is executed.

use rel_path::ProtectedNames;
use tagproto::{Block, Item, ReadRange, Reply};
use workspace_host::obeyed_names::reported_reason;

use crate::views::progress::{one_line, printable};
use crate::views::terminal_text::{LineWidth, labelled};

/// Lists the blocks of a reply, one or more lines each; commands in full, because they run.
///
/// The files that other programs obey come first, by their names in the reply.
pub(crate) fn describe(reply: &Reply<'_>, names: &ProtectedNames, width: LineWidth) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in &reply.items {
        let Item::Block(block) = item else { continue };
        if let Some(line) = obeyed(&block.value, names)
            && !lines.contains(&line)
        {
            lines.push(line);
        }
    }
    let obeyed = lines.len();
    for item in &reply.items {
        match item {
            Item::Error(error) => lines.push(format!("  PARSE_ERROR  {}", one_line(&error.to_string()))),
            Item::Block(block) => describe_block(&block.value, width, &mut lines),
        }
    }
    if lines.len() == obeyed {
        lines.push("  this reply has no blocks".to_owned());
    }
    lines
}

/// Returns the reason that other programs obey the file that a block changes; `None` if they do not.
fn obeyed(block: &Block<'_>, names: &ProtectedNames) -> Option<String> {
    let (Block::CreateFile { path, .. }
    | Block::EditFile { path, .. }
    | Block::EditText { path, .. }
    | Block::DeleteFile { path, .. }) = block
    else {
        return None;
    };
    let reason = reported_reason(names, path)?;
    Some(format!("  {}", obeyed_line(path, reason)))
}

/// The line that points out a file that other programs obey.
pub(crate) fn obeyed_line(path: &str, reason: &str) -> String {
    format!("! other programs obey {}: {reason}", one_line(path))
}

fn describe_block(block: &Block<'_>, width: LineWidth, lines: &mut Vec<String>) {
    let name = block.kind().name();
    match block {
        Block::CreateFile { path, body, .. } => {
            lines.push(format!("  {name}  {} ({} lines)", one_line(path), body.line_count()));
        }
        Block::EditFile { path, start_line, end_line, body, .. } => {
            lines.push(format!(
                "  {name}  {} {start_line}-{end_line} → {} lines",
                one_line(path),
                body.line_count()
            ));
        }
        Block::EditText { path, hunks, .. } => {
            let count = if hunks.len() == 1 { "1 hunk".to_owned() } else { format!("{} hunks", hunks.len()) };
            lines.push(format!("  {name}  {} by text, {count}", one_line(path)));
        }
        Block::ReadFile { path, range: ReadRange::Lines { start_line, end_line } } => {
            let line = |line: &Option<i32>| line.map(|line| line.to_string()).unwrap_or_default();
            lines.push(format!("  {name}  {} {}-{}", one_line(path), line(start_line), line(end_line)));
        }
        Block::DeleteFile { path, .. } | Block::ReadFile { path, .. } => {
            lines.push(format!("  {name}  {}", one_line(path)))
        }
        Block::RunCommand { command, background } => {
            let process = background
                .as_ref()
                .map(|process| format!("  in the background as {}", one_line(&process.name)));
            lines.push(format!("  {name}{}", process.unwrap_or_default()));
            lines.extend(command.lines().map(|line| format!("    $ {}", printable(line))));
        }
        Block::StopProcess { name: process } => lines.push(format!("  {name}  {}", one_line(process))),
        Block::Message { text } | Block::Done { summary: text } => {
            lines.extend(labelled(&format!("  {name}  "), text, width));
        }
    }
}
