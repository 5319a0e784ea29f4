//! The map of placeholders that several processes share.

use std::fs;

use workspace_host::{HostOptions, SecretRules, WorkspacePaths};

#[test]
fn a_secret_that_one_process_has_found_is_hidden_by_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let (one, other) =
        (SecretRules::open(&options, &paths).unwrap(), SecretRules::open(&options, &paths).unwrap());
    // The values differ in nothing by which their files could be told apart but in what they are.
    let values = ["Zq8wLr3TnV5xKb2M", "Yq8wLr3TnV5xKb2M", "Xq8wLr3TnV5xKb2M"];
    for value in values {
        let log = format!("connected with {value}\n");
        assert_eq!(other.mask_file_text(&log), log, "the control: no rule finds it there");
        let masked = one.mask_file_text(&format!("db_password = \"{value}\"\n"));
        assert!(!masked.contains(value), "{masked}");
        for text in [other.mask_file_text(&log), other.mask_rest(&log)] {
            assert!(!text.contains(value), "{text}");
        }
    }
    // A map that a person has removed hides what was read of it all the same.
    fs::remove_file(folder.path().join(".agentd/secrets.json")).unwrap();
    for value in values {
        assert!(!other.mask_file_text(value).contains(value));
    }
}
