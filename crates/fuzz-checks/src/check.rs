//! The list of checks.

use crate::{
    bundle_header, envelope_readers, foreign_formats, journal_reader, layer_changes, line_edits, line_maps,
    llm4s_messages, log_lines, mcp_messages, path_rules, tag_parser, tag_repair, text_matches,
};

/// A check of one reader, by its name.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name of the check, of its fuzz target and of the folder with its inputs.
    pub name: &'static str,
    /// Takes any bytes, and panics if the reader breaks one of its promises.
    pub run: fn(&[u8]),
}

/// Every check, sorted by name.
pub const CHECKS: [Check; 14] = [
    Check { name: "bundle_header", run: bundle_header },
    Check { name: "envelope_readers", run: envelope_readers },
    Check { name: "foreign_formats", run: foreign_formats },
    Check { name: "journal_reader", run: journal_reader },
    Check { name: "layer_changes", run: layer_changes },
    Check { name: "line_edits", run: line_edits },
    Check { name: "line_maps", run: line_maps },
    Check { name: "llm4s_messages", run: llm4s_messages },
    Check { name: "log_lines", run: log_lines },
    Check { name: "mcp_messages", run: mcp_messages },
    Check { name: "path_rules", run: path_rules },
    Check { name: "tag_parser", run: tag_parser },
    Check { name: "tag_repair", run: tag_repair },
    Check { name: "text_matches", run: text_matches },
];
