//! The names, of any length, that git itself treats as `.git` and `.gitmodules` on NTFS and HFS+.
//!
//! The other rules cover names of up to 255 bytes. NTFS and HFS+ count characters, and ignore some at the end of a name or
//! anywhere in it.

/// Returns whether HFS+ treats a name as `wanted`, which is in lower case.
pub(crate) fn is_hfs_name(name: &[u8], wanted: &str) -> bool {
    let is_ignored = |character: &char| {
        matches!(
            character,
            '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
        )
    };
    // For git a name ends at the first byte that is not UTF-8.
    let text = name.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let visible = text.chars().filter(|character| !is_ignored(character));
    visible.map(|character| character.to_ascii_lowercase()).eq(wanted.chars())
}

/// Returns whether NTFS treats a name, or a part of it between backslashes, as `.git`.
pub(crate) fn is_ntfs_git_name(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'\\').any(|part| {
        let rest = after(part, b".git").or_else(|| after(part, b"git~1"));
        rest.is_some_and(is_ignored_ending)
    })
}

/// Returns whether NTFS treats a name, or a part of it between backslashes, as `.gitmodules`.
pub(crate) fn is_ntfs_settings_name(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'\\').any(|part| {
        if after(part, b".gitmodules").is_some_and(is_ignored_ending) {
            return true;
        }
        let Some((short, rest)) = part.split_first_chunk::<8>() else { return false };
        let is_short = match after(short, b"gitmod~") {
            Some(digit) => matches!(digit, b"1" | b"2" | b"3" | b"4"),
            None => is_hashed(short),
        };
        is_short && is_ignored_ending(rest)
    })
}

/// Returns whether a short name consists of a hash of `.gitmodules`, like the fifth and later ones.
fn is_hashed(short: &[u8; 8]) -> bool {
    let Some(tilde) = short.iter().position(|byte| *byte == b'~') else { return false };
    let digits = &short[tilde + 1..];
    tilde <= 6
        && short[..tilde].eq_ignore_ascii_case(&b"gi7eba"[..tilde])
        && digits.iter().all(u8::is_ascii_digit)
        && digits.first().is_some_and(|first| *first != b'0')
}

/// Returns whether NTFS ignores the rest of a name: spaces and dots, and then the name of a stream.
fn is_ignored_ending(rest: &[u8]) -> bool {
    let ending = rest.iter().find(|byte| !matches!(byte, b' ' | b'.'));
    ending.is_none_or(|byte| *byte == b':')
}

/// Returns the rest of a name after a beginning in lower case.
fn after<'n>(name: &'n [u8], beginning: &[u8]) -> Option<&'n [u8]> {
    let (first, rest) = name.split_at_checked(beginning.len())?;
    first.eq_ignore_ascii_case(beginning).then_some(rest)
}
