//! Single rules of paste repair, mostly their limits.

use tagproto::{Block, Item, LineRange, ParseErrorKind, Refusal, RefusalKind, RepairKind, Strictness, read};

fn names(text: &str) -> Vec<&'static str> {
    read(text, Strictness::Repair).repairs.iter().map(RepairKind::name).collect()
}

fn refusal(text: &str) -> Option<&'static str> {
    read(text, Strictness::Repair).refused.map(|refusal| refusal.kind.name())
}

fn refusal_and_line(text: &str) -> Option<(RefusalKind, u32)> {
    read(text, Strictness::Repair).refused.map(|refusal: Refusal| (refusal.kind, refusal.line_number))
}

/// Returns the body of the only block, a file or a command.
#[track_caller]
fn body(text: &str) -> String {
    let reply = read(text, Strictness::Repair);
    assert_eq!(reply.refused, None);
    let [Item::Block(block)] = reply.items.as_slice() else { panic!("{:?}", reply.items) };
    match &block.value {
        Block::CreateFile { body, .. } | Block::EditFile { body, .. } => body.text().to_owned(),
        Block::RunCommand { command: text, .. } | Block::Message { text } | Block::Done { summary: text } => {
            text.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn path(text: &str) -> String {
    let reply = read(text, Strictness::Repair);
    assert_eq!(reply.refused, None);
    let [Item::Block(block)] = reply.items.as_slice() else { panic!("{:?}", reply.items) };
    block.value.path().unwrap().to_owned()
}

fn fault(text: &str) -> Option<ParseErrorKind> {
    match read(text, Strictness::Repair).items.as_slice() {
        [Item::Error(error)] => Some(error.kind.clone()),
        [Item::Block(_)] => None,
        other => panic!("{other:?}"),
    }
}

fn file(path: &str, body: &str) -> String {
    format!("[CREATE_FILE path=\"{path}\"]\n{body}\n[/CREATE_FILE]\n")
}

#[test]
fn a_damaged_opener_is_not_closed_by_damage_that_it_does_not_have() {
    let text = "**[CREATE_FILE path=\"a.md\"]**\n`[/CREATE_FILE]`\n> [/CREATE_FILE]\n**[/CREATE_FILE]**\n";
    assert_eq!(body(text), "`[/CREATE_FILE]`\n> [/CREATE_FILE]");
}

#[test]
fn an_unclosed_damaged_block_ends_the_reply() {
    let reply = read("**[RUN_COMMAND]**\nls\n- [DELETE_FILE path=\"a\"]\n", Strictness::Repair);
    let [Item::Error(error)] = reply.items.as_slice() else { panic!("{:?}", reply.items) };
    assert_eq!(error.kind, ParseErrorKind::Unclosed { path: None, later_tags: 1 });
}

#[test]
fn an_opener_not_in_upper_case_needs_a_closer_with_the_same_letters() {
    assert_eq!(body("[Done]\nok\n[/done]\n[/DONE]\n[/Done]\n"), "ok\n[/done]\n[/DONE]");
    assert_eq!(read("[done]\nok\n[/DONE]\n", Strictness::Repair).items, []);
    assert_eq!(read("[read_file]\n[delete_file path='x']\n", Strictness::Repair).items, []);
    assert_eq!(body("**[done]**\nok\n**[/done]**"), "ok");
    assert_eq!(read("[done]\nok\n**[/done]**", Strictness::Repair).items, []);
}

#[test]
fn a_decoration_on_one_side_only_is_prose() {
    for line in [
        "**[DONE]",
        "[DONE]**",
        "`[DONE]",
        "``[DONE]`",
        "__[DONE]**",
        "-[DONE]",
        "1.[DONE]",
        "#[DONE]",
        "####### [DONE]",
        "a. [DONE]",
        "- - [DONE]",
    ] {
        assert_eq!(read(&format!("{line}\nx\n[/DONE]"), Strictness::Repair).items, [], "{line}");
    }
}

#[test]
fn decorations_come_in_any_order_and_are_all_named() {
    assert_eq!(names("> 1. **`[READ_FILE path=\"a\"]`**"), ["backtick", "bold", "list", "quote"]);
    assert_eq!(names("\u{200b}### __[READ_FILE path=\"a\"]__"), ["bold", "heading", "zero_width"]);
}

#[test]
fn an_entity_is_decoded_once() {
    assert_eq!(path("[READ_FILE path=&quot;a&amp;amp;b&quot;]"), "a&amp;b");
    assert_eq!(path("[READ_FILE path=\"a&unknown;b&#10;c& d;\"]"), "a&unknown;b&#10;c& d;");
    assert_eq!(names("[READ_FILE path=\"a&unknown;b&#10;c\"]"), Vec::<&str>::new());
}

#[test]
fn a_quote_that_may_be_the_end_of_the_path_or_part_of_it_is_refused() {
    assert_eq!(refusal("[READ_FILE path=\"a&quot;b\"]"), Some("ambiguous_path"));
    assert_eq!(refusal("[READ_FILE path=“a “b” c”]"), Some("ambiguous_path"));
    assert_eq!(refusal("[READ_FILE path=“What’s new”]"), Some("ambiguous_path"));
    assert_eq!(refusal("\u{200b}[READ_FILE path=\"a\u{200d}b\"]"), Some("ambiguous_path"));
    assert_eq!(path("[READ_FILE path=\"a “b” c\"]"), "a “b” c");
}

#[test]
fn a_clean_tag_vouches_for_its_own_body() {
    let damaged = "[READ_FILE path=“a” mode=&quot;x&quot;]\n";
    assert_eq!(refusal(&format!("{damaged}{}", file("a.txt", "&lt;b&gt; “x”"))), None);
    // A tag without quotes proves nothing.
    assert_eq!(
        refusal(&format!("{damaged}[RUN_COMMAND]\necho &lt;b&gt;\n[/RUN_COMMAND]")),
        Some("entities_in_body")
    );
    assert_eq!(refusal(&format!("{damaged}[DONE]\n“x” &lt;\n[/DONE]")), None);
}

#[test]
fn a_gutter_needs_three_lines_and_something_indented() {
    assert_eq!(names(&file("a.py", "1 | if x:\n2 |     y()")), Vec::<&str>::new());
    assert_eq!(names(&file("a.txt", "1 | a\n2 | b\n3 | c")), Vec::<&str>::new());
    assert_eq!(names(&file("a.txt", "2 | a\n3 |   b\n4 | c")), Vec::<&str>::new());
    assert_eq!(body(&file("a.txt", "1│a\n2│  b\n3│c")), "a\n  b\nc");
    assert_eq!(body(&file("a.txt", "  8 | a").replace('8', "1")), "  1 | a");
}

#[test]
fn a_gutter_is_removed_with_its_own_space() {
    assert_eq!(body(&file("a.c", "1 |   a\n2 |   b\n3 |   c")), "  a\n  b\n  c");
    assert_eq!(body(&file("a.c", "1:a\n2:  b\n3:\n4:c")), "a\n  b\n\nc");
    assert_eq!(body(&file("a.c", "1:     a\n2:       b\n3:     c")), "    a\n      b\n    c");
    assert_eq!(refusal(&file("a.c", "1:    a\n2:      b\n3:    c")), Some("gutter_incomplete"));
    assert_eq!(body(&file("a.c", "1\t a\n2\t  b\n3\t c")), " a\n  b\n c");
}

#[test]
fn numbers_that_a_format_asks_for_are_content() {
    for (path, text) in
        [("a.tsv", "1\ta\n2\t\n3\tb"), ("a.yaml", "1:\n2:  b\n3: c"), ("a.csv", "1|a\n2|  b\n3|c")]
    {
        assert_eq!(body(&file(path, text)), text);
    }
}

#[test]
fn unnumbered_lines_within_a_numbered_body_are_refused_and_after_it_are_content() {
    assert_eq!(
        refusal_and_line(&file("a.c", "1 | a\n2 |   b\nwrapped\n3 | c")),
        Some((RefusalKind::GutterIncomplete, 4))
    );
    assert_eq!(refusal(&file("a.txt", "1 | a\n2 |   b\n3 | c\ntotal: 3")), None);
    assert_eq!(refusal(&file("a.txt", "1: a\n2:   b\nx\n3: c")), None);
    assert_eq!(refusal(&file("a.txt", "1 | a\n2 |   b\n9 | x\n3 | c")), None);
}

#[test]
fn a_gutter_in_front_of_a_closing_tag_does_not_make_it_one() {
    let text = file("a.py", "1 | if x:\n2 |     y()\n3 | [/CREATE_FILE]\n4 | [RUN_COMMAND]");
    assert_eq!(body(&text), "if x:\n    y()\n[/CREATE_FILE]\n[RUN_COMMAND]");
}

#[test]
fn a_body_keeps_fences_that_do_not_enclose_it() {
    for text in ["```\na\n```\nb\n```\nc\n```", "```\na", "a\n```", "```", "````\na\n```", "~~~\na\n```"] {
        assert_eq!(body(&file("a.py", text)), text);
    }
    assert_eq!(body(&file("a.md", "```\na\n```")), "```\na\n```");
    assert_eq!(body(&file("a.py", "~~~~ python\n```\n~~~~")), "```");
    assert_eq!(body("[RUN_COMMAND]\n\n```\nls\n```\n\n[/RUN_COMMAND]"), "ls");
}

#[test]
fn a_fence_with_nothing_in_it_leaves_no_lines() {
    let reply = read("[CREATE_FILE path=\"a.py\"]\n```\n```\n[/CREATE_FILE]", Strictness::Repair);
    let [Item::Block(block)] = reply.items.as_slice() else { panic!("{:?}", reply.items) };
    assert!(matches!(&block.value, Block::CreateFile { body, .. } if body.line_count() == 0));
    assert_eq!(fault("[RUN_COMMAND]\n```\n```\n[/RUN_COMMAND]"), Some(ParseErrorKind::EmptyCommand));
}

#[test]
fn a_quoted_message_with_gaps_is_shown_as_it_is() {
    assert_eq!(body("> [DONE]\n> a\nb\n> [/DONE]"), "> a\nb");
    assert_eq!(refusal("> [RUN_COMMAND]\n> a\n\n> [/RUN_COMMAND]"), Some("quote_incomplete"));
    assert_eq!(body("  > [RUN_COMMAND]\n  > a\n  >  b\n  > [/RUN_COMMAND]"), "a\n b");
}

#[test]
fn a_list_item_may_hold_a_block_that_stays_at_the_margin() {
    assert_eq!(
        body("- [EDIT_FILE path=\"a.c\" start_line=\"1\" end_line=\"1\"]\n    x;\n[/EDIT_FILE]"),
        "    x;"
    );
    assert_eq!(refusal("- [CREATE_FILE path=\"a.c\"]\n  x;\n[/CREATE_FILE]"), Some("list_indent"));
    assert_eq!(refusal("1. [RUN_COMMAND]\n   ls\n   [/RUN_COMMAND]"), Some("list_indent"));
    assert_eq!(refusal("- [DONE]\n  ok\n  [/DONE]"), None);
}

#[test]
fn a_block_with_the_indentation_of_its_list_item_is_refused() {
    let block = "   [CREATE_FILE path=\"q.py\"]\n   def f():\n       return 1\n   [/CREATE_FILE]\n";
    let prose = "1. First:\n\n";
    assert_eq!(refusal(&format!("{prose}{block}")), Some("list_indent"));
    assert_eq!(refusal(&format!("{prose}{block}   and\n\n{block}")), Some("list_indent"));
    let command = "   [RUN_COMMAND]\n   ls\n\n   pwd\n   [/RUN_COMMAND]\n";
    assert_eq!(refusal(&format!("- First:\n{command}")), Some("list_indent"));
    // The list mark may have been lost. The list alone does not prove that the body has its indentation.
    assert_eq!(refusal(block), Some("list_indent"));
    assert_eq!(refusal(&format!("{prose}Then:\n{block}")), Some("list_indent"));
    assert_eq!(body(command), "ls\n\n   pwd");
    assert_eq!(body(&format!("{prose}   [RUN_COMMAND]\nls\n   [/RUN_COMMAND]\n")), "ls");
    assert_eq!(refusal(&format!("{prose}   [DONE]\n   ok\n   [/DONE]\n")), None);
}

#[test]
fn a_tag_on_two_lines_is_refused() {
    let rest = "a\n[/CREATE_FILE]\n[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n";
    for tag in [
        "[CREATE_FILE\npath=\"q.txt\"]",
        "[CREATE_FILE\n  path=\"q.txt\"\n]",
        "[CREATE_FILE path=\"q\n.txt\"]",
    ] {
        assert_eq!(refusal(&format!("{tag}\n{rest}")), Some("split_tag"), "{tag}");
    }
    let edit = "[EDIT_FILE path=\"q.txt\" start_line=\"1\"\nend_line=\"2\"]\na\n[/EDIT_FILE]\n";
    assert_eq!(refusal(edit), Some("split_tag"));
    for prose in
        ["[CREATE_FILE\nmakes a file]", "[CREATE_FILE, path=\"a\"\n]", "[CREATE_FILE] or\npath=\"q.txt\"]"]
    {
        assert_eq!(refusal(&format!("{prose}\n")), None, "{prose}");
    }
}

#[test]
fn python_that_was_never_indented_is_kept() {
    for text in [
        "if x: y()\nz()",
        "# if x:\ny()",
        "s = '''\nif x:\ny\n'''",
        "s = \"\"\"a\nelse:\nb\"\"\"",
        "def f(x):",
        "x = 'a:'  # for y:\nz",
        "d = {\n\"if\":\n1}",
        "def f():\n    pass\nif x:\ny()",
        "@a\n@b",
    ] {
        assert_eq!(refusal(&file("a.py", text)), None, "{text}");
    }
    for text in [
        "if x:  # why\ny()",
        "try:\n\n# c\nx()\nexcept E:\ny()",
        "async def f():\nawait g()",
        "for x in 'it\\'s':\ny()",
    ] {
        assert_eq!(refusal(&file("a.py", text)), Some("indentation_lost"), "{text}");
    }
    assert_eq!(refusal(&file("a.txt", "if x:\ny()")), None);
    assert_eq!(
        refusal_and_line(&file("a.py", "import os\n\nclass A:\n\nx = 1")),
        Some((RefusalKind::IndentationLost, 6))
    );
}

#[test]
fn makefile_lines_with_spaces_that_are_not_recipes_are_kept() {
    for text in [
        "A = b \\\n    c\nall: a",
        "all: a \\\n    b\n\tcc",
        "all: a\n  X = 1",
        "all:\n  ifeq ($(A),b)\n  endif",
        "A := b\n  B := c",
        ".RECIPEPREFIX = >\na: b\n  x",
        "a:\n\tcc\n",
        "# a: b\n  # c",
    ] {
        assert_eq!(refusal(&file("src/Makefile", text)), None, "{text}");
    }
    assert_eq!(refusal(&file("rules.mk", "a b: c d\n\n  cc $<")), Some("tabs_lost"));
    assert_eq!(refusal(&file("a.txt", "a: b\n  cc")), None);
}

#[test]
fn unambiguous_label_lines_are_refused() {
    assert_eq!(refusal(&file("a.py", "Copy code\nx")), Some("copy_label"));
    assert_eq!(refusal(&file("a.txt", "Copy code\nx")), None);
    assert_eq!(refusal(&file("a.md", "python\nCopy code\nx")), None);
    assert_eq!(refusal(&file("a.py", "python\nprint(1)")), None);
    assert_eq!(refusal("[DONE]\nbash\nCopy\n[/DONE]"), None);
}

#[test]
fn comments_that_only_look_like_elisions_are_kept() {
    for line in [
        "# Loading existing data...",
        "// ...rest is spread",
        "x = 1  # ... existing",
        "// and the rest of it",
        "# ...",
        "foo(...);",
        "// wait...",
        "#include <...>",
        "/// ...",
    ] {
        let text = format!("# one\n{line}\n# two");
        assert_eq!(fault(&file("a.py", &text)), None, "{line}");
    }
    assert_eq!(fault(&file("a.md", "// ... existing code ...")), None);
}

#[test]
fn comments_for_omitted_code_fail_their_block() {
    for line in [
        "# ... existing code ...",
        "  // … rest of the file unchanged …",
        "/* ... other methods ... */",
        "<!-- ... remaining markup unchanged ... -->",
        "-- ...",
        "{/* ... */}",
        "# (rest of the code unchanged...)",
        "    // existing code...",
        "// [... unchanged ...]",
        "// ...",
    ] {
        let fault_of_line = fault(&file("a.js", &format!("a\n{line}\nb")));
        assert_eq!(
            fault_of_line,
            Some(ParseErrorKind::OmittedCode { path: "a.js".to_owned(), line_number: 2 }),
            "{line}"
        );
    }
}

#[test]
fn citation_marks_in_commands_fail_their_block() {
    for mark in [
        "【4†source】",
        "【12:3†a.md】",
        "\u{e200}cite\u{e202}turn0search1\u{e201}",
        "citeturn0search1",
        ":contentReference[oaicite:0]{index=0}",
    ] {
        assert!(
            matches!(
                fault(&format!("[RUN_COMMAND]\nls {mark}\n[/RUN_COMMAND]")),
                Some(ParseErrorKind::CitationInBody { .. })
            ),
            "{mark}"
        );
    }
    for text in ["【注】", "†", "【4】", "\u{e200}", "citeturn"] {
        assert_eq!(fault(&format!("[RUN_COMMAND]\nls {text}\n[/RUN_COMMAND]")), None, "{text}");
    }
}

#[test]
fn thinking_is_only_left_out_if_it_is_closed_and_contains_a_tag() {
    let run = "[DELETE_FILE path=\"a\"]\n";
    assert_eq!(read(&format!("<think>\n{run}"), Strictness::Repair).items.len(), 1);
    assert_eq!(read(&format!("<think>\n{run}</thinking>\n"), Strictness::Repair).items.len(), 1);
    assert_eq!(read(&format!("<thinking>so\n{run}so.</thinking>\n{run}"), Strictness::Repair).items.len(), 1);
    assert_eq!(read(&format!("a <think>\n{run}</think>"), Strictness::Repair).items.len(), 1);
    assert_eq!(names("<think>[DONE]</think>\n[READ_FILE path=\"a\"]"), Vec::<&str>::new());
}

#[test]
fn one_section_marker_is_prose_and_two_are_an_outbox() {
    let run = "[READ_FILE path=\"a\"]\n";
    assert_eq!(refusal(&format!("=== PROMPT ===\n=== PROMPT ===\n{run}")), None);
    assert_eq!(
        refusal_and_line(&format!("\n> === CONTEXT ===\n> === PROMPT ===\n{run}")),
        Some((RefusalKind::OutboxInPaste, 2))
    );
}

#[test]
fn the_same_text_twice_is_carried_out_if_nothing_is_done_twice() {
    for tag in ["[READ_FILE path=\"a\"]", "[DELETE_FILE path=\"a\"]"] {
        let reply = read(&format!("{tag}\n{tag}\n"), Strictness::Repair).into_owned();
        assert_eq!((reply.refused, reply.items.len()), (None, 2), "{tag}");
        let with_a_message = format!("{tag}\n[MESSAGE]\nx\n[/MESSAGE]\n");
        let twice = format!("{with_a_message}{with_a_message}");
        assert_eq!(refusal_and_line(&twice), Some((RefusalKind::DuplicatePaste, 5)), "{tag}");
    }
}

#[test]
fn the_same_text_twice_is_recognised_with_any_whitespace_between() {
    let run = "[RUN_COMMAND]\nmake é\n[/RUN_COMMAND]";
    for between in ["\n", "\n\n\u{a0}\n", "\r\n", " \n"] {
        assert_eq!(
            refusal(&format!("\u{feff}{run}{between}{run}\n")),
            Some("duplicate_paste"),
            "{between:?}"
        );
    }
    assert_eq!(refusal(&format!("{run}\nagain:\n{run}")), None);
    assert_eq!(refusal("the same\nthe same"), None);
    assert_eq!(refusal_and_line(&format!("{run}\n\n{run}\n")), Some((RefusalKind::DuplicatePaste, 5)));
}

#[test]
fn a_tag_broken_inside_a_value_is_refused() {
    assert_eq!(refusal_and_line("x\n[READ_FILE path=\"a/\nb\"]"), Some((RefusalKind::SplitTag, 2)));
    assert_eq!(refusal("[READ_FILE path=\"a/\nb/\nc\"]"), Some("split_tag"));
    assert_eq!(refusal("[READ_FILE path=“a/\nb”]"), Some("split_tag"));
    assert_eq!(refusal("[READ_FILE path=\"a/\n\nb/\nc\"]"), None);
    assert_eq!(refusal("[READ_FILE is a tag, \"quoted\n[READ_FILE path=\"a\"]"), None);
}

#[test]
fn a_path_with_a_link_in_it_is_refused() {
    assert_eq!(refusal("[READ_FILE path=\"src/[main.py](http://main.py)\"]"), Some("linked_path"));
    assert_eq!(path("[READ_FILE path=\"app/[slug](x)/page.tsx\"]"), "app/[slug](x)/page.tsx");
}

#[test]
fn positions_refer_to_the_paste() {
    let text = "```\n\n> **[RUN_COMMAND]**\n> ```\n> ls\n> ```\n> **[/RUN_COMMAND]**\n```\n";
    let reply = read(text, Strictness::Repair);
    let [Item::Block(block)] = reply.items.as_slice() else { panic!("{reply:?}") };
    assert_eq!(block.lines, LineRange { first: 3, last: 7 });
    assert_eq!(&text[block.span.range()], "> **[RUN_COMMAND]**\n> ```\n> ls\n> ```\n> **[/RUN_COMMAND]**");
    assert_eq!(names(text), ["body_fence", "bold", "fence", "quote"]);
}

#[test]
fn advice_is_one_line_that_begins_with_the_position() {
    let refused = read("[READ_FILE path=“What’s”]", Strictness::Repair).refused.unwrap();
    insta::assert_snapshot!(refused, @"line 1: copying may have changed characters of the path: write the path again");
}

#[test]
fn large_pastes_of_near_misses_take_linear_time() {
    // Each of these would take minutes or hours if the rest of the paste were searched for each of its lines.
    let pieces = [
        "[done]\n",
        "[done]\n**[/done]**\n",
        "**[done]**\n`[/done]`\n",
        "<think>\n",
        "<think>\n</thinking>\n",
        "```\n",
        "> \n",
        "[READ_FILE path=\"\n",
        "[READ_FILE path=“a\n",
        "**[DONE]**\n",
        "&quot;",
        "“ ",
        "【1†",
        "* ",
        "=== HEADER ===\n",
        "`",
        "[Done]\n[dOne]\n[/done]\n",
        "\\[",
        "“=",
        "&#",
        "\u{e200}a",
    ];
    for piece in pieces {
        let text = piece.repeat(100_000 / piece.len());
        for text in [
            text.clone(),
            format!("[RUN_COMMAND]\n{text}\n[/RUN_COMMAND]"),
            format!("**[CREATE_FILE path=\"a.py\"]**\n{text}\n[/CREATE_FILE]"),
            format!("[READ_FILE {text}]"),
        ] {
            assert!(read(&text, Strictness::Repair).items.len() <= 40_000, "{piece}");
        }
    }
}
