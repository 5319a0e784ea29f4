//! Texts that are cut.

use proptest::prelude::*;
use web_ui::{TextBounds, bounded};

#[test]
fn a_cut_text_says_what_it_lacks() {
    let text = format!("short\n{}\nthird\nfourth\n", "long ".repeat(20));
    let cut = bounded(&text, TextBounds { lines: 3, line_characters: 12, bytes: 1_000 });
    insta::assert_json_snapshot!(cut);
}

proptest! {
    #[test]
    fn nothing_is_lost_without_a_word(
        text in "(\\PC{0,30}\n){0,30}\\PC{0,30}",
        lines in 0_usize..20,
        line_characters in 0_usize..20,
        bytes in 0_usize..400,
    ) {
        let cut = bounded(&text, TextBounds { lines, line_characters, bytes });
        let all = text.split_inclusive('\n').count();
        let kept = cut.text.split_inclusive('\n').count();
        prop_assert_eq!(kept + cut.lines_left_out, all);
        prop_assert!(kept <= lines);
        prop_assert_eq!(cut.lines_cut, cut.text.matches("more characters]").count() - text_matches(&text, kept, line_characters));
        for (line, whole) in cut.text.split_inclusive('\n').zip(text.split_inclusive('\n')) {
            let beginning: String = whole.chars().take(line_characters.min(whole.trim_end_matches('\n').chars().count())).collect();
            prop_assert!(line.starts_with(&beginning));
        }
    }

    #[test]
    fn a_text_within_bounds_stays(text in "(\\PC{0,30}\n){0,10}") {
        let cut = bounded(&text, TextBounds { lines: 100, line_characters: 100, bytes: 100_000 });
        prop_assert_eq!((cut.text, cut.lines_left_out, cut.lines_cut), (text, 0, 0));
    }
}

/// Counts the marks that the kept beginnings of lines contain themselves.
fn text_matches(text: &str, lines: usize, line_characters: usize) -> usize {
    let beginnings =
        text.split('\n').take(lines).map(|line| line.chars().take(line_characters).collect::<String>());
    beginnings.map(|line| line.matches("more characters]").count()).sum()
}
