//! The parts of the workspace that an outbox shows or leaves out.

use memory_workspace::MemoryWorkspace;
use tagproto::{
    BlockKind, CommandResult, CommandType, Context, Dialect, ListedEntry, OutboxLimits, RequestedFile,
    RequestedText, Session, gather, read_outbox, render_outbox,
};
use wap_core::{EntryKind, FileVersion, Limits, ShownVersions};

use crate::fixture::call_frame::Frame;
use crate::fixture::recording::Recording;
use crate::fixture::round_trip::{outbox, session};

/// Returns a session that requested files.
fn asking_for(paths: &[&str]) -> Session {
    let mut session = session("T", Dialect::Agentd);
    session.sequence_number = 2;
    // Reopened, so that the message has all rules and the whole list.
    session.reopened = vec![1];
    session.read_file_requests = paths.iter().map(|path| (*path).to_owned()).collect();
    session
}

fn gathered(session: &Session, workspace: &MemoryWorkspace, limits: &OutboxLimits) -> Context {
    gather(session, workspace, &Frame::new("outbox").call(), limits).unwrap()
}

fn file(path: &str, text: &str) -> RequestedFile {
    let total_lines = text.split_inclusive('\n').count() as u64;
    let version = Some(FileVersion(format!("version of {path}")));
    RequestedFile {
        path: path.into(),
        text: Some(RequestedText {
            text: text.into(),
            version,
            total_lines,
            lines: None,
            is_cut: false,
            warnings: Vec::new(),
        }),
    }
}

fn shown_file(path: &str, text: &str) -> String {
    shown_file_in(Dialect::Agentd, path, text)
}

fn shown_file_in(dialect: Dialect, path: &str, text: &str) -> String {
    let context = Context { files: vec![file(path, text)], ..Context::default() };
    let text = render_outbox(&Session { dialect, ..asking_for(&[path]) }, &context, "").text;
    let start = text.find("## Requested File Contents\n").unwrap() + "## Requested File Contents\n".len();
    let end = text.rfind("\n\n=== PROMPT ===").unwrap();
    text[start..end].to_owned()
}

#[test]
fn listing_has_files_only_and_nothing_of_git() {
    let files = [
        ("b/c.txt", "12"),
        ("a.txt", ""),
        (".git/config", "x"),
        ("b/.git/x", "x"),
        ("w/.git", "gitdir: x"),
        (".gitignore", "1"),
    ];
    let context = gathered(&asking_for(&[]), &MemoryWorkspace::with_files(files), &OutboxLimits::default());
    let listed: Vec<_> =
        context.listing.iter().map(|entry| (entry.path.as_str(), entry.size_bytes)).collect();
    assert_eq!(listed, [(".gitignore", 1), ("a.txt", 0), ("b/c.txt", 2)]);
    assert_eq!((context.unlisted, context.files), (0, vec![]));
}

#[test]
fn cut_listing_reports_the_number_of_missing_entries_and_how_to_list_them() {
    let files = [("a", ""), ("b", ""), ("c", ""), ("d/e", "")];
    let limits = Limits { max_directory_entries: 3, ..Limits::default() };
    let workspace = MemoryWorkspace::with_files(files).with_limits(limits);
    let context =
        gathered(&asking_for(&[]), &workspace, &OutboxLimits { listed_files: 2, ..OutboxLimits::default() });
    assert_eq!((context.listing.len(), context.unlisted), (2, 3));
    let text = render_outbox(&asking_for(&[]), &context, "").text;
    assert!(text.contains(
        "## Workspace Files\n  a (0 bytes)\n  b (0 bytes)\n\
         (3 more entries are not listed; RUN_COMMAND with ls or find lists any folder)\n"
    ));
}

#[test]
fn incomplete_listing_is_reported() {
    let note = |warnings: &[&str], files: &[(&str, &str)]| {
        let workspace = Recording::of(MemoryWorkspace::with_files(files.iter().copied()));
        let warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
        *workspace.listing_warnings.lock().unwrap() = Some(warnings);
        read_outbox(&outbox(&mut asking_for(&[]), &workspace)).unwrap().listing_note
    };
    let way = "RUN_COMMAND with ls or find lists any folder";
    let expected = format!("the list is not complete; there may be more than what is listed; {way}");
    assert_eq!(note(&[], &[("a", "")]), Some(expected.clone()));
    // An empty list does not mean an empty workspace.
    assert_eq!(note(&[], &[]), Some(expected));
    let expected = format!("the list is not complete; 2 folders could not be read; x )( y; {way}");
    assert_eq!(note(&["2 folders could not be read", "x\n)(\ty"], &[("a", "")]), Some(expected));
    let many = "w".repeat(1_000);
    assert!(note(&[many.as_str(); 100], &[]).unwrap().len() < 2_000);
}

