//! Foreign text, made safe to show.

use std::borrow::Cow;

use proptest::prelude::*;
use wap_core::visible_text;

#[test]
fn colours_are_removed_and_everything_else_is_visible() {
    let cases = [
        ("", ""),
        ("plain\ttext\nöäü 🙂 \u{200d}\n", "plain\ttext\nöäü 🙂 \u{200d}\n"),
        ("line\r\nline\r\n", "line\nline\n"),
        ("10%\r20%", "10%\u{fffd}20%"),
        ("\u{1b}[1;31mred\u{1b}[0m \u{1b}[38;2;1;2;3mmore\u{1b}[K\u{1b}[?25l", "red more"),
        ("\u{9b}31mred", "red"),
        ("\u{1b}(B\u{1b}[mplain", "plain"),
        ("\u{1b}]0;title\u{7}a", "\u{fffd}]0;title\u{fffd}a"),
        (
            "\u{1b}]8;;http://x\u{1b}\\b\u{9d}0;t\u{9c}c",
            "\u{fffd}]8;;http://x\u{fffd}\\b\u{fffd}0;t\u{fffd}c",
        ),
        ("\u{1b}P1$r\u{1b}\\x", "\u{fffd}P1$r\u{fffd}\\x"),
        ("\u{1b}7\u{1b}cend", "\u{fffd}7\u{fffd}cend"),
        ("\u{1b}]0;title\nnext", "\u{fffd}]0;title\nnext"),
        ("\u{1b}[12", "\u{fffd}[12"),
        ("\u{1b}[\u{1b}[31mx", "\u{fffd}[x"),
        ("\u{1b}", "\u{fffd}"),
        ("\u{1b}\u{1b}c", "\u{fffd}\u{fffd}c"),
        ("a\u{8}b\u{7f}c\u{0}d\u{85}", "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}"),
        ("\u{202e}gpj.exe\u{2066}\u{2069}", "\u{fffd}gpj.exe\u{fffd}\u{fffd}"),
    ];
    for (text, expected) in cases {
        assert_eq!(visible_text(text), expected, "{text:?}");
    }
    assert!(matches!(visible_text("nothing to do"), Cow::Borrowed(_)));
}

#[test]
fn no_part_of_a_command_hides_in_a_control_sequence() {
    // A shell executes text that a terminal takes for a title, a parameter or a character set.
    for (command, part) in [
        (": \u{1b}]0; ; rm -rf x ;\u{7}", "rm -rf x"),
        (": \u{9d}; rm -rf x ;\u{9c}", "rm -rf x"),
        (": \u{1b}P; rm -rf x ;\u{1b}\\", "rm -rf x"),
        (": \u{1b}_; rm -rf x ;\u{1b}\\", "rm -rf x"),
        (": \u{1b}[;./a", ";./a"),
        (": \u{1b}[ &./a", "&./a"),
        ("echo x\u{1b}> a", "> a"),
        (": \u{1b}; rm", "; rm"),
        (": \u{1b}&./a", "&./a"),
    ] {
        assert!(visible_text(command).contains(part), "{:?}", visible_text(command));
    }
}

/// Checks whether a character has any effect besides its glyph.
fn controls(character: char) -> bool {
    let is_plain = matches!(character, '\n' | '\t');
    let turns = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').any(|one| one == character);
    (character.is_control() && !is_plain) || turns
}

proptest! {
    #[test]
    fn nothing_that_controls_a_terminal_is_left(text in "[\u{1b}\u{9b}\u{9c}\u{7}\\[\\]P0-9;a-c\r\n\\\\ (\u{202e}]{0,40}") {
        let visible = visible_text(&text).into_owned();
        prop_assert!(!visible.contains(controls), "{visible:?}");
        prop_assert_eq!(visible_text(&visible), visible.as_str());
        prop_assert_eq!(visible.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn plain_text_stays_as_it_is(text in "[a-zA-Z0-9äöü\\[\\];\n\t 🙂]{0,40}") {
        prop_assert_eq!(visible_text(&text), text.as_str());
    }
}
