//! Characters that show nothing by themselves.

use std::ops::RangeInclusive;

/// The characters that show nothing and put no accent on another one either, in their order: those that Unicode lets a screen
/// ignore, the separators of lines and paragraphs, and the marks of annotations. Controls are not among them
/// ([`char::is_control`]).
///
/// A reviewer has to see that they are there: they turn the direction of writing, join what looks apart, and carry texts that
/// only a model reads. The page has the same table, which its tests compare with this one.
pub const INVISIBLE: [RangeInclusive<char>; 17] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    // Tags, and the variation selectors beyond the first sixteen.
    '\u{e0000}'..='\u{e0fff}',
];

/// Checks whether a character shows nothing by itself.
///
/// # Example
///
/// ```
/// assert!(wap_core::is_invisible('\u{200b}') && wap_core::is_invisible('\u{e0100}'));
/// assert!(!wap_core::is_invisible(' ') && !wap_core::is_invisible('\u{301}'));
/// ```
#[must_use]
pub fn is_invisible(character: char) -> bool {
    // Nearly every character is in front of all of them.
    character >= *INVISIBLE[0].start() && INVISIBLE.iter().any(|range| range.contains(&character))
}