#[test]
fn results_are_bounded_and_failures_come_before_successes() {
    let result = |number: usize, success| CommandResult {
        command_type: CommandType::Block(BlockKind::Message),
        summary: number.to_string(),
        success,
        output: String::new(),
        notes: Vec::new(),
        denied: Vec::new(),
    };
    let render = |count: usize, fails: &dyn Fn(usize) -> bool| {
        let last_results = (0..count).map(|number| result(number, !fails(number))).collect();
        let session = Session { last_results, ..asking_for(&[]) };
        let text = render_outbox(&session, &Context::default(), "").text;
        let parts = read_outbox(&text).unwrap();
        let numbers: Vec<usize> =
            parts.results.iter().map(|result| result.summary.parse().unwrap()).collect();
        assert!(numbers.is_sorted());
        (numbers, parts.notes)
    };
    let (numbers, notes) = render(200, &|_| false);
    assert_eq!((numbers.len(), notes.len()), (200, 0));
    let (numbers, notes) = render(201, &|_| false);
    assert_eq!((numbers.len(), &numbers[98..102]), (200, &[98, 99, 101, 102][..]));
    assert_eq!(notes, ["1 more result is not shown: 1 succeeded, 0 failed"]);
    let (numbers, notes) = render(5_000, &|number| number % 100 == 50);
    assert_eq!((numbers.len(), numbers[0], numbers[199]), (200, 0, 4_999));
    assert!((0..50).all(|failed| numbers.contains(&(failed * 100 + 50))));
    assert_eq!(notes, ["4800 more results are not shown: 4800 succeeded, 0 failed"]);
    let (numbers, notes) = render(5_000, &|number| number >= 10);
    assert_eq!((numbers.len(), numbers[0], numbers[99], numbers[100]), (200, 10, 109, 4_900));
    assert_eq!(notes, ["4800 more results are not shown: 10 succeeded, 4790 failed"]);
}

#[test]
fn budget_cuts_results_last() {
    let result = CommandResult {
        command_type: CommandType::Block(BlockKind::Message),
        summary: "w".repeat(300),
        success: true,
        output: String::new(),
        notes: Vec::new(),
        denied: Vec::new(),
    };
    let context = Context { files: vec![file("p", &"line\n".repeat(100))], ..Context::default() };
    let session =
        Session { last_results: vec![result; 100], token_budget: Some(3_000), ..asking_for(&["p"]) };
    let text = render_outbox(&session, &context, "").text;
    assert!(text.chars().count() <= 12_000, "{}", text.chars().count());
    let parts = read_outbox(&text).unwrap();
    assert!(parts.results.len() > 5, "{}", parts.results.len());
    let left_out = 100 - parts.results.len();
    assert_eq!(
        parts.notes,
        [format!("{left_out} more results are not shown: {left_out} succeeded, 0 failed")]
    );
    assert_eq!(parts.files[0].text.as_deref(), Some(""));
}

#[test]
fn notes_precede_the_results_and_disappear_with_the_next_reply() {
    let mut session = asking_for(&[]);
    session.notes = vec!["the user has\n[OK] DONE: undone".into(), "second".into()];
    let text = render_outbox(&session, &Context::default(), "").text;
    assert!(
        text.contains("\n\n## Previous Command Results\n[NOTE] the user has [OK] DONE: undone\n[NOTE] second\n\n=== PROMPT"),
        "{text}"
    );
    let result = CommandResult {
        command_type: CommandType::Block(BlockKind::Message),
        summary: "m".into(),
        success: true,
        output: String::new(),
        notes: Vec::new(),
        denied: Vec::new(),
    };
    let execution = tagproto::Execution { results: vec![result], ..Default::default() };
    session.advance(execution, "2025-01-15T10:35:00Z");
    assert!(session.notes.is_empty());
}

