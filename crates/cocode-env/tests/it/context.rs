use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use cocode_env::{AgentContext, ContextError, ProblemKind, Variable};
use proptest::prelude::*;

fn valid() -> BTreeMap<Variable, OsString> {
    let values =
        ["/tmp/repo", "123", "https://example.org/o/r/issues/123", "/tmp/i.txt", "cocode ready for check"];
    Variable::ALL.into_iter().zip(values.map(OsString::from)).collect()
}

fn read(values: &BTreeMap<Variable, OsString>) -> Result<AgentContext, ContextError> {
    AgentContext::from_variables(|variable| values.get(&variable).cloned())
}

#[test]
fn the_five_variables_round_trip() {
    let context = read(&valid()).unwrap();
    assert_eq!(context.variables().into_iter().collect::<BTreeMap<_, _>>(), valid());
    assert_eq!(context.issue.get(), 123);
}

#[test]
fn every_problem_is_reported_at_once() {
    let problems = read(&BTreeMap::new()).unwrap_err().problems;
    assert_eq!(problems.len(), 5);
    assert!(problems.iter().all(|problem| problem.kind == ProblemKind::Missing));
    let mut values = valid();
    values.insert(Variable::RepoPath, "relative".into());
    values.insert(Variable::IssueNumber, "0".into());
    let error = read(&values).unwrap_err();
    assert_eq!(
        error.to_string(),
        "COCODE_REPO_PATH must be an absolute path; COCODE_ISSUE_NUMBER must be a whole number, 1 or more"
    );
}

#[test]
fn bad_values_are_refused_by_name() {
    let cases: [(Variable, &[&str]); 5] = [
        (Variable::RepoPath, &["", "a/b", "./x", "~/x"]),
        (Variable::IssueNumber, &["", "0", "-1", "+1", "1.5", " 1", "x", "99999999999999999999999"]),
        (
            Variable::IssueUrl,
            &["", "ftp://x/1", "https://", "https:///x", "x", "https://a b/1", "https://a/\n"],
        ),
        (Variable::IssueBodyFile, &["", "body.txt"]),
        (Variable::ReadyMarker, &["", "  ", "a\nb", "a\r", "\u{2028}x", " padded"]),
    ];
    for (variable, values) in cases {
        for value in values {
            let mut all = valid();
            all.insert(variable, value.into());
            let problems = read(&all).expect_err(value).problems;
            assert_eq!(problems.len(), 1, "{variable}={value:?}");
            assert_eq!(problems[0].variable, variable);
        }
    }
}

#[test]
fn only_paths_accept_bytes_that_are_not_utf8() {
    for variable in Variable::ALL {
        let mut all = valid();
        all.insert(variable, OsString::from_vec(b"/\xff".to_vec()));
        let is_path = matches!(variable, Variable::RepoPath | Variable::IssueBodyFile);
        assert_eq!(read(&all).is_ok(), is_path, "{variable}");
    }
}

proptest! {
    #[test]
    fn errors_never_contain_a_value(secret in "[a-z]{12}") {
        let mut all = valid();
        for variable in Variable::ALL {
            all.insert(variable, format!("{secret}\n").into());
        }
        let error = read(&all).unwrap_err();
        prop_assert!(!error.to_string().contains(&secret));
        let debug = format!("{error:?}");
        prop_assert!(!debug.contains(&secret));
    }

    #[test]
    fn accepted_variables_round_trip(
        path in "/[^\0]{0,30}", number in 1u64.., host in "[a-z]{1,9}", marker in "[a-zA-Z#:]([ a-zA-Z#:]{0,20}[a-z])?"
    ) {
        let values = [path.clone(), number.to_string(), format!("https://{host}/{number}"), path, marker];
        let all: BTreeMap<_, _> = Variable::ALL.into_iter().zip(values.map(OsString::from)).collect();
        let context = read(&all).unwrap();
        prop_assert_eq!(context.variables().into_iter().collect::<BTreeMap<_, _>>(), all);
    }
}
