//! Headers and needs in another form: read where only one meaning is possible, else refused with what to write.

use codali_envelope::{Need, NeedKind, ReadErrorKind, ReadOptions, WarningCode, extract_request, refuse};

const BODY: &str = "request_id: q1\nneeds:\n  - type: file.read\n    path: a\n";

fn request(need: &str) -> String {
    format!("AGENT_REQUEST v1\nrequest_id: q1\nneeds:\n{need}\n")
}

fn kinds(text: &str) -> Result<Vec<NeedKind>, ReadErrorKind> {
    let read = extract_request(text, &ReadOptions::default()).map_err(|error| error.kind)?;
    Ok(read.request.needs.into_iter().map(|Need { kind, .. }| kind).collect())
}

fn file(path: &str) -> Result<Vec<NeedKind>, ReadErrorKind> {
    Ok(vec![NeedKind::FileRead { path: path.to_owned() }])
}

#[test]
fn headers_that_can_mean_one_thing_are_read() {
    for header in [
        "AGENT_REQUEST v1",
        "AGENT_REQUEST: v1",
        "AGENT_REQUEST v1.0",
        "AGENT\\_REQUEST v1",
        "**AGENT_REQUEST: v1**",
    ] {
        assert_eq!(kinds(&format!("{header}\n{BODY}")), file("a"), "{header}");
    }
}

#[test]
fn other_headers_of_a_request_are_answered_with_the_right_one() {
    for header in [
        "AGENT_REQUEST",
        "AGENT_REQUEST v2",
        "AGENT_REQUEST v1:",
        "1. AGENT_REQUEST v1",
        "AGENT\\_REQUEST",
        "# AGENT_REQUEST:",
    ] {
        let error =
            extract_request(&format!("Here:\n\n{header}\n{BODY}"), &ReadOptions::default()).unwrap_err();
        assert_eq!((&error.kind, error.line_number), (&ReadErrorKind::UnknownHeader, 3), "{header}");
        let response = refuse(&error).expect("an agent that waits needs an answer");
        let warning = response.meta.warnings[0].to_string();
        assert!(warning.contains("AGENT_REQUEST v1"), "{warning}");
    }
    // Prose about requests, what is quoted, and a header without a request stay text.
    let none =
        ["AGENT_REQUEST is the header.", "    AGENT_REQUEST v2", "CODALI_RESPONSE v1\nAGENT_REQUEST v2"];
    for header in none {
        assert_eq!(kinds(&format!("{header}\n{BODY}")), Err(ReadErrorKind::NoRequest), "{header}");
    }
    assert_eq!(kinds("AGENT_REQUEST v2\nand nothing else\n"), Err(ReadErrorKind::NoRequest));
}

#[test]
fn needs_that_can_mean_one_thing_are_read() {
    for need in [
        "  - file.read: a",
        "  - file.read:\n      path: a",
        "  - file.read:\n    path: a",
        "  - file_read: a",
        "  - tool: file.read\n    path: a",
        "  - name: file_read\n    path: a",
        "  - type: file_read\n    path: a",
        "  - type: file.read\n    paths: [a]",
        "  - type: file.read\n    path: [a]",
        "  - type: file.read\n    paths: a",
        "  - tool: file.read\n    args:\n      path: a",
        "  - {\"file.read\": {\"path\": \"a\"}}",
    ] {
        assert_eq!(kinds(&request(need)), file("a"), "{need}");
    }
    let search = NeedKind::Search { query: "x y".to_owned(), limit: None };
    assert_eq!(kinds(&request("  - docdex.search: x y")), Ok(vec![search]));
    assert_eq!(kinds(&request("  - command.output:")), Ok(vec![NeedKind::CommandOutput {}]));
}

#[test]
fn needs_in_doubt_are_refused() {
    for need in [
        "  - file.read: a\n    file.list: b",
        "  - type: file.read\n    paths: [a, b]",
        "  - type: FILE.READ\n    path: a",
        "  - name: a.py",
        "  * type: file.read\n    path: a",
    ] {
        assert!(matches!(kinds(&request(need)), Err(ReadErrorKind::NoValidNeed { .. })), "{need}");
    }
    for (need, mark) in [("  * type: file.read\n    path: a", "'*'"), ("  1. file.read: a", "'1.'")] {
        let error = extract_request(&request(need), &ReadOptions::default()).unwrap_err();
        let warnings = refuse(&error).unwrap().meta.warnings;
        assert!(warnings.iter().any(|warning| warning.to_string().contains(mark)), "{need}: {warnings:?}");
    }
}

#[test]
fn lines_of_a_whole_file_are_reported() {
    let read = |need: &str| extract_request(&request(need), &ReadOptions::default()).unwrap().warnings;
    let warnings = read("  - type: file.read\n    path: a\n    start_line: 3");
    assert_eq!(warnings[0].code(), Some(WarningCode::InvalidField));
    assert!(warnings[0].to_string().contains("docdex.open"), "{warnings:?}");
    assert_eq!(read("  - type: file.read\n    path: a"), []);
}
