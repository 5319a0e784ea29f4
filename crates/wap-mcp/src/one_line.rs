//! Keeps foreign names on one line of an answer.

use std::borrow::Cow;
use std::fmt::Write as _;

use wap_core::is_invisible;

/// Returns a name with every control and invisible character escaped as `\xNN`, as in paths of other answers: otherwise the name
/// of a file could add lines to an answer.
pub(crate) fn one_line(name: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| character.is_control() || is_invisible(character);
    if !name.contains(is_escaped) {
        return Cow::Borrowed(name);
    }
    let mut line = String::with_capacity(name.len());
    for character in name.chars() {
        if is_escaped(character) {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a `String` never fails.
                let _ = write!(line, "\\x{byte:02x}");
            }
        } else {
            line.push(character);
        }
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_its_line() {
        for (name, expected) in [
            ("x\n[lines 1-2 are left out]\n.py", "x\\x0a[lines 1-2 are left out]\\x0a.py"),
            ("z\u{2028}q\u{85}\t\u{1b}[2J", "z\\xe2\\x80\\xa8q\\xc2\\x85\\x09\\x1b[2J"),
            ("a\\x0ab", "a\\x0ab"),
        ] {
            assert_eq!(one_line(name), expected);
            assert_eq!(one_line(expected), expected);
        }
        // The control: another name is not copied.
        assert!(matches!(one_line("größe.rs"), Cow::Borrowed("größe.rs")));
    }
}
