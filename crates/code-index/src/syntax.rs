//! Parsing within bounds.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};
use wap_core::CancelFlag;

use crate::language::Language;

/// How long a piece of the text is that the parser gets at once.
const PIECE_BYTES: usize = 64 << 10;

/// Parses a text; `None` if that takes too long or the caller cancels.
pub(crate) fn parse(language: Language, text: &[u8], time: Duration, cancel: &CancelFlag) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar().parser()).ok()?;
    let deadline = Instant::now() + time;
    let mut watch = |_: &tree_sitter::ParseState| {
        if cancel.is_cancelled() || Instant::now() >= deadline {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let mut piece = |start: usize, _| {
        let start = start.min(text.len());
        &text[start..text.len().min(start + PIECE_BYTES)]
    };
    parser.parse_with_options(&mut piece, None, Some(options))
}
