//! Single rules of strict parsing.

use insta::assert_snapshot;
use tagproto::{
    Block, Body, Decoder, IfExists, Item, LineRange, ParseErrorKind, ReadRange, RenderError, parse,
    render_block,
};

fn only(text: &str) -> Item<'static> {
    let mut items = parse(text);
    assert_eq!(items.len(), 1, "{items:?}");
    items.remove(0).into_owned()
}

fn only_block(text: &str) -> Block<'static> {
    match only(text) {
        Item::Block(block) => block.value,
        Item::Error(error) => panic!("{error}"),
    }
}

fn only_error(text: &str) -> String {
    match only(text) {
        Item::Block(block) => panic!("{block:?}"),
        Item::Error(error) => error.to_string(),
    }
}

#[test]
fn unclosed_block_ends_the_parse_and_counts_later_tags() {
    let text = "[CREATE_FILE path=\"a\"]\nx\n[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n[DONE]\nok\n[/DONE]\n";
    assert_snapshot!(only_error(text), @"CREATE_FILE for 'a' missing closing tag; 2 later tag lines were not run; send the block again and end it with [/CREATE_FILE] on a line of its own");
    assert_snapshot!(only_error("[MESSAGE]\n[DONE]"), @"MESSAGE missing closing tag; 1 later tag line was not run; send the block again and end it with [/MESSAGE] on a line of its own");
}

#[test]
fn a_block_that_is_unclosed_and_malformed_is_unclosed() {
    let Item::Error(error) = only("[EDIT_FILE path=\"a\"]\nx\n[DELETE_FILE path=\"b\"]") else {
        panic!("closed")
    };
    assert_eq!(error.kind, ParseErrorKind::Unclosed { path: Some("a".to_owned()), later_tags: 1 });
    assert_eq!(error.lines, LineRange { first: 1, last: 3 });
}

