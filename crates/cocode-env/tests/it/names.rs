use cocode_env::{AgentName, ReadyMarker, branch_name, default_branch_of};

#[test]
fn names_are_letters_digits_dash_and_underscore() {
    for name in ["a", "A", "fixer-2", "a_b", &"x".repeat(40)] {
        assert!(name.parse::<AgentName>().is_ok(), "{name}");
    }
    for name in ["", "a b", "a.b", "a;rm", "a\\b", "a/b", "..", "-x", "ä", "a\n", &"x".repeat(41)] {
        let error = name.parse::<AgentName>().expect_err(name);
        assert!(error.to_string().contains("letters, digits, '-' and '_'"));
    }
}

#[test]
fn a_branch_is_named_after_issue_and_agent() {
    assert_eq!(branch_name("7".parse().unwrap(), &"a".parse().unwrap()), "cocode/7-a");
}

#[test]
fn a_default_branch_keeps_its_slashes() {
    assert_eq!(default_branch_of("refs/remotes/origin/rel/1", "origin"), Some("rel/1"));
    assert_eq!(default_branch_of("refs/remotes/origin/", "origin"), None);
    assert_eq!(default_branch_of("refs/remotes/originals/main", "origin"), None);
}

#[test]
fn a_marker_is_a_fixed_string() {
    let marker: ReadyMarker = "done.*".parse().unwrap();
    assert!(marker.is_in("x done.* y"));
    assert!(!marker.is_in("done now"));
    assert!(!marker.is_in("DONE.*"));
}
