//! Readers of texts and edits.

mod foreign;
mod line_edits;
mod line_maps;
mod matches;
mod tags;

pub use foreign::foreign_formats;
pub use line_edits::line_edits;
pub use line_maps::line_maps;
pub use matches::text_matches;
pub use tags::{tag_parser, tag_repair};

use arbitrary::Unstructured;

/// Generates a text of a few short lines, which often repeat, with mixed endings.
fn short_lines(choices: &mut Unstructured<'_>, most: usize) -> arbitrary::Result<String> {
    const WORDS: [&str; 10] = ["a", "b", "ab", "", "  a", "\ta", "a ", "é", "a b", "}"];
    const ENDINGS: [&str; 4] = ["\n", "\n", "\n", "\r\n"];
    let mut text = String::new();
    for _ in 0..choices.int_in_range(0..=most)? {
        text.push_str(choices.choose(&WORDS)?);
        text.push_str(choices.choose(&ENDINGS)?);
    }
    if choices.ratio(1, 4)? {
        text.push_str(choices.choose(&WORDS)?);
    }
    Ok(text)
}
