//! Names, addresses and markers as texts and in documents.

use std::ffi::OsString;
use std::path::Path;

use cocode_env::{AgentContext, AgentName, ExitMeaning, IssueUrl, ReadyMarker, Variable};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Checks that a value is its text everywhere, and that a document with another text is refused.
fn is_its_text<T>(text: &str, refused: &str, as_str: impl Fn(&T) -> &str)
where
    T: std::str::FromStr + std::fmt::Display + Serialize + DeserializeOwned + Into<String> + Clone,
    T::Err: std::fmt::Debug,
{
    let value: T = text.parse().expect("the text is valid");
    assert_eq!(
        (as_str(&value), value.to_string(), value.clone().into()),
        (text, text.to_owned(), text.to_owned())
    );
    let json = serde_json::to_string(&value).expect("a text is a document");
    assert_eq!(json, format!("{text:?}"));
    let read: T = serde_json::from_str(&json).expect("it was written from a value");
    assert_eq!(as_str(&read), text);
    assert!(serde_json::from_str::<T>(&format!("{refused:?}")).is_err(), "{refused}");
}

#[test]
fn a_value_is_its_text() {
    is_its_text::<AgentName>("fixer-2", "a b", AgentName::as_str);
    is_its_text::<IssueUrl>("https://example.org/1", "ftp://example.org/1", IssueUrl::as_str);
    is_its_text::<ReadyMarker>("all done", " padded", ReadyMarker::as_str);
    assert_eq!(format!("{:>4}", "a".parse::<AgentName>().unwrap()), "   a");
}

#[test]
fn a_context_has_the_paths_of_its_variables() {
    let value = |variable| {
        Some(OsString::from(match variable {
            Variable::RepoPath => "/srv/tree",
            Variable::IssueNumber => "5",
            Variable::IssueUrl => "https://example.org/5",
            Variable::IssueBodyFile => "/srv/body",
            Variable::ReadyMarker => "done",
        }))
    };
    let context = AgentContext::from_variables(value).unwrap();
    assert_eq!(context.repo_path(), Path::new("/srv/tree"));
    assert_eq!(context.issue_body_file(), Path::new("/srv/body"));
}

#[test]
fn a_variable_is_known_by_its_name() {
    for variable in Variable::ALL {
        assert_eq!(Variable::from_name(variable.name()), Some(variable));
    }
    assert_eq!(Variable::from_name("COCODE_EXTRA"), None);
}

#[test]
fn a_signal_has_its_number() {
    for (code, signal) in [(129, 1), (137, 9), (192, 64)] {
        assert_eq!(ExitMeaning::of(code), ExitMeaning::Signal(signal));
    }
    assert_eq!(ExitMeaning::of(193), ExitMeaning::Error);
}
