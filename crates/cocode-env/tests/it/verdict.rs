use cocode_env::{CheckResult, Evidence, HeadCommit, MarkerUse, PartName, ReadyMarker, Verdict};

const START: &str = "1111111111111111111111111111111111111111";
const BODY: &str =
    "Fix the bug.\n\nEnd with a line\n\ncocode ready for check\n\nand say cocode ready for check aloud.";

fn head() -> HeadCommit {
    HeadCommit {
        commit: "2".repeat(40),
        message: "fix: issue #5\n\ncocode ready for check\n".to_owned(),
        parents: 1,
        committed_at: 100,
        descends_from_start: true,
        was_made_here: true,
        is_message_whole: true,
        changes_tree: true,
        unsound: None,
    }
}

fn evidence<'a>(marker: &'a ReadyMarker, head: Option<HeadCommit>) -> Evidence<'a> {
    Evidence {
        exit_code: Some(0),
        start_commit: START,
        launched_at: 100,
        marker,
        issue_body: BODY,
        head,
        is_clean: None,
        check: None,
    }
}

/// Returns the parts that fail.
fn failures(head: Option<HeadCommit>) -> Vec<PartName> {
    let marker = ReadyMarker::default();
    let verdict = Verdict::of(&evidence(&marker, head));
    assert_eq!(verdict.ready, verdict.first_failure().is_none());
    verdict.parts.iter().filter(|part| !part.holds).map(|part| part.name).collect()
}

#[test]
fn an_honest_commit_is_ready() {
    assert_eq!(failures(Some(head())), []);
}

#[test]
fn each_part_alone_makes_it_not_ready() {
    assert_eq!(failures(Some(HeadCommit { descends_from_start: false, ..head() })), [PartName::Descends]);
    assert_eq!(failures(Some(HeadCommit { committed_at: 99, ..head() })), [PartName::New]);
    assert_eq!(failures(Some(HeadCommit { was_made_here: false, ..head() })), [PartName::New]);
    assert_eq!(failures(Some(HeadCommit { parents: 2, ..head() })), [PartName::Marker]);
    assert_eq!(failures(Some(HeadCommit { message: "fix".into(), ..head() })), [PartName::Marker]);
    let start = HeadCommit { commit: START.into(), ..head() };
    let uncommitted = [PartName::Descends, PartName::New, PartName::Changes, PartName::Marker];
    assert_eq!(failures(Some(start)), uncommitted);
    assert_eq!(failures(None), uncommitted);
    assert_eq!(failures(Some(HeadCommit { changes_tree: false, ..head() })), [PartName::Changes]);
    let unsound = Some("a/ contains '..'".to_owned());
    assert_eq!(failures(Some(HeadCommit { unsound, ..head() })), [PartName::Sound]);
    assert_eq!(failures(Some(HeadCommit { is_message_whole: false, ..head() })), [PartName::Marker]);
    let marker = ReadyMarker::default();
    for exit_code in [None, Some(1), Some(124), Some(137)] {
        let verdict = Verdict::of(&Evidence { exit_code, ..evidence(&marker, Some(head())) });
        assert_eq!(verdict.first_failure().unwrap().name, PartName::ExitCode);
        assert!(verdict.marker_present);
    }
}

#[test]
fn a_clean_tree_and_a_check_count_when_required() {
    let marker = ReadyMarker::default();
    let check = |passed| Some(CheckResult { passed, detail: "exit code 1".into() });
    let of = |is_clean, check| Verdict::of(&Evidence { is_clean, check, ..evidence(&marker, Some(head())) });
    assert!(of(Some(true), check(true)).ready && of(Some(true), check(true)).is_checked());
    assert!(of(None, None).ready && !of(None, None).is_checked());
    assert!(!of(None, check(false)).is_checked());
    assert_eq!(of(Some(false), None).first_failure().unwrap().name, PartName::CleanTree);
    let failed = of(None, check(false));
    assert_eq!(failed.first_failure().unwrap().why, "the check did not pass: exit code 1");
    let passed = |is_clean, check| of(is_clean, check).check_passed();
    assert_eq!([passed(None, check(true)), passed(None, check(false))], [Some(true), Some(false)]);
    // Another part does not hold, so it was not run.
    assert_eq!([passed(None, None), passed(Some(false), check(false))], [None, None]);
}

#[test]
fn a_repeated_marker_is_not_a_statement() {
    let cases = [
        ("fix\n\ncocode ready for check", MarkerUse::Said),
        ("fix: issue #123 - cocode ready for check", MarkerUse::Said),
        ("NOT cocode ready for checkers", MarkerUse::Said),
        ("Cocode Ready For Check", MarkerUse::Absent),
        ("cocode ready\nfor check", MarkerUse::Absent),
        ("Revert \"x cocode ready for check\"\n\nThis reverts commit 22.", MarkerUse::Reverted),
        ("Reapply \"x cocode ready for check\"", MarkerUse::Reverted),
        ("Revert \"x cocode ready for check\"\n\ncocode ready for check", MarkerUse::Said),
        ("fix\n\n> cocode ready for check", MarkerUse::Quoted),
        ("fix\n\nand say cocode ready for check aloud.", MarkerUse::Quoted),
        ("as asked (and say cocode ready for check aloud.)", MarkerUse::Quoted),
        ("fix\n\nEnd with a line\n\ncocode ready for check\n\nmore", MarkerUse::Quoted),
        (BODY, MarkerUse::Quoted),
    ];
    for (message, expected) in cases {
        assert_eq!(MarkerUse::of(&ReadyMarker::default(), message, BODY), expected, "{message}");
    }
    let own = format!("{BODY}\n\nDone:\ncocode ready for check");
    assert_eq!(MarkerUse::of(&ReadyMarker::default(), &own, BODY), MarkerUse::Said);
}

#[test]
fn a_marker_alone_on_its_line_is_a_quotation_only_next_to_a_line_of_the_issue() {
    let marker = ReadyMarker::default();
    let body = "First.\n\ncocode ready for check\n\nLast.\n";
    for (message, expected) in [
        ("First.\ncocode ready for check", MarkerUse::Quoted),
        ("fix\n\ncocode ready for check\n\nLast.", MarkerUse::Quoted),
        ("Last.\ncocode ready for check", MarkerUse::Said),
        ("fix\n\ncocode ready for check\n\nFirst.", MarkerUse::Said),
        ("cocode ready for check\ncocode ready for check", MarkerUse::Said),
        ("cocode ready for check", MarkerUse::Said),
    ] {
        assert_eq!(MarkerUse::of(&marker, message, body), expected, "{message}");
    }
    // The marker begins or ends the issue.
    for (body, quoted, said) in [
        ("cocode ready for check\nLast.", "cocode ready for check\nLast.", "Last.\ncocode ready for check"),
        (
            "First.\ncocode ready for check",
            "First.\ncocode ready for check",
            "cocode ready for check\nFirst.",
        ),
    ] {
        assert_eq!(MarkerUse::of(&marker, quoted, body), MarkerUse::Quoted, "{quoted}");
        assert_eq!(MarkerUse::of(&marker, said, body), MarkerUse::Said, "{said}");
    }
}