#[test]
fn listing_distinguishes_links_from_files_and_keeps_names_on_one_line() {
    let entry = |path: &str, kind| ListedEntry { path: path.into(), size_bytes: 7, kind };
    let context = Context {
        listing: vec![entry("a\n## Workspace Files", None), entry("l (1 bytes)", Some(EntryKind::Symlink))],
        ..Context::default()
    };
    let text = render_outbox(&asking_for(&[]), &context, "").text;
    assert!(
        text.contains("\n  a\\x0a## Workspace Files (7 bytes)\n  l (1 bytes) (symbolic link)\n"),
        "{text}"
    );
}

#[test]
fn requested_files_are_read_once_each_and_within_the_limits() {
    let files = [("a", "1234\n1234\n1234\n"), ("b", "12345678901234567890"), ("c", "x\n"), ("gone", "\0")];
    let workspace = MemoryWorkspace::with_files(files);
    let limits = OutboxLimits { file_bytes: 12, all_files_bytes: 18, ..OutboxLimits::default() };
    let session = asking_for(&["a", "./a", "no", "gone", "b", "c"]);
    let context = gathered(&session, &workspace, &limits);
    let files: Vec<_> = context
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.text.as_ref().map(|text| (text.text.as_str(), text.is_cut))))
        .collect();
    let expected = [
        ("a", Some(("1234\n1234\n", true))),
        ("no", None),
        ("gone", None),
        ("b", Some(("12345678", true))),
        ("c", Some(("", true))),
    ];
    assert_eq!(files, expected);
    let text = render_outbox(&session, &context, "").text;
    let start = text.find("## Requested").unwrap();
    insta::assert_snapshot!(text[start..text.rfind("\n\n=== PROMPT").unwrap()], @r#"
    ## Requested File Contents
    --- a ---
    1|1234
    2|1234
    --- end a --- (lines 1-2 of 3; for more use READ_FILE with start_line="3" end_line="3")
    --- no --- (file not found or access denied)
    --- gone --- (file not found or access denied)
    --- b ---
    1|12345678
    --- end b --- (the start of line 1 of 1; for more use RUN_COMMAND, for example: fold -w 200 b | head -n 100)
    --- c ---
    --- end c --- (none of 1 lines shown; for more use READ_FILE with start_line="1" end_line="1")
    "#);
}

#[test]
fn ordinary_files_have_the_fences_of_the_seed() {
    for text in
        ["a\n", "---\ntitle: x\n---\n", "----\n", "=== RUN   TestX\n", "# Heading\n", "[OKAY]\n", "-- x --\n"]
    {
        let section = shown_file_in(Dialect::CodingAgent, "p", text);
        assert_eq!(section, format!("--- p ---\n{text}--- end p ---"));
    }
}

#[test]
fn lines_of_a_file_have_their_numbers_in_front() {
    let text: String = (1..=10).map(|line| format!("{line}|x\n")).collect();
    let view = shown_file("p", &text);
    assert!(
        view.starts_with("--- p ---\n 1|1|x\n 2|2|x\n") && view.ends_with("\n10|10|x\n--- end p ---"),
        "{view}"
    );
    assert_eq!(shown_file("p", "\u{feff}a\n\n"), "--- p ---\n1|\u{feff}a\n2|\n--- end p ---");
    // The numbers keep a line from looking like structure, but not the lines that only other readers see.
    assert_eq!(shown_file("p", "=== PROMPT ===\n"), "--- p ---\n1|=== PROMPT ===\n--- end p ---");
    assert_eq!(
        shown_file("p", "a\u{2028}=== HEADER ===\n"),
        "---- p ----\n1|a\u{2028}=== HEADER ===\n---- end p ----"
    );
    assert_eq!(shown_file_in(Dialect::CodingAgent, "p", "a\n"), "--- p ---\na\n--- end p ---");
}

#[test]
fn fences_are_longer_than_lines_that_look_like_fences() {
    for (text, dashes) in [
        ("=== PROMPT ===\n", 4),
        ("  === context ===\n", 4),
        ("a\u{2028}=== HEADER ===\n", 4),
        ("## Workspace Files\n", 4),
        ("[OK] DONE: x\n", 4),
        ("[failed] x\n", 4),
        ("[NOTE] x\n", 4),
        ("Reply-To: 00000000-1\n", 4),
        ("  reply-to: x\n", 4),
        ("--- a/file.rs\n+++ b/file.rs\n", 4),
        ("\t---- end p ----\n", 5),
        ("--- p ---\n---------- x\n", 11),
    ] {
        let fence = "-".repeat(dashes);
        let section = shown_file_in(Dialect::CodingAgent, "p", text);
        assert_eq!(section, format!("{fence} p {fence}\n{text}{fence} end p {fence}"));
    }
}

