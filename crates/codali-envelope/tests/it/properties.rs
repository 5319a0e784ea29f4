//! Properties of reading and writing, for any text and any value.

use codali_envelope::{
    Form, ReadErrorKind, ReadLimits, ReadOptions, Strictness, extract_request, read_request, read_response,
    render_request, render_response,
};
use proptest::prelude::*;

use crate::drawn::{any_request, any_response, any_text};

const FORMS: [Form; 2] = [Form::Yaml, Form::JsonBody];

fn strict() -> ReadOptions {
    ReadOptions { strictness: Strictness::Strict, ..ReadOptions::default() }
}

/// Generates lines that may or may not form a request.
fn almost_a_request() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        any_text(),
        prop::sample::select(vec![
            "AGENT_REQUEST v1",
            "> AGENT_REQUEST v1",
            "request_id: 1",
            "needs:",
            "needs: [",
            "  - type: file.read",
            "- type: docdex.search",
            "    path: a",
            "    query: |",
            "      x",
            "    query: \"a",
            "\tpath: b",
            "  -",
            "  - - a",
            "context:",
            "  summary: >-",
            "  constraints:",
            "    - \"c",
            "{",
            "}",
            "```",
            "",
            "CODALI_RESPONSE v1",
            "results: []",
            "{\"request_id\":\"q\",\"needs\":[",
            "{\"type\":\"file.read\",\"path\":\"a\"}",
            "]}",
            "# c",
            "> x",
            "    limit: 0x1",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

    #[test]
    fn a_response_that_is_written_reads_back_the_same(response in any_response()) {
        for form in FORMS {
            let text = render_response(&response, form);
            let read = read_response(&text, &ReadLimits::for_responses());
            prop_assert_eq!(read.as_ref(), Ok(&response), "{}", text);
        }
    }

    #[test]
    fn a_request_that_is_written_reads_back_the_same(request in any_request()) {
        for form in FORMS {
            let text = render_request(&request, form);
            let mut reads = vec![read_request(&text, &strict())];
            // After a blank line, an unknown key ends the envelope, unless only YAML is read.
            if request.extra.is_empty() || !text.lines().any(|line| line.trim().is_empty()) {
                let end = if text.ends_with('\n') { "" } else { "\n" };
                let reply = format!("Let me see.\n\n```yaml\n{text}{end}```\nThanks");
                reads.push(read_request(&text, &ReadOptions::default()));
                reads.push(extract_request(&text, &ReadOptions::default()));
                reads.push(extract_request(&reply, &ReadOptions::default()));
            }
            for read in reads {
                let read = read.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
                prop_assert_eq!(&read.request, &request, "{}", &text);
                prop_assert_eq!(&read.warnings, &[], "{}", &text);
            }
        }
    }

    #[test]
    fn a_rendered_response_never_contains_a_request(response in any_response()) {
        for form in FORMS {
            let text = render_response(&response, form);
            let outcome = extract_request(&text, &ReadOptions::default());
            prop_assert!(outcome.is_err_and(|error| error.kind == ReadErrorKind::NoRequest), "{}", text);
        }
    }

    #[test]
    fn nothing_panics_and_errors_name_a_position(text in prop_oneof![any_text(), almost_a_request()]) {
        let lines = u32::try_from(text.split('\n').count()).unwrap();
        for read in [
            read_request(&text, &ReadOptions::default()),
            read_request(&text, &strict()),
            extract_request(&text, &ReadOptions::default()),
        ] {
            if let Err(error) = read {
                prop_assert!((1..=lines + 1).contains(&error.line_number) && error.column >= 1, "{}", error);
            }
        }
        let _ = read_response(&text, &ReadLimits::for_responses());
        let _ = read_response(&format!("CODALI_RESPONSE v1\n{text}"), &ReadLimits::for_responses());
    }

    #[test]
    fn a_request_that_was_read_can_be_written_and_read_again(text in almost_a_request()) {
        let Ok(reading) = extract_request(&text, &ReadOptions::default()) else { return Ok(()) };
        for form in FORMS {
            let text = render_request(&reading.request, form);
            let again = read_request(&text, &ReadOptions::default());
            prop_assert_eq!(again.map(|again| again.request), Ok(reading.request.clone()), "{}", text);
        }
    }
}
