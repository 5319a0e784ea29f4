//! Lines that were meant as tags but are not.

use proptest::prelude::*;
use serde_json::Value;
use tagproto::{
    Block, BlockKind, Dialect, Item, LineRange, ParseErrorKind, Reply, Strictness, read, read_in,
    render_block, render_reply,
};

use crate::fixture::texts;

fn read_by_agentd(text: &str) -> Reply<'_> {
    read_in(text, Strictness::Repair, Dialect::Agentd)
}

/// Returns a short form of each item: the name of a block, or the text of an error.
fn outline(text: &str) -> Vec<String> {
    let name = |item: &Item<'_>| match item {
        Item::Block(block) => block.value.kind().to_string(),
        Item::Error(error) => error.to_string(),
    };
    read_by_agentd(text).items.iter().map(name).collect()
}

#[test]
fn a_misspelt_name_is_an_error_with_the_right_form() {
    let text = "I edit it:\n[EDITFILE path=\"a.rs\" start_line=\"1\" end_line=\"1\"]\nnew\n[/EDITFILE]\nThat was it.\n";
    let reply = read_by_agentd(text);
    let [Item::Error(error)] = reply.items.as_slice() else { panic!("{:?}", reply.items) };
    assert_eq!((error.command, error.lines), (BlockKind::EditFile, LineRange { first: 2, last: 4 }));
    assert_eq!(
        error.to_string(),
        "EDIT_FILE is not recognised: '[EDITFILE path=\"a.rs\" start_line=\"1\" end_line=\"1\"]' is not a tag; write \
         [EDIT_FILE path=\"relative/path\" start_line=\"N\" end_line=\"M\"] and [/EDIT_FILE], each alone on its line, with \
         the body between them"
    );
    assert_eq!(&text[error.span.start..error.span.end], text.split_at(11).1.split("\nThat").next().unwrap());
}

#[test]
fn tags_of_xml_and_unquoted_values_are_errors_too() {
    for (text, kind) in [
        ("<edit_file path=\"a\" start_line=\"1\" end_line=\"1\">\nx\n</edit_file>\n", BlockKind::EditFile),
        ("<EDIT_FILE>\nx\n</EDIT_FILE>", BlockKind::EditFile),
        ("<read_file path=\"a\"/>", BlockKind::ReadFile),
        ("<read_file path=\"a\"></read_file>", BlockKind::ReadFile),
        ("[edit_file path=a.rs start_line=1 end_line=1]\nx\n[/Edit_File]", BlockKind::EditFile),
        ("<run_command>ls</run_command>", BlockKind::RunCommand),
        ("[RUN_COMMAND]ls[/RUN_COMMAND]", BlockKind::RunCommand),
        ("<DONE>\nwell done\n</DONE>", BlockKind::Done),
        ("\u{feff}[READFILE path=\"a\"]", BlockKind::ReadFile),
    ] {
        let reply = read_by_agentd(text);
        let [Item::Error(error)] = reply.items.as_slice() else { panic!("{text}: {:?}", reply.items) };
        assert!(matches!(error.kind, ParseErrorKind::NearMiss { not_run: 0, .. }), "{text}: {error}");
        assert_eq!(error.command, kind, "{text}");
    }
}

#[test]
fn no_block_inside_a_misspelt_block_runs() {
    let text = "[CREATEFILE path=\"notes.md\"]\n[RUN_COMMAND]\nrm -r src\n[/RUN_COMMAND]\n[/CREATEFILE]\n[READ_FILE path=\"a\"]\n";
    let control = read(text, Strictness::Repair);
    assert_eq!(control.items.len(), 2, "the strict rules run what is inside");
    let [error, last] = <[String; 2]>::try_from(outline(text)).unwrap();
    assert!(error.contains("is not a tag, and 1 block inside it was not run; write [CREATE_FILE"), "{error}");
    assert_eq!(last, "READ_FILE");
}

#[test]
fn without_its_closing_tag_only_the_line_is_an_error() {
    let text = "[EDITFILE path=\"a\"]\nx\n[READ_FILE path=\"a\"]\n";
    let outline = outline(text);
    assert!(outline[0].starts_with("EDIT_FILE is not recognised"), "{outline:?}");
    assert_eq!(outline[1], "READ_FILE");
}

