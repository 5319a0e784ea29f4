//! Values with a placeholder, of which a cut leaves a part where no rule finds it.

use std::sync::Arc;

use secret_placeholders::StreamMask;
use wap_core::{
    ExecuteCommand, ModifyFile, ModifyOperation, Reason, Unobserved, WapError, Workspace, WorkspaceExt,
};

use crate::masking::token;
use crate::over_workspace::{Masked, over, read, with_call};

/// The maximum number of bytes that reading a line returns.
const MOST_BYTES: usize = 1 << 20;

/// The shortest part that must not be shown.
const PART_BYTES: usize = 4;

/// Values with words that are too short to be left out anyway, and a value longer than the automaton's head.
fn values() -> [String; 4] {
    let long: String = (0..60).map(|number| format!("{number} zebra ")).collect();
    [
        ["correct horse battery ", "staple 42 zebra fox"].concat(),
        ["kX7,qz;Wm(2L)r9", ",aB;cD(eF)"].concat(),
        ["duo  tabs\tand é, ", "ü and 7 more"].concat(),
        long.trim_end().to_owned(),
    ]
}

/// Returns a workspace that has found the value, and whose file has a text.
fn knowing(value: &str, text: String) -> Masked {
    let masked = over([("conf.py", format!("password = \"{value}\"\n")), ("a.txt", text)]);
    let visible = read(&masked, "conf.py", None);
    assert!(!visible.contains(&value[..PART_BYTES]), "the control: a rule finds it: {visible}");
    masked
}

fn parts(value: &str) -> impl Iterator<Item = usize> {
    (PART_BYTES..value.len()).filter(|bytes| value.is_char_boundary(*bytes)).step_by(3)
}

/// Returns the output of a command that was cut, as a model sees it.
fn output(masked: &Masked, output: String) -> String {
    masked.inner().on_command("x", Err(WapError::new(Reason::Timeout, "late").with("stdout", output)));
    let request = ExecuteCommand { command: "x".into(), ..ExecuteCommand::default() };
    // A separate step: a repeated one would be answered from the record.
    let step = u32::try_from(masked.inner().commands_run().len()).unwrap();
    let error = with_call(step, |call| masked.execute_command(call, &request, &mut Unobserved)).unwrap_err();
    error.detail("stdout").unwrap().as_str().unwrap().to_owned()
}

#[test]
fn a_line_that_is_read_to_its_limit_shows_no_beginning() {
    for value in values() {
        for bytes in parts(&value).step_by(4) {
            let padding = MOST_BYTES - bytes;
            let line =
                format!("{}, {value} tail\nb\n", "ab ".repeat(padding / 3 + 1).split_at(padding - 2).0);
            let visible = read(&knowing(&value, line), "a.txt", Some((1, 1)));
            let end = &visible[visible.len() - 100..];
            assert!(!visible.contains(&value[..PART_BYTES]), "{bytes}: {end}");
            assert!(visible.len() > padding - 200, "{}", visible.len());
        }
    }
}

#[test]
fn the_end_of_a_line_that_is_read_to_its_limit_does_not_tell_how_a_value_begins() {
    let [value, ..] = values();
    let lengths = ["corr", "corx"].map(|guess| {
        let line = format!("{} {guess} tail\n", "ab".repeat(MOST_BYTES / 2).split_at(MOST_BYTES - 5).0);
        read(&knowing(&value, line), "a.txt", Some((1, 1))).len()
    });
    assert_eq!(lengths[0], lengths[1]);
}

#[test]
fn the_gap_of_an_output_shows_neither_a_beginning_nor_a_rest() {
    let gap = "\n… 5 bytes left out …\n";
    for value in values() {
        let masked = knowing(&value, String::new());
        for bytes in parts(&value) {
            let (head, tail) = value.split_at(bytes);
            let visible = output(&masked, format!("one {head}{gap}{tail} two"));
            // Three bytes of a part may stay.
            let hidden = [head.get(..PART_BYTES), tail.get(tail.len().saturating_sub(PART_BYTES)..)];
            let hidden = hidden.into_iter().flatten().filter(|part| part.len() == PART_BYTES);
            for part in hidden {
                assert!(!visible.contains(part), "{bytes}: {visible}");
            }
            assert!(
                visible.starts_with("one") && visible.ends_with(" two") && visible.contains(gap),
                "{visible}"
            );
        }
        // The control: text that begins and ends unlike a value stays.
        let other = format!("one cat hat{gap}rat hut two");
        assert_eq!(output(&masked, other.clone()), other);
    }
}

