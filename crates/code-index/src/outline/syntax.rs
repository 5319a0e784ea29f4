//! Bounded parsing.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};
use wap_core::CancelFlag;

use crate::language::Language;

/// The size of the chunks that are passed to the parser.
const PIECE_BYTES: usize = 64 << 10;

/// Parsers, created on first use.
#[derive(Default)]
pub(crate) struct Parsers {
    made: Vec<(Language, Parser)>,
}

impl Parsers {
    /// Parses a text; `None` if it takes longer than `time` or is cancelled.
    pub(crate) fn parse(
        &mut self,
        language: Language,
        text: &[u8],
        time: Duration,
        cancel: &CancelFlag,
    ) -> Option<Tree> {
        let parser = self.parser(language)?;
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
        let tree = parser.parse_with_options(&mut piece, None, Some(options));
        if tree.is_none() {
            // Without a reset, the parser would resume in the middle of the next text.
            parser.reset();
        }
        tree
    }

    fn parser(&mut self, language: Language) -> Option<&mut Parser> {
        // Keep parsers: creating one loads the tables of its grammar.
        let position = self.made.iter().position(|(made, _)| *made == language);
        let index = match position {
            Some(index) => index,
            None => {
                let mut parser = Parser::new();
                parser.set_language(&language.grammar().parser()).ok()?;
                self.made.push((language, parser));
                self.made.len() - 1
            }
        };
        Some(&mut self.made[index].1)
    }
}