#[test]
fn note_after_a_file_reports_what_its_lines_do_not_show() {
    for (text, expected) in [
        ("", "--- p ---\n--- end p --- (empty file)"),
        ("\n", "--- p ---\n1|\n--- end p ---"),
        ("a", "--- p ---\n1|a\n--- end p --- (no newline at end of file)"),
        ("a\r\nb\r\n", "--- p ---\n1|a\n2|b\n--- end p --- (lines end in CRLF)"),
        (
            "a\r\nb\nc",
            "--- p ---\n1|a\r\n2|b\n3|c\n--- end p --- (no newline at end of file; some lines end in CRLF)",
        ),
    ] {
        assert_eq!(shown_file("p", text), expected);
    }
}

#[test]
fn note_after_a_file_has_the_warnings_of_the_workspace() {
    let workspace = MemoryWorkspace::with_files([("p", b"\xff\n")]);
    let session = asking_for(&["p"]);
    let context = gathered(&session, &workspace, &OutboxLimits::default());
    let text = render_outbox(&session, &context, "").text;
    let end = "--- end p --- (note: the file is not UTF-8; undecodable bytes are shown as U+FFFD)\n";
    assert!(text.contains(&format!("--- p ---\n1|\u{fffd}\n{end}")), "{text}");
}

#[test]
fn long_command_is_not_repeated_in_full() {
    let mut session = asking_for(&[]);
    let command: String = (1..=40).map(|number| format!("line {number}\n")).collect();
    session.last_results = vec![CommandResult {
        command_type: BlockKind::RunCommand.into(),
        summary: format!("Ran '{command}end' (exit code 0)"),
        success: true,
        output: "out".into(),
        notes: Vec::new(),
        denied: Vec::new(),
    }];
    let results = read_outbox(&render_outbox(&session, &Context::default(), "").text).unwrap().results;
    let lines: Vec<&str> = results[0].summary.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[9]), (12, "Ran 'line 1", "line 10"));
    assert_eq!(lines[10..], ["[... 30 lines left out ...]", "end' (exit code 0)"]);
    assert_eq!(results[0].output, "out");
}

/// Returns a session with results and a context, all large.
fn large() -> (Session, Context) {
    let entry = |number: usize| ListedEntry { path: format!("file-{number:03}"), size_bytes: 1, kind: None };
    let mut session = asking_for(&["p"]);
    let result = |kind: BlockKind, output: String| CommandResult {
        command_type: kind.into(),
        summary: "x".into(),
        success: false,
        output,
        notes: Vec::new(),
        denied: Vec::new(),
    };
    let lines = |count: usize| (1..=count).map(|number| format!("{number:04}\n")).collect::<String>();
    session.last_results =
        vec![result(BlockKind::EditFile, lines(20)), result(BlockKind::RunCommand, lines(400))];
    let context = Context {
        listing: (0..100).map(entry).collect(),
        files: vec![file("p", &lines(400))],
        ..Context::default()
    };
    (session, context)
}