#[test]
fn an_output_with_many_lines_like_a_gap_has_the_lines_next_to_them_left_out() {
    let gap = "\n… 5 bytes left out …\n";
    let value = values()[0].to_owned();
    let (head, tail) = value.split_at(value.len() / 2);
    let masked = knowing(&value, String::new());
    let text = |gaps: usize| {
        format!("first\ncat{}{tail} dog\nlast", format!("{gap}hat\nrat {head}").repeat(gaps) + gap)
    };
    // The control: next to few gaps, only the words are left out.
    let visible = output(&masked, text(3));
    assert_eq!(visible, format!("first\ncat{}{gap} dog\nlast", format!("{gap}hat\nrat ").repeat(3)));
    let visible = output(&masked, text(1_000));
    let exact = format!("{gap}hat\nrat ").repeat(15) + gap + "hat";
    assert!(visible.starts_with(&format!("first\ncat{exact}{gap}")), "{visible}");
    assert!(visible.ends_with(&format!("{gap}{gap}last")), "{visible}");
    assert_eq!(visible.matches("hat").count(), 16);
}

#[test]
fn lines_of_an_output_that_are_read_next_to_a_gap_show_neither_a_beginning_nor_a_rest() {
    let [value, ..] = values();
    let token = token();
    for (start, end) in [value.split_at(20), token.split_at(20)] {
        let text = format!("one {start}\n… 5 bytes left out …\n{end} two\nthree\n");
        let masked = over([
            ("conf.py", format!("password = \"{value}\"\n")),
            ("@process/web", text.clone()),
            ("a.txt", text),
        ]);
        let _ = read(&masked, "conf.py", None);
        for (lines, visible) in [((1, 1), "one \n"), ((3, 3), " two\n"), ((3, 4), " two\nthree\n")] {
            assert_eq!(read(&masked, "@process/web", Some(lines)), visible, "{start}");
        }
        // The control: a file has no gaps, and a line apart from one is whole.
        assert!(read(&masked, "a.txt", Some((1, 1))).contains(start));
        assert_eq!(read(&masked, "@process/web", Some((4, 4))), "three\n");
    }
}

#[test]
fn a_word_that_is_left_out_at_a_gap_takes_along_the_value_that_it_ends_or_begins() {
    let gap = "\n… 5 bytes left out …\n";
    let value = ["Xylophone9 is ", "more than twelve"].concat();
    let turned = ["more than twelve ", "is Xylophone9"].concat();
    let masked = over([("conf.py", format!("password = \"{value}\"\npassword = \"{turned}\"\n"))]);
    assert!(!read(&masked, "conf.py", None).contains("twelve"));
    let visible = output(&masked, format!("one {turned}yz{gap}ab{value} two"));
    assert!(
        !visible.contains("twelve") && visible.starts_with("one ") && visible.ends_with(" two"),
        "{visible}"
    );
}

#[test]
fn the_head_of_a_hunk_shows_no_beginning() {
    for value in values() {
        let masked = knowing(&value, String::new());
        let secrets = Arc::clone(masked.secrets().unwrap());
        for bytes in parts(&value).take_while(|bytes| *bytes < 60) {
            // As much as git quotes of a line.
            let padding = 80 - "let word=".len() - bytes;
            let head = format!(
                "@@ -7,5 +7,6 @@ {}let word={}",
                "a b ".repeat(20).split_at(padding).0,
                &value[..bytes]
            );
            let mut stream = StreamMask::new(&secrets);
            let streamed = stream.push(format!("{head}\n b\n").as_bytes()) + &stream.finish();
            for visible in [streamed, output(&masked, format!("{head}\n b\n"))] {
                assert!(!visible.contains(&value[..PART_BYTES]), "{bytes}: {visible}");
                assert!(visible.contains("let ") && visible.contains('…'), "{visible}");
            }
        }
    }
}

/// Values that begin as the lines of a numbered view do.
fn numbered_values() -> [String; 3] {
    ["12|kX7qzWm2Lr9aBcDeFgHiJ", "  7|horse battery staple 42", "3|"].map(|start| match start {
        "3|" => format!("{start}{}", "Ab9 ".repeat(50).trim_end()),
        _ => start.to_owned(),
    })
}

#[test]
fn a_value_that_begins_like_a_numbered_line_is_hidden_at_the_start_of_a_line() {
    for value in numbered_values() {
        let masked = knowing(&value, format!("a\n{value}\n{value} b\n"));
        let start = &value[..value.find('|').unwrap() + 5];
        let visible = output(&masked, format!("12|fn a() {{}}\n{value}\nsee {value}\n"));
        assert!(!visible.contains(start), "{visible}");
        assert!(visible.starts_with("12|fn a() {}\n⟦"), "{visible}");
        let edit = |new: &str| ModifyFile {
            path: "a.txt".into(),
            operations: vec![ModifyOperation::Replace {
                start_line: 1,
                end_line: 1,
                new_content: new.into(),
                was: None,
            }],
            ..ModifyFile::default()
        };
        let answer = with_call(90, |call| masked.modify_file(call, &edit("b"))).unwrap();
        let view = answer.changed.unwrap().text;
        let is_hidden = ["1|b\n2|⟦", "1|b\n2|…"].iter().any(|hidden| view.contains(hidden));
        assert!(is_hidden && !view.contains(start), "{view}");
    }
}
