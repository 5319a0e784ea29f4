//! Showing what a reply would do before it is executed.

use tagproto::{Block, Item, Reply};

use crate::progress::{one_line, printable};

/// Lists the blocks of a reply, one or more lines each; commands in full, because they run.
pub(crate) fn describe(reply: &Reply<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for item in &reply.items {
        match item {
            Item::Error(error) => lines.push(format!("  PARSE_ERROR  {}", one_line(&error.to_string()))),
            Item::Block(block) => describe_block(&block.value, &mut lines),
        }
    }
    if lines.is_empty() {
        lines.push("  this reply has no blocks".to_owned());
    }
    lines
}

fn describe_block(block: &Block<'_>, lines: &mut Vec<String>) {
    let name = block.kind().name();
    match block {
        Block::CreateFile { path, body } => {
            lines.push(format!("  {name}  {} ({} lines)", one_line(path), body.line_count()));
        }
        Block::EditFile { path, start_line, end_line, body } => {
            lines.push(format!(
                "  {name}  {} {start_line}-{end_line} → {} lines",
                one_line(path),
                body.line_count()
            ));
        }
        Block::DeleteFile { path } | Block::ReadFile { path } => {
            lines.push(format!("  {name}  {}", one_line(path)))
        }
        Block::RunCommand { command } => {
            lines.push(format!("  {name}"));
            lines.extend(command.lines().map(|line| format!("    $ {}", printable(line))));
        }
        Block::Message { text } => lines.push(format!("  {name}  {}", one_line(text))),
        Block::Done { summary } => lines.push(format!("  {name}  {}", one_line(summary))),
    }
}
