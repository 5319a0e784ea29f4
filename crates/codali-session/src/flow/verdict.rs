//! Reads a critic agent's verdict and merges it with that of the check.

use codali_envelope::critic::CriticStatus;
use codali_envelope::{CriticResult, NeedResult, ReadLimits, read_response};

/// The most reasons that are taken from a critic, and the most characters of each.
const MOST_REASONS: usize = 20;
const REASON_CHARACTERS: usize = 400;

/// A critic agent's verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// PASS or FAIL.
    pub status: CriticStatus,
    /// The reasons that it gives.
    pub reasons: Vec<String>,
}

/// Reads the verdict in a critic's reply: a `critic.result`, or a line that begins with PASS or FAIL, possibly after `status:` or
/// `verdict:`. A reply with both is a FAIL. `None` if there is no verdict.
///
/// Reasons are the rest of that line, and the items of lists after it.
#[must_use]
pub fn read_verdict(reply: &str) -> Option<Verdict> {
    if let Some(at) = reply.find("CODALI_RESPONSE")
        && let Ok(response) = read_response(&reply[at..], &ReadLimits::for_responses())
    {
        let result = response.results.into_iter().find_map(|result| match result {
            NeedResult::Critic(result) => Some(result),
            _ => None,
        });
        if let Some(CriticResult { status, reasons, .. }) = result {
            return Some(Verdict {
                status,
                reasons: reasons.iter().filter_map(|text| reason(text)).collect(),
            });
        }
    }
    let mut status = None;
    let mut reasons = Vec::new();
    for line in reply.lines() {
        if let Some((said, rest)) = status_line(line) {
            if status != Some(CriticStatus::Fail) {
                status = Some(said);
            }
            reasons.extend(reason(rest).filter(|_| said == CriticStatus::Fail));
        } else if status.is_some()
            && let Some(item) = line.trim_start().strip_prefix(['-', '*', '•'])
        {
            reasons.extend(reason(item));
        }
    }
    reasons.truncate(MOST_REASONS);
    status.map(|status| Verdict {
        status,
        reasons: if status == CriticStatus::Fail { reasons } else { Vec::new() },
    })
}

/// Returns the verdict at the start of a line, and the rest of the line.
fn status_line(line: &str) -> Option<(CriticStatus, &str)> {
    let marks = ['#', '*', '_', '`', '"', '\'', '>', ' ', '\t'];
    let mut line = line.trim_start_matches(marks).trim_start_matches("- ").trim_start_matches(marks);
    let mut is_labelled = false;
    for label in ["status", "verdict", "result"] {
        if let Some((head, rest)) = line.split_at_checked(label.len())
            && head.eq_ignore_ascii_case(label)
            && let Some(rest) = rest.trim_start_matches(marks).strip_prefix(':')
        {
            line = rest.trim_start_matches(marks);
            is_labelled = true;
        }
    }
    let end = line.find(|one: char| !one.is_ascii_alphanumeric() && one != '_').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let is = |name: &str| word == name || (is_labelled && word.eq_ignore_ascii_case(name));
    let status = match () {
        () if is("PASS") => CriticStatus::Pass,
        () if is("FAIL") => CriticStatus::Fail,
        () => return None,
    };
    // `PASS|FAIL` repeats the question.
    (!rest.starts_with(['|', '/'])).then_some((status, rest))
}

fn reason(text: &str) -> Option<String> {
    let text = text.trim_matches(|one: char| one.is_whitespace() || "*_`\"':–—-.,".contains(one));
    let clean = |one: char| if one.is_control() { '\u{fffd}' } else { one };
    let text: String = text.chars().take(REASON_CHARACTERS).map(clean).collect();
    (!text.is_empty()).then_some(text)
}

/// Merges a critic agent's verdict with the result of the check. A failed check wins, and the result reports it. Returns true if
/// the two contradict each other in that way.
pub(super) fn join(mut checked: CriticResult, verdict: &Verdict) -> (CriticResult, bool) {
    match (checked.status, verdict.status) {
        (CriticStatus::Pass, CriticStatus::Pass) => (checked, false),
        (CriticStatus::Fail, CriticStatus::Pass) => {
            add_reason(&mut checked, "the critic agent said PASS: the check wins");
            (checked, true)
        }
        (_, CriticStatus::Fail) => {
            if verdict.reasons.is_empty() {
                add_reason(&mut checked, "the critic agent said FAIL without a reason");
            }
            verdict.reasons.iter().for_each(|reason| add_reason(&mut checked, reason));
            (checked, false)
        }
    }
}

/// Adds a reason to a result and makes it a failure.
pub(super) fn add_reason(result: &mut CriticResult, reason: &str) {
    result.status = CriticStatus::Fail;
    result.reasons.push(reason.to_owned());
    result.suggested_fixes.push(format!("Address: {reason}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_found_in_every_notation_of_critics() {
        let cases = [
            ("PASS", "PASS", ""),
            ("All is well.\n\n**PASS** – good work", "PASS", ""),
            ("status: pass\nreasons: []\n", "PASS", ""),
            ("## Verdict: FAIL\n\n- no test\n- wrong name\n", "FAIL", "no test|wrong name"),
            ("FAIL: no test", "FAIL", "no test"),
            ("- status: FAIL\n", "FAIL", ""),
            ("PASS at first.\nFAIL: the name", "FAIL", "the name"),
            ("FAIL: the name\nPASS otherwise", "FAIL", "the name"),
            (
                "CODALI_RESPONSE v1\nrequest_id: c\nresults:\n  - type: critic.result\n    status: FAIL\n    reasons:\n      - \"no test\"\n",
                "FAIL",
                "no test",
            ),
            ("It should PASS or FAIL.", "", ""),
            ("Answer PASS|FAIL", "", ""),
            ("PASS|FAIL", "", ""),
            ("PASSED the tests", "", ""),
            ("passes", "", ""),
        ];
        for (reply, status, reasons) in cases {
            let verdict = read_verdict(reply);
            let said = verdict.as_ref().map(|verdict| match verdict.status {
                CriticStatus::Pass => "PASS",
                CriticStatus::Fail => "FAIL",
            });
            assert_eq!(said.unwrap_or_default(), status, "{reply}");
            assert_eq!(
                verdict.map(|verdict| verdict.reasons.join("|")).unwrap_or_default(),
                reasons,
                "{reply}"
            );
        }
    }
}
