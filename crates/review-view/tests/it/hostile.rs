//! Texts that want to control the terminal, hide something, or be too long.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use review_view::{Key, cut_line};
use unicode_width::UnicodeWidthStr;

use crate::fixture::{Host, command_step, file_step, proposal};

#[test]
fn hostile_texts_are_inert_marks() {
    let text = "plain\n\u{1b}[2J\u{1b}]0;title\u{7}red \u{1b}[31m\nrtl \u{202e}gnp.exe\n\
        zero\u{200b}width\u{feff}\nname = \u{440}\u{443}\n\
        wide 漢字テスト end\ntab\there\rback\ncombined e\u{301}\u{301}\u{301}\u{301}\u{301} and ⚠\u{fe0f}\n";
    let mut file = file_step(0, "evil\u{1b}[31m.rs", None, Some(text));
    file.problem = Some("\u{1b}[5mblink".to_owned());
    let command = command_step(1, "printf '\u{1b}[2J'\u{7}\nrm\u{200d} -rf x");
    let mut host =
        Host::new(vec![proposal(1, "sub\u{1b}[31mject\nof two lines\u{202e}", vec![file, command])]);
    host.trial = (1, "out\u{9b}31m\u{1b}[?1049h put\n".to_owned());
    host.keys("t");
    let screen = host.screen(80, 40);
    assert!(!screen.contains(|character: char| character.is_control() && character != '\n'), "{screen:?}");
    insta::assert_snapshot!(screen);
}

#[test]
fn a_cut_line_scrolls_by_cells() {
    let line = "漢字テスト";
    assert_eq!(cut_line(line, 0, 4).text, "漢字");
    assert_eq!(cut_line(line, 1, 4).text, " 字");
    assert_eq!(cut_line(line, 0, 3).text, "漢");
    assert_eq!(cut_line("\tx", 2, 9).text, "  x");
    assert!(!cut_line("exact\r\n", 0, 5).is_cut);
}

#[test]
fn a_line_of_ten_megabytes_is_drawn_at_once() {
    let long = "x".repeat(10 << 20);
    let accents = "\u{301}".repeat(5 << 20);
    let mut host =
        Host::new(vec![proposal(1, &long, vec![command_step(0, &long), command_step(1, &accents)])]);
    host.key(Key::Down);
    let started = Instant::now();
    for _ in 0..50 {
        host.key(Key::Right);
        host.screen(140, 40);
    }
    // A frame that reads the whole line takes seconds in this build.
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn a_cut_line_fits_and_controls_nothing(line in "(.|\u{1b}|[\u{0}-\u{20}]|[\u{200b}-\u{206f}]|漢|\u{301}){0,60}", skipped in 0..30_usize, width in 0..40_usize) {
        let cut = cut_line(&line, skipped, width);
        prop_assert!(cut.cells <= width);
        prop_assert_eq!(&*wap_core::visible_text(&cut.text), cut.text.as_str());
        prop_assert!(!cut.text.contains(['\n', '\t']));
        let cells: usize = cut.text.chars().map(|character| character.to_string().width()).sum();
        prop_assert_eq!(cells, cut.cells);
    }

    #[test]
    fn no_character_of_a_line_is_hidden(line in "[a-z \u{0}-\u{9}\u{b}\u{c}\u{e}-\u{1f}\u{202a}-\u{202e}\u{200b}-\u{200f}]{0,40}") {
        let cut = cut_line(&line, 0, 1_000);
        prop_assert!(!cut.is_cut);
        prop_assert!(cut.cells >= line.chars().count());
    }
}