#[test]
fn the_errors_advise_the_next_step() {
    assert_snapshot!(only_error("[READ_FILE]"), @r#"READ_FILE missing path attribute; write [READ_FILE path="relative/path"] with double quotes"#);
    assert_snapshot!(only_error("[EDIT_FILE path=\"a\"]\n[/EDIT_FILE]"), @r#"EDIT_FILE missing required attributes (path, start_line, end_line); write [EDIT_FILE path="relative/path" start_line="N" end_line="M"] with double quotes"#);
    assert_snapshot!(only_error("[EDIT_FILE path=\"a\" start_line=\"x\" end_line=\"1\"]\n[/EDIT_FILE]"), @r#"EDIT_FILE start_line/end_line must be integers; count lines from 1"#);
    assert_snapshot!(only_error("[READ_FILE path=\"a\" PATH=\"b\"]"), @r#"READ_FILE duplicate attribute 'path'; give it once"#);
    assert_snapshot!(only_error("[RUN_COMMAND]\n \t\n[/RUN_COMMAND]"), @r#"RUN_COMMAND has an empty body; put the shell command between [RUN_COMMAND] and [/RUN_COMMAND]"#);
}

#[test]
fn a_repeated_attribute_that_no_block_uses_is_ignored() {
    assert_eq!(
        only_block("[READ_FILE mode=\"a\" path=\"p\" mode=\"b\"]"),
        Block::ReadFile { path: "p".into(), range: ReadRange::Whole }
    );
}

#[test]
fn no_lines_and_one_blank_line_differ() {
    let body = |text| match only_block(text) {
        Block::CreateFile { body, .. } => body,
        other => panic!("{other:?}"),
    };
    assert_eq!(body("[CREATE_FILE path=\"a\"]\n[/CREATE_FILE]"), Body::no_lines());
    assert_eq!(body("[CREATE_FILE path=\"a\"]\n\n[/CREATE_FILE]"), Body::of_lines(""));
    assert_eq!(body("[CREATE_FILE path=\"a\"]\n\r\n[/CREATE_FILE]"), Body::of_lines(""));
    assert_eq!(body("[CREATE_FILE path=\"a\"]\n\n\n[/CREATE_FILE]").line_count(), 2);
    assert_eq!(Body::no_lines().lines().count(), 0);
    assert_eq!(Body::of_lines("").lines().count(), 1);
}

#[test]
fn one_carriage_return_of_a_line_end_is_dropped_and_no_other() {
    let Block::CreateFile { body, .. } =
        only_block("[CREATE_FILE path=\"a\"]\na\r\r\nb\rc\r\n\r\n[/CREATE_FILE]")
    else {
        panic!("a file");
    };
    assert_eq!(body, Body::of_lines("a\r\nb\rc\n"));
}

#[test]
fn a_clean_body_borrows_from_the_reply() {
    let text = String::from("[CREATE_FILE path=\"a\"]\nx\ny\n[/CREATE_FILE]\n");
    let Item::Block(block) = parse(&text).remove(0) else { panic!("a block") };
    let Block::CreateFile { body, .. } = block.value else { panic!("a file") };
    assert!(matches!(body.into_text(), std::borrow::Cow::Borrowed("x\ny")));
}

#[test]
fn integers_take_blanks_and_a_sign_and_stay_in_32_bits() {
    let edit = |start: &str| {
        only(&format!("[EDIT_FILE path=\"a\" start_line=\"{start}\" end_line=\"2\"]\n[/EDIT_FILE]"))
    };
    for (written, expected) in
        [(" +3 ", 3), ("-7", -7), ("0", 0), ("007", 7), ("2147483647", i32::MAX), ("-2147483648", i32::MIN)]
    {
        let Item::Block(block) = edit(written) else { panic!("{written}") };
        assert!(
            matches!(block.value, Block::EditFile { start_line, .. } if start_line == expected),
            "{written}"
        );
    }
    for written in ["2147483648", "1e3", "+-1", "1 2", "", "٣"] {
        assert!(matches!(edit(written), Item::Error(_)), "{written}");
    }
}

#[test]
fn a_tag_line_holds_nothing_but_the_tag() {
    for line in [
        "[DONE] ok",
        "[DONE]]",
        "[ DONE]",
        "[DONE",
        "[DONES]",
        "[DONE=]",
        "[done]",
        "x[DONE]",
        "[DONE]\u{200b}",
        "[READ_FILE path=\"a\"] \"]",
        "[READ_FILE path=\"a\"][READ_FILE path=\"b\"]",
        "[READ_FILE path]x=\"a\"]",
        "[]",
        "[",
        "]",
        "[/DONE]",
    ] {
        assert_eq!(parse(line), [], "{line}");
    }
}

#[test]
fn a_bracket_in_quotes_does_not_close_the_tag_and_a_lone_quote_is_a_character() {
    assert_eq!(
        only_block("[READ_FILE path=\"]\"]"),
        Block::ReadFile { path: "]".into(), range: ReadRange::Whole }
    );
    assert_eq!(
        only_block("[READ_FILE path=\"a\" \"]"),
        Block::ReadFile { path: "a".into(), range: ReadRange::Whole }
    );
    assert_eq!(
        only_block("[READ_FILE \"path=\" path=\"a\"]"),
        Block::ReadFile { path: "a".into(), range: ReadRange::Whole }
    );
    assert!(only_error("[READ_FILE \"]").starts_with("READ_FILE missing path attribute"));
}

#[test]
fn the_name_ends_at_whitespace_a_slash_or_the_bracket() {
    for line in [
        "[READ_FILE\u{a0}path=\"a\"]",
        "[READ_FILE\tpath=\"a\"/]",
        "[READ_FILE path=\"a\" /]",
        "\u{2003}[READ_FILE path=\"a\" ]\u{85}",
    ] {
        assert_eq!(only_block(line), Block::ReadFile { path: "a".into(), range: ReadRange::Whole }, "{line}");
    }
    assert!(only_error("[READ_FILE/]").starts_with("READ_FILE missing path attribute"));
}

#[test]
fn a_slash_does_not_stand_for_the_closing_tag_of_a_block() {
    assert!(
        only_error("[CREATE_FILE path=\"a\" /]\nx").starts_with("CREATE_FILE for 'a' missing closing tag")
    );
}

#[test]
fn spans_and_lines_go_from_the_opening_to_the_closing_tag() {
    let text = "\u{feff}prose\r\n  [DONE] \r\nx\r\n\t[/DONE]\t\r\nmore";
    let Item::Block(block) = parse(text).remove(0) else { panic!("a block") };
    assert_eq!(&text[block.span.range()], "[DONE] \r\nx\r\n\t[/DONE]");
    assert_eq!(block.lines, LineRange { first: 2, last: 4 });
}

#[test]
fn an_unclosed_block_reaches_to_the_last_line() {
    let lines = |text| match only(text) {
        Item::Error(error) => error.lines,
        Item::Block(block) => panic!("{block:?}"),
    };
    assert_eq!(lines("\n[DONE]"), LineRange { first: 2, last: 2 });
    assert_eq!(lines("\n[DONE]\n"), LineRange { first: 2, last: 2 });
    assert_eq!(lines("\n[DONE]\nx"), LineRange { first: 2, last: 3 });
    assert_eq!(lines("\n[DONE]\nx\n"), LineRange { first: 2, last: 3 });
}

#[test]
fn a_mark_in_the_middle_of_the_text_is_not_skipped() {
    assert_eq!(parse("x\n\u{feff}[READ_FILE path=\"a\"]"), []);
    assert_eq!(parse("\u{feff}\u{feff}[READ_FILE path=\"a\"]"), []);
}

#[test]
fn a_hundred_thousand_unclosed_tags_are_one_error() {
    let text = "[CREATE_FILE path=\"a\"]\n".repeat(100_000);
    assert!(only_error(&text).contains("99999 later tag lines were not run"));
    let mut decoder = Decoder::new();
    for line in text.split_inclusive('\n') {
        assert_eq!(decoder.push(line), []);
    }
    assert_eq!(decoder.finish().len(), 1);
}

#[test]
fn long_lines_of_almost_tags_take_linear_time() {
    // Each of these would take hours if a line or the rest of the text were scanned for each bracket or quote.
    let size = 300_000;
    for piece in [
        "[",
        "]",
        "\"",
        "[DONE ",
        "[DONE] ",
        "[/DONE]",
        "path=",
        "=",
        " ",
        "\u{a0}",
        "a=\"b\"",
        "[READ_FILE \"",
        "\r",
    ] {
        let line = piece.repeat(size);
        for text in [
            line.clone(),
            format!("[DONE]\n{line}"),
            format!("[READ_FILE {line}]"),
            format!("[DONE]\n{line}\n[/DONE]"),
        ] {
            let items = parse(&text);
            assert!(items.len() <= 1, "{piece}");
        }
    }
}

#[test]
fn a_long_line_pushed_in_small_pieces_takes_linear_time() {
    let mut decoder = Decoder::new();
    for _ in 0..500_000 {
        assert_eq!(decoder.push("[/DONE] "), []);
    }
    assert_eq!(decoder.push("\n[DONE]\nok\n[/DONE]\n").len(), 1);
}

#[test]
fn blocks_that_no_text_can_represent_are_refused_by_render() {
    let file = |path: &'static str, text: &'static str| Block::CreateFile {
        path: path.into(),
        body: Body::of_lines(text),
        if_exists: IfExists::Replace,
    };
    let kind = tagproto::BlockKind::CreateFile;
    assert_eq!(render_block(&file("", "x")), Err(RenderError::EmptyPath(kind)));
    assert_eq!(render_block(&file("a\"b", "x")), Err(RenderError::UnquotablePath(kind)));
    assert_eq!(render_block(&file("a", "x\n [/CREATE_FILE]\t")), Err(RenderError::ClosingTagInBody(kind)));
    assert_eq!(render_block(&file("a", "x\r\ny")), Err(RenderError::CarriageReturn(kind)));
    assert_eq!(
        render_block(&Block::RunCommand { command: "".into(), background: None }),
        Err(RenderError::EmptyCommand)
    );
    assert_eq!(
        render_block(&Block::Done { summary: " x".into() }),
        Err(RenderError::Untrimmed(tagproto::BlockKind::Done))
    );
}
