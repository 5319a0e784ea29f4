//! Work that changes what other programs obey.

use std::fs;

use cocode_runner::{ObeyedFiles, Runner, RunnerConfig, RunnerError, StopFlag};

use rel_path::ProtectedNames;

use super::work;
use crate::fixture::{Fixture, Log, agent, refused, request};

/// Commits everything with the marker.
pub(super) const COMMIT: &str = "git add -Af .; git commit -q -m 'cocode ready for check'";

pub(super) fn paths(files: &ObeyedFiles) -> Vec<&str> {
    files.0.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn work_that_starts_programs_unasked_is_not_picked_and_other_obeyed_files_are_named() {
    let obeyed = "mkdir -p .vscode .github/workflows; echo {} > .vscode/tasks.json; echo {} > .mcp.json; \
                  echo on: push > .github/workflows/x.yml";
    let fixture = Fixture::new();
    let (runner, record) = work(&fixture, &format!("{obeyed}; {COMMIT}"));
    for dry_run in [true, false] {
        let error = refused(runner.pick(&record, dry_run));
        let RunnerError::Obeyed { files, .. } = &error else { panic!("{error:?}") };
        assert_eq!(paths(files), [".mcp.json", ".vscode/tasks.json"], "{error}");
    }
    assert!(!fixture.repository().join(".vscode").exists());
    drop(runner);

    // The user has removed the names from the list: the same work is picked, and its reported files are named.
    let mut names = ProtectedNames::default();
    assert!(names.remove(".mcp.json") && names.remove(".vscode/tasks.json"));
    let runner = Runner::open(RunnerConfig { names, ..fixture.config() }).unwrap();
    let picked = runner.pick(&record, false).unwrap();
    assert_eq!(paths(&picked.to_review), [".github/workflows/x.yml", ".vscode/tasks.json"]);
    assert!(picked.done && fixture.repository().join(".vscode/tasks.json").exists());
}

/// Returns the paths for which work is not picked, of a repository in which the folder 'sub' holds the files `start`.
fn obeyed_paths(script: &str, start: &str) -> Vec<String> {
    let fixture = Fixture::new();
    if !start.is_empty() {
        for name in start.split(' ') {
            let path = fixture.repository().join("sub").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
        }
        fixture.git(&["add", "-f", "."]);
        fixture.git(&["commit", "-q", "-m", "sub"]);
    }
    let (runner, record) = work(&fixture, script);
    match runner.pick(&record, true) {
        Err(RunnerError::Obeyed { files, .. }) => files.0.into_iter().map(|file| file.path).collect(),
        picked => {
            picked.unwrap();
            Vec::new()
        }
    }
}

#[test]
fn a_repository_is_noticed_whatever_name_its_folder_has() {
    let parts = "HEAD config objects/x refs/x";
    // The first one is the control. Git takes the others for patterns, unless it is asked not to.
    for folder in ["repo", ":/repo", ":(top)repo", ":!repo", ":(exclude)/repo", "repo*[x]"] {
        let script = format!(
            "mkdir -p '{folder}/objects' '{folder}/refs'; cd '{folder}'; echo x | tee {parts}; cd -; git add -f .; \
             git commit -q -m 'cocode ready for check'"
        );
        let expected: Vec<String> = parts.split(' ').map(|part| format!("{folder}/{part}")).collect();
        assert_eq!(obeyed_paths(&script, ""), expected);
    }
}

#[test]
fn a_repository_is_noticed_with_files_of_its_names_in_its_parts() {
    // Git lists a folder that it is asked for only if it is not asked for files in it, too. The first case is the control.
    for files in ["", " refs/config", " objects/HEAD refs/refs"] {
        let script = format!(
            "mkdir -p sub/objects sub/refs; cd sub; echo x | tee HEAD objects/x refs/x{files}; cd -; git add -f .; \
             git commit -q -m 'cocode ready for check'"
        );
        let mut expected: Vec<String> =
            format!("HEAD objects/x refs/x{files}").split(' ').map(|part| format!("sub/{part}")).collect();
        expected.sort();
        assert_eq!(obeyed_paths(&script, ""), expected, "{files}");
    }
}

#[test]
fn work_that_makes_a_folder_a_repository_is_not_picked() {
    let repository = "mkdir -p sub/objects sub/refs; echo ref: refs/heads/x > sub/HEAD; touch sub/refs/x";
    let refused_paths = |script: &str, start: &str| obeyed_paths(&format!("{script}; {COMMIT}"), start);
    let all = format!("{repository}; touch sub/objects/x; echo x > sub/config; echo x > sub/more");
    assert_eq!(refused_paths(&all, ""), ["sub/HEAD", "sub/config", "sub/objects/x", "sub/refs/x"]);
    // The last part that was missing, whichever it is.
    assert_eq!(
        refused_paths("mkdir sub/objects; echo y > sub/objects/x", "HEAD refs/x config"),
        ["sub/objects/x"]
    );
    // Of a repository of the user's, what git obeys.
    let user = "HEAD refs/x objects/x config";
    let changed = "mkdir sub/hooks; echo y | tee sub/hooks/x sub/config sub/refs/y sub/objects/y";
    assert_eq!(refused_paths(changed, user), ["sub/config", "sub/hooks/x"]);
    // The controls: data of such a one, and folders with some of the names.
    assert_eq!(refused_paths("echo y | tee sub/refs/y sub/objects/y", user), [""; 0]);
    assert_eq!(
        refused_paths(&format!("{repository}; echo x > sub/config; mkdir hooks; touch hooks/x"), ""),
        [""; 0]
    );
}

#[test]
fn what_the_merge_makes_is_judged_and_not_the_work_alone() {
    let repository = "mkdir -p tool/objects; echo ref: refs/heads/main | tee tool/HEAD tool/objects/x; echo x > tool/config";
    let cases = [
        // The first agent's work and that of the second one, which is picked afterwards, with the paths for which it is not. The
        // first case is the control: neither makes a repository.
        (repository, "mkdir -p tool/other; echo x > tool/other/x", vec![]),
        (repository, "mkdir -p tool/refs; echo x > tool/refs/x", vec!["tool/refs/x"]),
        (
            "mkdir -p tool/refs; echo x > tool/refs/x",
            repository,
            vec!["tool/HEAD", "tool/config", "tool/objects/x"],
        ),
    ];
    for (first, second, expected) in cases {
        let fixture = Fixture::new();
        let runner = fixture.runner();
        let agents =
            vec![agent("a", &format!("{first}; {COMMIT}")), agent("b", &format!("{second}; {COMMIT}"))];
        let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
        assert!(runner.pick(&records[0], false).unwrap().done);
        let head = fixture.git(&["rev-parse", "HEAD"]);
        match runner.pick(&records[1], false) {
            Err(RunnerError::Obeyed { files, .. }) => {
                assert_eq!(paths(&files), expected, "{second}");
                assert_eq!(fixture.git(&["rev-parse", "HEAD"]), head, "{second}");
            }
            picked => assert!(picked.unwrap().done && expected.is_empty(), "{second}"),
        }
    }
}

#[test]
fn a_file_that_the_user_has_renamed_is_judged_by_its_new_name() {
    for (name, is_refused) in [("moved.json", false), (".vscode/tasks.json", true)] {
        let fixture = Fixture::new();
        let path = |name: &str| fixture.repository().join(name);
        let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
        fs::write(path("tasks.json"), text).unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "tasks"]);
        let (runner, record) = work(&fixture, &format!("echo evil >> tasks.json; {COMMIT}"));
        fs::create_dir(path(".vscode")).unwrap();
        fixture.git(&["mv", "tasks.json", name]);
        fixture.git(&["commit", "-q", "-m", "moved"]);
        match runner.pick(&record, false) {
            Err(RunnerError::Obeyed { files, .. }) => {
                assert_eq!((paths(&files), is_refused), (vec![name], true))
            }
            // The control: git does bring the agent's line to the new name.
            picked => assert!(picked.unwrap().done && !is_refused),
        }
        assert_eq!(fs::read_to_string(path(name)).unwrap().contains("evil"), !is_refused);
    }
}

#[test]
fn a_submodule_in_place_of_what_programs_obey_is_not_picked() {
    // The first case is the control. Settings have git leave out the last one in its differences.
    let cases = [
        ("lib", false, ""),
        (".vscode", true, ""),
        ("pkg/.vscode", true, ""),
        (".claude", true, ""),
        (".zed", true, "[submodule \"x\"]\npath = .zed\nurl = ./x\nignore = all\n"),
    ];
    for (path, is_refused, settings) in cases {
        let fixture = Fixture::new();
        fs::write(fixture.repository().join(".gitmodules"), settings).unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "settings"]);
        let script = format!(
            "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),{path}; git commit -q -m 'cocode ready for check'"
        );
        let (runner, record) = work(&fixture, &script);
        let diff = cocode_runner::diff(&fixture.config(), &record, true).unwrap();
        assert!(diff.contains(path), "{diff}");
        match runner.pick(&record, true) {
            Err(RunnerError::Obeyed { files, .. }) => {
                assert_eq!((paths(&files), is_refused), (vec![path], true))
            }
            picked => assert!(!is_refused, "{path}: {picked:?}"),
        }
    }
}
