//! Links that lead to nothing.

use std::os::unix::fs::symlink;

use wap_core::Reason;

use crate::fixture::workspace::{Fixture, read};

#[test]
fn a_link_that_leads_to_nothing_is_named_with_where_it_leads() {
    let fixture = Fixture::new();
    symlink("deep/gone", fixture.root().join("dangling")).unwrap();
    std::fs::create_dir(fixture.root().join("deep")).unwrap();
    let workspace = fixture.open();
    let error = read(&workspace, "dangling").unwrap_err();
    assert_eq!(error.reason(), Reason::FileNotFound);
    assert_eq!(error.message(), "`dangling` leads to `deep/gone`, which does not exist");
    assert_eq!(error.detail("target").and_then(|target| target.as_str()), Some("deep/gone"));
    // The controls: a file that is missing, under its name and by a way with steps upwards.
    for path in ["deep/missing", "deep/../deep/missing"] {
        let error = read(&workspace, path).unwrap_err();
        assert_eq!(error.message(), "`deep/missing` does not exist");
        assert!(error.detail("target").is_none(), "{error:?}");
    }
}