#[test]
fn prose_stays_prose() {
    for text in [
        "[NOTE] the tests pass\n[NOTE]\n",
        "See [READ_FILE](docs/read.md) and\n[edit_file]: https://example.org\n[EDIT_FILE][1]\n",
        "[done]\n[message]\n[Message]\n<message>\n<done/>\n",
        "- [x] done\n- [ ] EDIT_FILE\n",
        "I would use EDITFILE here: [EDITFILE path=\"a\"] and so on.\n",
        "<think>\n[EDITFILE path=\"a\"]\n</think>\n",
        "<p>\n<https://example.org>\n[1]\n[section.name]\n[profile path=\"x\"]\n",
    ] {
        assert!(read_by_agentd(text).items.is_empty(), "{text}: {:?}", outline(text));
    }
}

#[test]
fn text_in_a_body_is_content() {
    let text =
        "[CREATE_FILE path=\"a.html\"]\n<edit_file path=\"x\">\n[EDITFILE path=\"x\"]\n[/CREATE_FILE]\n";
    assert_eq!(outline(text), ["CREATE_FILE"]);
}

#[test]
fn the_original_dialect_has_no_near_misses() {
    let text = "<edit_file path=\"a\">\nx\n</edit_file>\n[EDITFILE path=\"a\"]\n";
    assert!(read_in(text, Strictness::Repair, Dialect::CodingAgent).items.is_empty());
    assert!(!read_by_agentd(text).items.is_empty());
}

#[test]
fn an_example_in_the_text_of_a_file_is_not_run() {
    let nested = "[CREATE_FILE path=\"nest.md\"]\nAn example:\n[CREATE_FILE path=\"inner\"]\nx\n[/CREATE_FILE]\n[RUN_COMMAND]\necho nested >> log\n[/RUN_COMMAND]\n[/CREATE_FILE]\n";
    let text = format!("[READ_FILE path=\"a\"]\n{nested}[READ_FILE path=\"b\"]\n");
    assert_eq!(read(&text, Strictness::Repair).items.len(), 4, "the strict rules run what is inside");
    let reply = read_by_agentd(&text);
    let [Item::Block(_), Item::Error(error), Item::Block(_)] = reply.items.as_slice() else {
        panic!("{:?}", reply.items)
    };
    assert_eq!(error.lines, LineRange { first: 2, last: 10 });
    assert_eq!(
        error.to_string(),
        "CREATE_FILE holds a tag of its own kind in its text, and a closing tag in line 10 of the reply closes no block, so that \
         its end is not clear: it was not run, nor was the block after it; put a character in front of each tag line that \
         belongs to the text, or write the file with a command"
    );
    // As many closing tags as the body has opening tags; a malformed block counts as well.
    let twice = "[CREATE_FILE]\n[CREATE_FILE path=\"1\"]\n[CREATE_FILE path=\"2\"]\n[/CREATE_FILE]\n[DELETE_FILE path=\"a\"]\n[/CREATE_FILE]\n[DELETE_FILE path=\"b\"]\n[/CREATE_FILE]\n[DELETE_FILE path=\"c\"]\n";
    let [error, last] = <[String; 2]>::try_from(outline(twice)).unwrap();
    assert!(
        error.contains("in line 8 of the reply") && error.contains("nor were the 2 blocks after it"),
        "{error}"
    );
    assert_eq!(last, "DELETE_FILE");
    // The control: the example alone ends at its closing tag.
    let closed = "[CREATE_FILE path=\"a.md\"]\n```\n[CREATE_FILE path=\"b\"]\n```\n[/CREATE_FILE]\n[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n";
    assert_eq!(outline(closed), ["CREATE_FILE", "RUN_COMMAND"]);
}

#[test]
fn a_closing_tag_of_no_block_is_reported_with_its_line() {
    let block = "[CREATE_FILE path=\"a.md\"]\nx\n[/CREATE_FILE]\n";
    let command = "[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n";
    // The tag twice, with nothing in between: the block ends at either of them.
    let doubled = format!("{block}\n[/CREATE_FILE]\n```\n[/CREATE_FILE]\n{command}");
    let [first, error, again, last] = <[String; 4]>::try_from(outline(&doubled)).unwrap();
    assert_eq!((&*first, &*last), ("CREATE_FILE", "RUN_COMMAND"));
    assert!(
        error.starts_with("CREATE_FILE has a closing tag in line 5 of the reply that closes no block; "),
        "{error}"
    );
    assert!(again.contains("in line 7 of the reply"), "{again}");
    // Harmless: these blocks have no body, or the line is not the tag alone.
    let harmless =
        "[READ_FILE path=\"a\"]\n[/READ_FILE]\nEnd with [/CREATE_FILE] then.\n- [/DONE]\n[/done]\n";
    assert_eq!(outline(harmless), ["READ_FILE"]);
}

