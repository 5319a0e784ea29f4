//! Comments stay with their lines, or are outdated.

use change_review::Anchor;
use proptest::prelude::*;

#[test]
fn lines_that_moved_are_found() {
    let anchor = Anchor::of("one\ntwo\nthree\nfour\n", 2, 3).expect("the lines are there");
    assert_eq!(anchor.quoted, "two\nthree");
    assert_eq!(anchor.find("zero\none\ntwo\nthree\nfour\n"), Some((3, 4)));
    assert_eq!(anchor.find("one\ntwo\nfour\n"), None);
}

#[test]
fn lines_that_are_not_there_have_no_anchor() {
    assert_eq!(Anchor::of("one\n", 2, 2), None);
    assert_eq!(Anchor::of("one\n", 0, 1), None);
    assert_eq!(Anchor::of("", 1, 1), None);
}

#[test]
fn equal_lines_are_distinguished_by_their_neighbours_or_not_at_all() {
    let text = "fn a() {\n    call();\n}\nfn b() {\n    call();\n}\n";
    let anchor = Anchor::of(text, 5, 5).expect("the line is there");
    assert_eq!(anchor.find(text), Some((5, 5)));
    // The commented line is gone, and the other one is not the same.
    assert_eq!(anchor.find("fn a() {\n    call();\n}\nfn b() {\n}\n"), None);
    assert_eq!(anchor.find("call();\n    call();\n"), None);
}

#[test]
fn a_bracket_needs_a_neighbour() {
    let anchor = Anchor::of("x\n}\ny\n", 2, 2).expect("the line is there");
    assert_eq!(anchor.find("entirely\nother\n}\nlines\n"), None);
    assert_eq!(anchor.find("new\nnew\nx\n}\ny\n"), Some((4, 4)));
}

/// A line with a number that it keeps through all edits.
type Line = (usize, &'static str);

const WORDS: [&str; 6] = ["}", "", "    call();", "let first = 1;", "return second;", "if third {"];

fn text(lines: &[Line]) -> String {
    lines.iter().map(|(_, word)| format!("{word}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Among equal lines, the anchor finds the ones that it was made for, or none.
    #[test]
    fn random_edits_move_no_comment_onto_other_lines(
        words in proptest::collection::vec(0..WORDS.len(), 4..40),
        at in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..3_u8, 0..WORDS.len()), 0..12),
    ) {
        let mut lines: Vec<Line> = words.iter().enumerate().map(|(number, word)| (number, WORDS[*word])).collect();
        let line = at.index(lines.len());
        let anchor = Anchor::of(&text(&lines), line + 1, line + 1).expect("the line is there");
        let was_repeated = lines.iter().filter(|(_, word)| *word == lines[line].1).count() > 1;
        for (number, (at, kind, word)) in edits.into_iter().enumerate() {
            let at = at.index(lines.len().max(1));
            match kind {
                0 => lines.insert(at.min(lines.len()), (1_000 + number, WORDS[word])),
                1 if lines.len() > 1 => drop(lines.remove(at)),
                _ => lines[at] = (2_000 + number, WORDS[word]),
            }
        }
        if let Some((first, last)) = anchor.find(&text(&lines)) {
            prop_assert_eq!(first, last);
            prop_assert_eq!(lines[first - 1].1, anchor.quoted.as_str());
            // A unique line that was removed and written elsewhere has moved. An equal line with the same neighbours is
            // indistinguishable from it.
            let is_it = lines[first - 1].0 == line;
            let surroundings = |lines: &[Line], at: usize| {
                let from = at.saturating_sub(2);
                let to = (at + 3).min(lines.len());
                lines[from..to].iter().map(|(_, word)| *word).collect::<Vec<_>>()
            };
            let original: Vec<Line> = words.iter().map(|word| (0, WORDS[*word])).collect();
            let same = surroundings(&lines, first - 1) == surroundings(&original, line);
            prop_assert!(is_it || !was_repeated || same);
        }
    }
}
