//! State folders that are another user's, and the rule that keeps state folders out of repositories.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use crate::fixture::project::{Project, Ran, is_root};

/// An ordinary user; no account of this number needs to exist.
const ANOTHER_USER: u32 = 1_000;

const RULE: &str = "*\n";

fn new(project: &Project) -> Ran {
    project.run(&["new", "--no-wait", "do something"])
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_state_folder_of_another_user_is_refused_by_root_too() {
    if !is_root() {
        // A folder of root's takes the part of the other user's.
        let project = Project::with_base(Path::new("/usr"));
        new(&project).exits(4).says("it belongs to user 0").says("--base DIR");
        return;
    }
    for arguments in [&["new", "--no-wait", "do it"][..], &["sessions"], &["log"], &["index", "build"]] {
        let project = Project::new();
        fs::create_dir(project.base()).unwrap();
        chown(project.base(), Some(ANOTHER_USER), Some(ANOTHER_USER)).unwrap();
        let said = "it belongs to user 1000, and agentd runs as user 0";
        project.run(arguments).exits(4).says(said).says("run agentd as that user");
        // The option that accepts a copy does not help either.
        let mut trusting = arguments.to_vec();
        trusting.push("--trust-state");
        project.run(&trusting).exits(4).says(said);
        assert_eq!(names(&project.base()), Vec::<String>::new(), "something was written into it");
        // The control: the same folder is used when it is root's.
        chown(project.base(), Some(0), Some(0)).unwrap();
        project.run(arguments).ok();
    }
}

#[test]
fn a_state_folder_of_root_is_refused_by_others() {
    let project = Project::new().of_an_ordinary_user();
    if !is_root() {
        // The test before this one.
        return;
    }
    fs::create_dir(project.base()).unwrap();
    fs::set_permissions(project.base(), fs::Permissions::from_mode(0o755)).unwrap();
    new(&project).exits(4).says("it belongs to user 0, and agentd runs as user 1000");
    project.give_to_its_user(&project.base());
    new(&project).ok();
}

#[test]
fn a_state_folder_that_others_may_write_into_is_refused() {
    for outside in [false, true] {
        let project = if outside { Project::with_base_outside() } else { Project::new() };
        for mode in [0o777, 0o720, 0o702] {
            let _ = fs::create_dir(project.base());
            fs::set_permissions(project.base(), fs::Permissions::from_mode(mode)).unwrap();
            new(&project).exits(4).says("users other than its owner may write into it").says("chmod go-w");
        }
        assert_eq!(names(&project.base()), Vec::<String>::new());
        fs::set_permissions(project.base(), fs::Permissions::from_mode(0o755)).unwrap();
        new(&project).ok();
        // Also later, when it holds something.
        fs::set_permissions(project.base(), fs::Permissions::from_mode(0o775)).unwrap();
        project.run(&["sessions"]).exits(4).says("(mode 775)");
        fs::set_permissions(project.base(), fs::Permissions::from_mode(0o700)).unwrap();
        project.run(&["sessions"]).ok().prints("do something");
    }
}

#[test]
fn a_missing_or_empty_ignore_rule_is_repaired_when_the_state_folder_is_opened() {
    let project = Project::new();
    new(&project).ok();
    let rule = project.base().join(".gitignore");
    assert_eq!(fs::read_to_string(&rule).unwrap(), RULE);
    for broken in ["", "# nothing\n", "*.tmp\n"] {
        fs::write(&rule, broken).unwrap();
        new(&project).ok();
        assert_eq!(fs::read_to_string(&rule).unwrap(), RULE, "after {broken:?}");
    }
    fs::remove_file(&rule).unwrap();
    new(&project).ok();
    assert_eq!(fs::read_to_string(&rule).unwrap(), RULE);
    // git follows no link here, and what it leads to is not written.
    let elsewhere = project.folder().join("elsewhere");
    fs::write(&elsewhere, "*\n# mine\n").unwrap();
    fs::remove_file(&rule).unwrap();
    symlink(&elsewhere, &rule).unwrap();
    new(&project).ok();
    assert!(fs::symlink_metadata(&rule).unwrap().is_file());
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "*\n# mine\n");
    // What a user has added stays.
    fs::write(&rule, "# mine\n*\n!outbox/\n").unwrap();
    new(&project).ok();
    assert_eq!(fs::read_to_string(&rule).unwrap(), "# mine\n*\n!outbox/\n");
}

#[test]
fn what_a_killed_process_left_of_the_ignore_rule_is_no_reason_to_refuse_the_folder() {
    let project = Project::new();
    fs::create_dir(project.base()).unwrap();
    fs::write(project.base().join(".gitignore-half"), "").unwrap();
    fs::write(project.base().join("birth-half"), "").unwrap();
    new(&project).ok();
    assert_eq!(fs::read_to_string(project.base().join(".gitignore")).unwrap(), RULE);
}

#[test]
fn a_new_state_folder_is_closed_to_others() {
    let project = Project::new();
    new(&project).ok();
    assert_eq!(fs::metadata(project.base()).unwrap().mode() & 0o777, 0o700);
}
