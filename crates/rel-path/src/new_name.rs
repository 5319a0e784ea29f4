//! Rules for the names of new files and folders.
//!
//! Existing names are read and edited unchanged. A new one must be displayed unambiguously everywhere and mean the same on every
//! platform.

/// The reason why a name is refused for a new file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is not UTF-8.
    #[error("the name is not UTF-8")]
    NotUtf8,
    /// The name contains a control character or a line separator.
    #[error("the name contains the control character U+{:04X}", *.0 as u32)]
    Control(char),
    /// The name contains a character that changes the reading direction.
    #[error("the name contains the bidirectional control U+{:04X}", *.0 as u32)]
    Bidirectional(char),
    /// The name contains a character without width.
    #[error("the name contains the invisible character U+{:04X}", *.0 as u32)]
    ZeroWidth(char),
    /// The name contains a backslash, which separates folders on other platforms.
    #[error("the name contains a backslash; folders are separated by /")]
    Backslash,
    /// The name contains a colon, which names a drive or a stream on other platforms.
    #[error("the name contains a colon")]
    Colon,
}

/// Checks that `name` may be given to a new file or folder.
///
/// `name` is one component. Its length was checked when its path was parsed.
///
/// # Errors
///
/// The kind of the first refused character.
pub fn check_new_name(name: &[u8]) -> Result<(), NameError> {
    let name = core::str::from_utf8(name).map_err(|_| NameError::NotUtf8)?;
    for character in name.chars() {
        if is_control(character) {
            return Err(NameError::Control(character));
        }
        if is_bidirectional(character) {
            return Err(NameError::Bidirectional(character));
        }
        if is_zero_width(character) {
            return Err(NameError::ZeroWidth(character));
        }
        match character {
            // Both are legal here, but a checkout on Windows would fail or write elsewhere.
            '\\' => return Err(NameError::Backslash),
            ':' => return Err(NameError::Colon),
            _ => {}
        }
    }
    Ok(())
}

/// Checks whether a character is invisible.
pub(crate) fn is_invisible(character: char) -> bool {
    is_control(character) || is_bidirectional(character) || is_zero_width(character)
}

/// Checks whether some file systems ignore a character when they compare names: invisible ones, and variation selectors.
pub(crate) fn is_ignorable(character: char) -> bool {
    is_invisible(character)
        || matches!(character,
            '\u{180F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0080}'..='\u{E0FFF}')
}

/// Checks whether a character is a control, or one of the two separators that break lines.
fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

fn is_bidirectional(character: char) -> bool {
    matches!(character, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Checks whether a character is zero-width or default-ignorable. Variation selectors are allowed: emoji in names use them.
fn is_zero_width(character: char) -> bool {
    matches!(character,
        '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180E}'
        | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}