#[test]
fn no_block_runs_that_may_be_the_text_of_a_file() {
    let read = "[READ_FILE path=\"a\"]\n";
    let (create, command) = ("[CREATE_FILE path=\"a.md\"]\nx\n", "[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n");
    let end = "[/CREATE_FILE]\n";
    let inner = "[CREATE_FILE path=\"inner\"]\ny\n";
    let example = format!("{create}{inner}{end}{command}");
    let by_closer = "has a later closing tag in line";
    let by_text = "is in no block, so that its end is not clear: it was not run";
    // The number of items, and parts of the expected error.
    let cases = [
        (format!("{read}{create}{end}{command}more text\n{end}"), 2, by_closer, "nor was the block after it"),
        (format!("{read}{create}{end}more text\n{end}{read}"), 3, by_closer, "it was not run; "),
        (format!("{create}{end}{inner}{end}more text\n{end}"), 1, by_closer, "nor was the block after it"),
        (
            format!("{command}{command}and more text\n{end}"),
            1,
            "the 2 blocks before it may be text",
            "opening tag",
        ),
        (format!("{read}{example}and more te"), 2, by_text, "nor was the block after it"),
        (format!("{read}{create}{inner}{end}and more te"), 2, by_text, "it was not run; "),
        (format!("{read}{example}and more text\n{command}"), 2, by_text, "nor were the 2 blocks after it"),
    ];
    for (text, items, reason, count) in cases {
        let outline = outline(&text);
        assert!(!outline.iter().any(|item| item == "RUN_COMMAND" || item == "CREATE_FILE"), "{outline:?}");
        assert!(outline.iter().any(|item| item.contains(reason) && item.contains(count)), "{outline:?}");
        assert_eq!(outline.len(), items, "{outline:?}");
    }
    for control in [
        format!("{read}{create}{end}{command}more text\n"),
        format!("{example}\n```\n"),
        format!("{command}{create}{end}and more text\n"),
        format!("{example}<think>\nand more text\n</think>\n"),
    ] {
        assert!(outline(&control).iter().any(|item| item == "RUN_COMMAND"), "{control}");
    }
    // A summary without its opening tag does not cast doubt on the blocks before it.
    assert_eq!(outline(&format!("{command}All done.\n[/DONE]\n"))[0], "RUN_COMMAND");
    // A tag that the end of the reply cuts off is not text: the rest of it may follow.
    let cut = outline(&format!("{example}[EDIT_FI"));
    assert!(cut.len() == 3 && cut[2].contains("was cut off in its tag"), "{cut:?}");
}

#[test]
fn no_block_runs_that_a_reply_only_considered() {
    let considered = "I could clean with\n[RUN_COMMAND]\nrm -r dist\n[/RUN_COMMAND]\nbut no, that would\n";
    let command = "[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n";
    for opening in ["<think>\n", "\u{feff}\n<thinking>So: "] {
        let text = format!("{opening}{considered}");
        assert_eq!(
            outline(&text),
            [
                "RUN_COMMAND was only considered: the reply ends within its thinking, so that nothing of it was run; send the \
              blocks without the thinking"
            ]
        );
        assert_eq!(read(&text, Strictness::Repair).items.len(), 1, "the original runs it");
        assert_eq!(outline(&format!("{opening}I wonder")), Vec::<String>::new());
    }
    // Without its opening mark, or closed in another spelling.
    let unclosed = "Maybe:\n[RUN_COMMAND]\nrm -r dist, hmm, no.\n</think>\n";
    for thinking in [
        format!("{considered}</think>\n\n"),
        format!("{considered}delete it.</thinking>\n"),
        format!("<think>\n{considered}</thinking>\n"),
        unclosed.to_owned(),
        format!("{considered}{unclosed}"),
    ] {
        let text = format!("{thinking}{command}");
        let reply = read_by_agentd(&text);
        let [Item::Block(block)] = reply.items.as_slice() else { panic!("{thinking}: {:?}", reply.items) };
        assert_eq!(&text[block.span.range()], command.trim_end());
        assert!(reply.repairs.contains(tagproto::RepairKind::Thinking), "{thinking}");
    }
    let diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+ONE\n";
    let [error] = <[String; 1]>::try_from(outline(&format!("{diff}</think>\nNo.\n"))).unwrap();
    assert!(error.contains("may be a part of thinking: line 6 of the reply"), "{error}");
    assert_eq!(outline(&format!("{diff}\nNo.\n")), ["EDIT_FILE"]);
    // The mark in the text of a file, and in prose.
    for text in [
        format!("[CREATE_FILE path=\"a.txt\"]\nbut no\n</think>\n[/CREATE_FILE]\n{command}"),
        format!("[CREATE_FILE path=\"a.txt\"]\n<think>\n</think>\n[RUN_COMMAND]\n[/CREATE_FILE]\n{command}"),
        format!("[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\nThe mark `</think>` ends it.\n{command}"),
        format!("[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n<think>\n</think>\n</think>\n{command}"),
    ] {
        assert_eq!(outline(&text).len(), 2, "{text}");
    }
}

