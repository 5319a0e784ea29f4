//! Diff markers before the lines of a key, which stay outside of its placeholders.

use std::sync::Arc;

use secret_placeholders::StreamMask;

use super::quoted::{body, boundary, key, parts_in};
use crate::masking::secrets;

/// The lines of a key whose third line begins with a Base64 character, and whose last is shorter.
fn key_with(sign: &str) -> Vec<String> {
    let mut lines = key(64);
    lines[3].replace_range(..sign.len(), sign);
    lines
}

fn streamed(text: &str) -> String {
    let mut stream = StreamMask::new(&Arc::new(secrets()));
    let visible: String = text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
    visible + &stream.finish()
}

/// Checks that nothing of a key is visible, and that its lines begin as given.
fn check(visible: &str, begins: &str) {
    assert_eq!(parts_in(visible), 0, "{visible}");
    for line in visible.lines().filter(|line| line.contains('⟦')) {
        assert!(line.starts_with(&format!("{begins}⟦")), "{begins}: {line}");
    }
}

#[test]
fn the_sign_before_each_line_stays_and_a_line_has_one_placeholder() {
    for lead in ["+", "//", "///", "-", " ", "+ ", "KEY=", "    +"] {
        for first in ["+", "/", "//"] {
            let masker = secrets();
            let lines = key_with(first);
            let plain = masker.mask(&lines.join("\n")).into_owned();
            let text: String = lines.iter().map(|line| format!("{lead}{line}\n")).collect();
            let masked = masker.mask(&text).into_owned();
            check(&masked, lead);
            assert_eq!(masker.restore(&masked).unwrap(), text);
            // The placeholders are those of the file, in the same order.
            let bare: Vec<&str> = masked.lines().map(|line| &line[lead.len()..]).collect();
            assert_eq!(bare, plain.lines().collect::<Vec<_>>(), "{lead}");
            check(&streamed(&text), lead);
        }
    }
}

#[test]
fn a_difference_of_a_replaced_key_has_the_placeholders_of_both_files() {
    let (old, new) = (key(64), key_with("+"));
    let replaced = |range: std::ops::Range<usize>| -> String {
        let part = |lines: &[String], sign: &str| -> String {
            lines[range.clone()].iter().map(|line| format!("{sign}{line}\n")).collect()
        };
        let same = |range: std::ops::Range<usize>| -> String {
            old[range].iter().map(|line| format!(" {line}\n")).collect()
        };
        same(0..range.start) + &part(&old, "-") + &part(&new, "+") + &same(range.end..old.len())
    };
    let last = old.len() - 1;
    // Lines of unequal lengths: after a removed line, the marker of an added line is recognised.
    let unequal = format!("{}\n-Cd4/Cd4/\n+Ef5/Ef5/\n Ab3/Ab3/Ab3/\n Ab3/Ab3/Ab3/\n", boundary("BEGIN"));
    let visible = secrets().mask(&unequal).into_owned();
    assert!(visible.contains("\n-⟦") && visible.contains("\n+⟦") && !visible.contains("4/Cd"), "{visible}");
    for range in [1..last, 3..4, 2..6, last - 1..last] {
        let text = format!("@@ -1,27 +1,27 @@\n{}", replaced(range.clone()));
        let masker = secrets();
        let both = [&old, &new].map(|lines| masker.mask(&lines.join("\n")).into_owned());
        let masked = masker.mask(&text).into_owned();
        assert_eq!(parts_in(&masked), 0, "{range:?}: {masked}");
        let added: Vec<&str> = masked.lines().filter_map(|line| line.strip_prefix('+')).collect();
        let expected: Vec<&str> = both[1].lines().collect();
        assert_eq!(added, expected[range.clone()], "{masked}");
        let removed: Vec<&str> = masked.lines().filter_map(|line| line.strip_prefix('-')).collect();
        assert!(
            removed
                .iter()
                .zip(&both[0].lines().collect::<Vec<_>>()[range.clone()])
                .all(|(one, other)| one == other)
        );
        // What a model writes by the added lines are the lines of the new key.
        assert_eq!(masker.restore(&added.join("\n")).unwrap(), new[range].join("\n"));
        assert_eq!(masker.restore(&masked).unwrap(), text);
    }
}

#[test]
fn a_line_of_a_key_that_begins_with_a_sign_is_hidden_whole() {
    for sign in ["+", "//", "///", "/"] {
        let lines = key_with(sign);
        let masker = secrets();
        let masked = masker.mask(&lines.join("\n")).into_owned();
        check(&masked, "");
        assert_eq!(masked.lines().count(), lines.len());
    }
    let one_line = format!("{}\n+{}\n{}\n", boundary("BEGIN"), &body(63)[..63], boundary("END"));
    check(&secrets().mask(&one_line), "");
}
