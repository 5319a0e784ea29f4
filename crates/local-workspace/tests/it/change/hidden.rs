//! The state folder does not exist for any tool, whatever it is called and however it is reached.

use std::fs;
use std::os::unix::fs::symlink;

use local_workspace::{EngineConfig, LocalWorkspace};
use rel_path::RelPath;
use wap_core::*;

use crate::fixture::workspace::*;

const SECRET: &str = "secret of the daemon";

/// A workspace with a state folder of this name in it.
fn workspace_with_state(fixture: &Fixture, name: &str) -> LocalWorkspace {
    fixture.put("src/code.rs", "code\n");
    fixture.put(&format!("{name}/journal/db"), SECRET);
    fs::create_dir(fixture.root().join(name).join("output")).unwrap();
    symlink(name, fixture.root().join("link")).unwrap();
    symlink(format!("../{name}/journal"), fixture.root().join("src/deep")).unwrap();
    let config = EngineConfig {
        state_folder: Some(RelPath::parse(name).unwrap()),
        output_folder: fixture.root().join(name).join("output"),
        ..fixture.config()
    };
    fixture.open_with(fixture.open_journal(), config).0
}

/// Spellings of paths below the state folder.
fn spellings(fixture: &Fixture, name: &str) -> Vec<String> {
    let absolute = fixture.root().join(name).join("journal/db");
    [
        format!("{name}/journal/db"),
        format!("./{name}//journal/./db"),
        format!("src/../{name}/journal/db"),
        format!("{name}/journal/../journal/db"),
        "link/journal/db".into(),
        "src/deep/db".into(),
        "src/../link/journal/db".into(),
        absolute.to_str().unwrap().to_owned(),
    ]
    .into()
}

fn folder_of(path: &str) -> String {
    path.rsplit_once('/').unwrap().0.to_owned()
}

fn assert_closed<T: std::fmt::Debug>(outcome: Result<T, WapError>, what: &str) {
    let error = outcome.expect_err(what);
    // A write through a link is refused for the link already.
    let reasons = [Reason::Protected, Reason::IsSymlink];
    assert!(reasons.contains(&error.reason()), "{what}: {error:?}");
    assert!(!format!("{error:?}").contains(SECRET), "{what}: {error:?}");
}

#[test]
fn no_tool_reaches_the_state_folder() {
    for name in [".agentd", "agent state", "deep/er/state"] {
        let fixture = Fixture::new();
        let workspace = workspace_with_state(&fixture, name);
        for path in spellings(&fixture, name) {
            let caller = Caller::once();
            assert_closed(read(&workspace, &path), &format!("read {path}"));
            let folder = folder_of(&path);
            let explore = ExploreFiles { path: folder.clone(), ..ExploreFiles::default() };
            assert_closed(workspace.explore_files(&caller.call(), &explore), &format!("explore {folder}"));
            for path in [&path, &folder] {
                let search = search_for(&[path], "secret");
                assert_closed(workspace.search_files(&caller.call(), &search), &format!("search {path}"));
            }
            let new = format!("{folder}/new");
            for change in [
                write(&path, "x"),
                write(&new, "x"),
                write(&format!("{folder}/a/b/new"), "x"),
                replace(&path, (1, 1), "x", None),
                delete(&path),
            ] {
                assert_closed(change_one(&workspace, &change), &format!("{change:?}"));
            }
            let command = ExecuteCommand { working_directory: Some(folder.clone()), ..command("cat *") };
            assert_closed(
                workspace.execute_command(&caller.call(), &command, &mut Unobserved),
                &format!("run in {folder}"),
            );
        }
        assert_eq!(fixture.text(&format!("{name}/journal/db")).unwrap(), SECRET);
    }
}

fn change_one(workspace: &LocalWorkspace, request: &FileChange) -> Result<FileChanged, WapError> {
    change(workspace, request.clone())
}

fn search_for(paths: &[&str], query: &str) -> SearchFiles {
    SearchFiles {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        query: query.into(),
        query_type: QueryType::Literal,
        recursive: None,
        exclude_patterns: Some(Vec::new()),
        context_lines: None,
        respect_gitignore: None,
        withheld: None,
    }
}

#[test]
fn listings_and_searches_leave_the_state_folder_out() {
    for name in [".agentd", "agent state", "deep/er/state"] {
        let fixture = Fixture::new();
        let workspace = workspace_with_state(&fixture, name);
        let caller = Caller::once();
        let explore = ExploreFiles {
            recursive: Some(true),
            max_depth: Some(9),
            exclude_patterns: Some(Vec::new()),
            ..ExploreFiles::default()
        };
        let files = workspace.explore_files(&caller.call(), &explore).unwrap().files;
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert!(!paths.iter().any(|path| path.starts_with(name)), "{paths:?}");
        assert!(paths.contains(&"src/code.rs"), "{paths:?}");
        let response = workspace.search_files(&caller.call(), &search_for(&["."], "secret")).unwrap();
        assert_eq!((response.matches, response.total_matches), (Vec::new(), 0));
    }
}

#[test]
fn folder_whose_name_only_begins_like_the_state_folders_is_open() {
    let fixture = Fixture::new();
    let workspace = workspace_with_state(&fixture, "state");
    change(&workspace, write("state of things.md", "x")).unwrap();
    change(&workspace, write("states/x", "x")).unwrap();
    change(&workspace, write("src/state/x", "x")).unwrap();
    assert_eq!(read(&workspace, "src/state/x").unwrap().content, "x");
}

#[test]
fn commands_do_not_see_the_state_folder_or_are_refused() {
    for name in [".agentd", "agent state"] {
        let fixture = Fixture::new();
        let workspace = workspace_with_state(&fixture, name);
        let outcome =
            run(&workspace, &format!("cat '{name}'/journal/db; ls -A '{name}'; echo x > '{name}'/x"));
        match outcome {
            Ok(response) => {
                assert!(!response.stdout.contains("secret"), "{response:?}");
                assert!(!response.stdout.contains("journal"), "{response:?}");
            }
            Err(error) => assert_eq!(error.reason(), Reason::SandboxUnavailable, "{error}"),
        }
        assert!(!fixture.root().join(name).join("x").exists());
        let sandbox = workspace.sandbox_report().unwrap();
        let has_own_files = sandbox.fs == sandbox_exec::FileConfinement::Root;
        assert_eq!(run(&workspace, "true").is_ok(), has_own_files, "{sandbox}");
    }
}

#[test]
fn commands_are_refused_where_they_would_see_the_state_folder() {
    let fixture = Fixture::new();
    let mut config = EngineConfig {
        state_folder: Some(RelPath::parse(".agentd").unwrap()),
        output_folder: fixture.root().join(".agentd/output"),
        ..fixture.config()
    };
    fixture.put(".agentd/journal/db", SECRET);
    config.launcher.highest_level = sandbox_exec::Level::Landlock;
    let workspace = fixture.open_with(fixture.open_journal(), config).0;
    let error = run(&workspace, "touch ran").unwrap_err();
    assert_eq!(error.reason(), Reason::SandboxUnavailable);
    assert!(error.message().contains("--base"), "{error}");
    assert_eq!(fixture.text("ran"), None);
}