#[test]
fn a_last_line_that_begins_a_tag_is_reported() {
    let text = "[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n\n[EDIT_FILE path=\"src/ma\n\n";
    let [first, error] = <[String; 2]>::try_from(outline(text)).unwrap();
    assert_eq!(first, "RUN_COMMAND");
    assert_eq!(error, "EDIT_FILE was cut off in its tag: '[EDIT_FILE path=\"src/ma'; send the block again");
    for text in [
        "[EDIT_FILE path=\"src/ma\nand more prose\n",
        "<think>\n[EDIT_FILE path=\"x\n</think>",
        "[",
        "see [EDIT_FILE pa",
    ] {
        assert!(read_by_agentd(text).items.is_empty(), "{text}: {:?}", outline(text));
    }
    let open = outline("[CREATE_FILE path=\"a\"]\n[EDIT_FILE path=\"src/ma");
    assert!(open.len() == 1 && open[0].contains("missing closing tag"), "{open:?}");
}

/// The cases of paste repair that expect a different number of items, since they are read by their tags alone.
const OVERRULED: [(&str, usize); 3] =
    [("keep_angle_bracket_tags_are_prose", 3), ("keep_text_after_tag_is_prose", 2), ("big_mixed_damage", 5)];

#[test]
fn cases_of_paste_repair_are_read_as_before() {
    let text = include_str!("../../../../../fixtures/vectors/paste.json");
    let vectors: Value = serde_json::from_str(text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 160);
    for case in cases {
        let input = case["input"].as_str().unwrap();
        let (as_before, now) = (read(input, Strictness::Repair), read_by_agentd(input));
        match OVERRULED.iter().find(|(name, _)| case["name"] == *name) {
            Some((name, count)) => {
                assert_ne!(now, as_before, "{name}");
                assert_eq!(now.items.len(), *count, "{name}");
            }
            None => assert_eq!(now, as_before, "{}", case["name"]),
        }
    }
}

/// Checks whether the text of a block has a line that may be its own tag in any spelling.
fn has_own_tag(block: &Block<'_>) -> bool {
    let letters = |text: &str| text.replace(|c: char| !c.is_ascii_alphabetic(), "").to_ascii_uppercase();
    let (text, name) = (render_block(block).unwrap(), letters(block.kind().name()));
    let body = text.trim_end().lines().skip(1);
    body.filter(|line| *line != block.kind().closing_tag()).any(|line| letters(line).contains(&name))
}

/// Checks for a fault in the text of a block that only this dialect has.
fn has_fault_in_text(item: &Item<'_>) -> bool {
    let Item::Error(error) = item else { return false };
    matches!(error.kind, ParseErrorKind::FenceInBody { .. } | ParseErrorKind::BlockInText { .. })
}

proptest! {
    #[test]
    fn a_reply_of_blocks_alone_has_no_near_misses(blocks in proptest::collection::vec(texts::plain_block(), 0..5)) {
        let text = render_reply(&blocks).unwrap();
        // A block may be part of thinking that ends in it, and a block with a tag of its own kind may be two.
        prop_assume!(!text.contains("</think") && !blocks.iter().any(has_own_tag));
        prop_assume!(!read_by_agentd(&text).items.iter().any(has_fault_in_text));
        prop_assert_eq!(read_by_agentd(&text), read(&text, Strictness::Repair));
    }

    #[test]
    fn errors_are_in_order_and_contain_no_other_item(text in texts::any_text()) {
        let spans: Vec<_> = read_by_agentd(&text).items.iter().map(|item| match item {
            Item::Block(block) => (block.span.start, block.span.end),
            Item::Error(error) => (error.span.start, error.span.end),
        }).collect();
        for pair in spans.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0, "{:?}", spans);
        }
        for (start, end) in spans {
            prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
        }
    }
}
