//! Tests of everyday workflows as data, and of the judgement of their results.

use std::collections::BTreeSet;
use std::time::Duration;

use xtask::{StepResult, WorkflowGroup, parse_group, read_workflows, root};

fn result(exit_code: Option<i64>, output: &str, receipts: &[&str]) -> StepResult {
    let receipts = receipts.iter().map(|&receipt| receipt.to_owned()).collect();
    StepResult { exit_code, output: output.to_owned(), receipts, duration: Duration::ZERO }
}

fn group(step: &str) -> Result<WorkflowGroup, String> {
    let text = format!(
        "heading = \"G\"\n[[workflow]]\nname = \"w\"\nprograms = []\n[[workflow.step]]\nrun = \"x\"\n{step}"
    );
    parse_group("g", &text).map_err(|error| error.to_string())
}

#[test]
fn the_workflows_of_this_repository_can_be_read() {
    let groups = read_workflows(&root().join("fixtures/workflows")).unwrap();
    let workflows = || groups.iter().flat_map(|(_, group)| &group.workflows);
    let names: BTreeSet<&str> = workflows().map(|workflow| workflow.name.as_str()).collect();
    assert_eq!(names.len(), workflows().count(), "two rows have one name");
    let basic = ["git", "sh", "python3", "cargo", "tar", "find", "curl"];
    let needs_little = |programs: &[String]| programs.iter().all(|program| basic.contains(&program.as_str()));
    let as_user = workflows().filter(|workflow| workflow.ordinary_user && needs_little(&workflow.programs));
    assert!(as_user.count() >= 12, "too few rows run as an ordinary user with ordinary programs");
    for workflow in workflows() {
        assert!(!workflow.steps.is_empty(), "{}", workflow.name);
    }
}

#[test]
fn an_unknown_key_or_a_broken_pattern_is_an_error() {
    assert!(group("output = 'a'").is_ok());
    assert!(group("outptu = 'a'").unwrap_err().contains("outptu"));
    assert!(group("output = '('").unwrap_err().contains("w: regex parse error"));
    let refusal = "[workflow.step.refused]\nwhy = 'because'\n";
    assert_eq!(group(refusal).unwrap_err(), "cannot read g.toml: w: `because` has no pattern");
    assert!(group(&format!("{refusal}receipt = 'x'")).is_ok());
}

#[test]
fn a_result_is_compared_with_its_step() {
    let plain = group("output = 'ok [0-9]'").unwrap();
    let step = &plain.workflows[0].steps[0];
    let cases = [
        (result(Some(0), "ok 1", &[]), None),
        (result(Some(0), "no", &[]), Some("the output does not match `ok [0-9]`: no")),
        (result(Some(2), "a\nlast\n\n", &["look up x · off"]), Some("exit code 2: last [look up x · off]")),
        (result(None, "", &[]), Some("no exit code: ")),
    ];
    for (result, fault) in cases {
        assert_eq!(result.plain_fault(step).as_deref(), fault);
        assert_eq!(result.confined_fault(step).as_deref(), fault);
    }
}

#[test]
fn a_refusal_by_design_has_to_happen_as_expected() {
    let refused =
        group("[workflow.step.refused]\nwhy = 'because'\nreceipt = 'look up'\noutput = 'cannot'").unwrap();
    let step = &refused.workflows[0].steps[0];
    let cases = [
        (result(Some(1), "cannot", &["x", "look up a.example"]), None),
        (result(Some(0), "cannot", &["look up"]), Some("succeeds, although a refusal is expected")),
        (result(Some(1), "cannot", &["x"]), Some("not the expected receipt: [\"x\"], cannot")),
        (result(Some(1), "other", &["look up"]), Some("the output does not match `cannot`: other")),
    ];
    for (result, fault) in cases {
        assert_eq!(result.confined_fault(step).as_deref(), fault);
    }
    assert_eq!(result(Some(0), "", &[]).plain_fault(step), None);
    assert!(result(Some(1), "", &[]).plain_fault(step).is_some());
}
