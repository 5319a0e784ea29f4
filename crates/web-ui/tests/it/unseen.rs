//! The page's table of invisible characters equals that of the rest of the program.

use std::collections::BTreeSet;

use wap_core::is_invisible;

const SCRIPT: &str = include_str!("../../page/visible.js");

/// Parses the character class at the start of the pattern: escapes, and ranges of them.
fn class() -> BTreeSet<char> {
    let pattern = SCRIPT.split_once("const UNSEEN =\n  /[").expect("the table is there").1;
    let mut rest = pattern.split_once(']').expect("the class ends").0;
    let mut next = || {
        let escape = rest.strip_prefix("\\u")?;
        let (digits, after) = match escape.strip_prefix('{') {
            Some(long) => long.split_once('}')?,
            None => escape.split_at_checked(4)?,
        };
        let code = u32::from_str_radix(digits, 16).ok()?;
        let (is_range, after) = after.strip_prefix('-').map_or((false, after), |after| (true, after));
        rest = after;
        Some((char::from_u32(code)?, is_range))
    };
    let mut characters = BTreeSet::new();
    while let Some((first, is_range)) = next() {
        let last = if is_range { next().expect("a range has an end").0 } else { first };
        characters.extend(first..=last);
    }
    assert_eq!(rest, "", "every part of the class was read");
    characters
}

#[test]
fn the_page_marks_what_the_rest_of_the_program_marks() {
    let expected: BTreeSet<char> = (char::MIN..=char::MAX)
        .filter(|character| is_invisible(*character) || character.is_control())
        // Line breaks and tabs are shown as such; the emoji selector has its own rule.
        .filter(|character| !matches!(character, '\t' | '\n' | '\u{fe0f}'))
        .collect();
    let class = class();
    let missing: Vec<char> = expected.difference(&class).copied().collect();
    let other: Vec<char> = class.difference(&expected).copied().collect();
    assert!(missing.is_empty() && other.is_empty(), "missing {missing:?}, other {other:?}");
    for character in ['\u{e0100}', '\u{e01ef}', '\u{1d173}', '\u{1d17a}', '\u{e0001}', '\u{202e}'] {
        assert!(class.contains(&character), "{character:?}");
    }
    assert!(SCRIPT.contains(r"(?<![\p{Extended_Pictographic}0-9#*])\ufe0f/gu"));
}
