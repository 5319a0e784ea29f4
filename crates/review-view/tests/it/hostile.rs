//! Texts that want to control the terminal, hide something, or be too long.

use std::time::{Duration, Instant};

use change_review::StepEffect;
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
fn no_variable_of_a_command_is_out_of_sight() {
    let mut step = command_step(0, "make test");
    let StepEffect::Command(command) = &mut step.effect else { unreachable!("it runs a command") };
    let long_name = "N".repeat(200);
    command.environment = [
        ("A", "x".repeat(600)),
        ("BASH_ENV", "./evil\u{1b}[8m.sh\nB=1".to_owned()),
        (&long_name, "end".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    command.ready = Some("listening".to_owned());
    let mut host = Host::new(vec![proposal(1, "run make test", vec![step])]);
    let screen = host.screen(80, 24);
    let lines: Vec<&str> = screen.lines().map(str::trim).collect();
    let line = |start: &str| {
        let row = lines.iter().find_map(|line| line.find(start).map(|at| &line[at..]));
        row.unwrap_or_else(|| panic!("{start}: {screen}"))
    };
    // What is cut says so.
    assert!(line("with A=xxx").ends_with('…'), "{screen}");
    assert_eq!(line("with BASH_ENV="), "with BASH_ENV=./evil␛[8m.sh␊B=1");
    assert_eq!(line("with NNN"), format!("with {}…=end", "N".repeat(40)));
    assert_eq!(line("ready as soon"), "ready as soon as it prints listening");
    // The control: a command without any says nothing of them.
    let mut plain = Host::new(vec![proposal(1, "run make test", vec![command_step(0, "make test")])]);
    assert!(!plain.screen(80, 24).contains("with "), "{}", plain.screen(80, 24));
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

#[test]
fn accents_without_a_letter_and_beyond_two_are_visible() {
    assert_eq!(cut_line("\u{301}\u{302}x", 0, 20).text, "⟨301⟩⟨302⟩x");
    assert_eq!(cut_line("e\u{301}\u{302}\u{303}x", 0, 20).text, "e\u{301}\u{302}⟨303⟩x");
    assert_eq!(cut_line("a\r", 0, 20).text, "a␍");
}

#[test]
fn ends_of_lines_that_differ_are_visible() {
    let screen = |before: &str, after: &str| {
        let step = file_step(0, "run.sh", Some(before), Some(after));
        Host::new(vec![proposal(1, "ends", vec![step])]).screen(80, 24)
    };
    let returns = screen("#!/bin/sh\necho\n", "#!/bin/sh\necho\r\n");
    assert!(returns.contains("-echo\n") && returns.contains("+echo␍\n"), "{returns}");
    let usual = screen("a\r\nb\r\n", "a\r\nc\r\n");
    assert!(usual.contains("-b\n") && usual.contains("+c\n") && !usual.contains('␍'), "{usual}");
    let last = screen("a\nb", "a\nb\n");
    assert!(
        last.contains("-b\n  \\ no line end") || last.contains("\\ no line end after the last line"),
        "{last}"
    );
    assert_eq!(last.matches("no line end").count(), 1, "{last}");
}

#[test]
fn nothing_about_a_command_is_out_of_reach() {
    let long = format!("make {}", "x".repeat(200));
    let mut step = command_step(0, &long);
    step.title = format!("run {long}, with MAKEFLAGS=\"--eval=evil\"");
    if let change_review::StepEffect::Command(command) = &mut step.effect {
        command.folder = Some("sub/folder".to_owned());
        command.background = Some("server".to_owned());
        let path = format!("{}/evil.sh", "deep/".repeat(40));
        command.effects = vec![change_review::FileStep::between(path, None, Some(b"x\n"))];
    }
    let mut host = Host::new(vec![proposal(1, "command", vec![step])]);
    let screen = host.screen(80, 24);
    assert!(
        screen.contains("in the folder sub/folder") && screen.contains("left running as server"),
        "{screen}"
    );
    let mut all = screen;
    for _ in 0..40 {
        host.key(Key::Right);
        all.push_str(&host.screen(80, 24));
    }
    assert!(all.contains("--eval=evil") && all.contains("evil.sh"), "{all}");
    // What fits stays where it is.
    assert!(host.screen(80, 24).contains("left running as server"));
}