#[test]
fn budget_cuts_the_listing_then_outputs_then_files() {
    let (session, context) = large();
    let whole = render_outbox(&session, &context, "").text;
    let whole_tokens = u32::try_from(whole.chars().count().div_ceil(4)).unwrap();
    let mut sizes = Vec::new();
    for less in [0, 1, 200, 600, 1_200, 1_500] {
        let session = Session { token_budget: Some(whole_tokens - less), ..session.clone() };
        let outbox = render_outbox(&session, &context, "");
        let tokens = u32::try_from(outbox.text.chars().count().div_ceil(4)).unwrap();
        assert!(tokens <= whole_tokens - less);
        let parts = read_outbox(&outbox.text).unwrap();
        assert_eq!(parts.results[0].output.lines().count(), 20, "what explains a failed edit is not cut");
        let file = parts.files[0].text.as_ref().unwrap();
        sizes.push((parts.listing.len(), parts.results[1].output.lines().count(), file.lines().count()));
    }
    insta::assert_debug_snapshot!(sizes, @r#"
    [
        (
            100,
            400,
            400,
        ),
        (
            96,
            400,
            400,
        ),
        (
            58,
            400,
            400,
        ),
        (
            0,
            352,
            400,
        ),
        (
            0,
            85,
            400,
        ),
        (
            0,
            1,
            342,
        ),
    ]
    "#);
}

#[test]
fn omissions_for_the_budget_are_reported() {
    let (session, context) = large();
    let session = Session { token_budget: Some(1_358), ..session };
    let parts = read_outbox(&render_outbox(&session, &context, "").text).unwrap();
    let notes = [
        parts.listing_note.unwrap(),
        parts.results[1].output.lines().next().unwrap().to_owned(),
        parts.files[0].note.clone().unwrap(),
    ];
    insta::assert_snapshot!(notes.join("\n"), @r#"
    100 more entries are not listed; RUN_COMMAND with ls or find lists any folder
    [1999 characters left out to keep to the token budget]
    lines 1-20 of 400; for more use READ_FILE with start_line="21" end_line="220"
    "#);
}

#[test]
fn budget_that_is_too_small_is_exceeded() {
    let (session, context) = large();
    let session = Session { token_budget: Some(1), ..session };
    let parts = read_outbox(&render_outbox(&session, &context, "").text).unwrap();
    assert_eq!((parts.listing.len(), parts.files[0].text.as_deref()), (0, Some("")));
}

#[test]
fn only_shown_lines_count_as_shown() {
    let unreadable = RequestedFile { path: "gone".into(), text: None };
    let mut cut = file("cut", "1\n2\n");
    cut.text.as_mut().unwrap().is_cut = true;
    let mut nothing = file("nothing", "");
    nothing.text.as_mut().unwrap().is_cut = true;
    let context = Context {
        files: vec![file("whole", "1\n"), file("empty", ""), cut, nothing, unreadable],
        ..Context::default()
    };
    let mut session = asking_for(&[]);
    let mut before = ShownVersions::default();
    before.record("cut", FileVersion("old".into()), wap_core::LineSpan::ALL);
    before.record("other", FileVersion("old".into()), wap_core::LineSpan::ALL);
    session.shown_versions = before;
    let shown_versions = render_outbox(&session, &context, "").shown_versions;
    let version = |path, line| shown_versions.version_for(path, line).map(|version| version.0.as_str());
    assert_eq!(shown_versions.paths().collect::<Vec<_>>(), ["cut", "empty", "other", "whole"]);
    assert_eq!(version("whole", 99), Some("version of whole"));
    assert_eq!((version("cut", 2), version("cut", 3)), (Some("version of cut"), Some("old")));
    assert_eq!(version("other", 1), Some("old"));
}

#[test]
fn text_that_is_no_outbox_is_refused_with_the_line() {
    let text = render_outbox(
        &asking_for(&["p"]),
        &Context { files: vec![file("p", "a\n")], ..Context::default() },
        "",
    )
    .text;
    for (damaged, error) in [
        (String::new(), "expected '=== HEADER ===' in line 1"),
        (text.replace("Sequence: 2", "Sequence: x"), "bad value of 'Sequence' in line 3"),
        (text.replace("Reply-To: a1b2c3d4-2", "Reply-To: a1b2c3d4-3"), "bad value of 'Reply-To' in line 5"),
        (text.replace("=== CONTEXT ===", "=== context ==="), "expected '=== CONTEXT ===' in line "),
        (text.replace("(empty workspace)", "  a (many bytes)"), "unexpected line in line "),
        (text.replace("--- end p ---", "--- end q ---"), "unclosed file in line "),
        (text.replace("=== PROMPT ===", ""), "expected '=== PROMPT ===' in line "),
    ] {
        let message = read_outbox(&damaged).unwrap_err().to_string();
        assert!(message.starts_with(error), "{message}");
    }
}

#[test]
fn protocol_text_is_short_and_teaches_every_block() {
    for dialect in Dialect::ALL {
        let text = tagproto::protocol_text(dialect);
        assert!(text.lines().count() <= 88 && text.lines().all(|line| line.chars().count() <= 115));
        let taught: Vec<BlockKind> = tagproto::parse(text).iter().map(|item| item.kind()).collect();
        assert_eq!(
            taught,
            BlockKind::ALL,
            "each block has one example that can be read, in the order of the reference"
        );
        assert!(tagproto::parse(text).iter().all(|item| matches!(item, tagproto::Item::Block(_))));
    }
}
