//! Names that other programs obey: those that are never changed are refused with the reason, whichever tool it is, and
//! changes of the others are made and pointed out.

use std::fs;

use local_workspace::{DryWorkspace, LocalWorkspace};
use rel_path::{NameRule, ProtectedNames};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::*;

use crate::fixture::workspace::*;

const NEVER: &[(&str, &str)] = &[
    (".cursor/mcp.json", "Cursor"),
    (".vscode/settings.json", "Visual Studio Code"),
    (".VSCODE/mcp.json", "Visual Studio Code"),
    ("sub/my.code-workspace", "Visual Studio Code"),
    (".claude/settings.local.json", "Claude Code"),
    (".codex/config.toml", "Codex"),
    (".nvim.lua", "Vim"),
    (".hg/hgrc", "version control"),
];

const OBEYED: &[(&str, &str)] = &[
    (".github/workflows/ci.yml", "runs on the forge when pushed"),
    (".envrc", "direnv"),
    ("CLAUDE.md", "Claude Code"),
    (".husky/pre-commit", "git hooks"),
    (".vscode/launch.json", "Visual Studio Code"),
    ("sub/.npmrc", "package manager"),
];

fn warnings(changed: FileChanged) -> Vec<String> {
    match changed {
        FileChanged::Written(written) => written.warnings,
        FileChanged::Modified(modified) => modified.warnings,
        FileChanged::Deleted(deleted) => deleted.warnings,
    }
}

fn with_names(fixture: &Fixture, names: ProtectedNames, layered: Layered) -> LocalWorkspace {
    let policy = FsPolicy::default().with_protected(names);
    let root = FileRoot::open(&fixture.root(), &RootRules::none(), policy).unwrap();
    LocalWorkspace::open(root, fixture.open_journal(), fixture.layered_config(layered)).unwrap().0
}

fn make(path: &str) -> String {
    format!("mkdir -p \"$(dirname {path})\" && echo x > {path}")
}

#[test]
fn what_starts_programs_is_never_changed_by_any_tool() {
    for layered in LAYERS {
        for (path, reason) in NEVER {
            let fixture = Fixture::new();
            let workspace = fixture.open_layered(layered);
            let error = change(&workspace, write(path, "x\n")).unwrap_err();
            assert_eq!(error.reason(), Reason::Protected, "{path}");
            assert!(error.to_string().contains(reason), "{path}: {error}");
            let warned = run(&workspace, &make(path)).unwrap().warnings.join("\n");
            assert!(warned.contains(&format!("`{path}`")) && warned.contains(reason), "{path}: {warned}");
            assert!(!fixture.root().join(path).exists(), "{path} ({layered:?})");
            // The control: without the list it is a file like any other.
            drop(workspace);
            let workspace = with_names(&fixture, ProtectedNames::none(), layered);
            change(&workspace, write(path, "x\n")).unwrap();
        }
    }
}

#[test]
fn what_people_want_edited_is_edited_and_pointed_out() {
    for layered in LAYERS {
        for (path, reason) in OBEYED {
            let fixture = Fixture::new();
            let workspace = fixture.open_layered(layered);
            let pointed_out = |warned: &[String]| {
                assert!(
                    warned.len() == 1 && warned[0].contains(path) && warned[0].contains(reason),
                    "{warned:?}"
                );
            };
            pointed_out(&warnings(change(&workspace, write(path, "x\n")).unwrap()));
            pointed_out(&warnings(change(&workspace, replace(path, (1, 1), "y", None)).unwrap()));
            let dry = DryWorkspace::new(&workspace);
            change(&dry, replace(path, (1, 1), "z", None)).unwrap();
            assert!(dry.into_planned()[0].obeyed_because.as_ref().unwrap().contains(reason), "{path}");
            pointed_out(&warnings(change(&workspace, delete(path)).unwrap()));
            pointed_out(&run(&workspace, &make(path)).unwrap().warnings);
            assert_eq!(fixture.text(path).as_deref(), Some("x\n"), "{path} ({layered:?})");
            assert_eq!(run(&workspace, &make("plain")).unwrap().warnings, [""; 0]);
        }
    }
}

#[test]
fn no_link_puts_another_folder_in_place_of_what_is_pointed_out() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = with_names(&fixture, ProtectedNames::default(), layered);
        let script = "mkdir -p c wrapper sub && ln -s c .cargo && ln -s ../c sub/.cargo && ln -s . gradle && echo x > c/config.toml \
                      && ln -s c other";
        let warned = run(&workspace, script).unwrap().warnings.join("; ");
        for path in [".cargo", "sub/.cargo", "gradle"] {
            assert!(
                warned.contains(&format!("`{path}`")) && warned.contains("a link in place"),
                "{path}: {warned}"
            );
            assert!(!fixture.root().join(path).is_symlink(), "{path} ({layered:?})");
        }
        // The controls: a link with another name, and a folder with this one, in which the change is pointed out.
        assert!(fixture.root().join("other").is_symlink() && fixture.text("c/config.toml").is_some());
        let warned =
            run(&workspace, "mkdir .cargo && echo x > .cargo/config.toml").unwrap().warnings.join("; ");
        assert!(warned.contains("cargo runs the programs that it names"), "{warned}");
    }
}

#[test]
fn user_moves_names_from_list_to_list() {
    let fixture = Fixture::new();
    let mut names = ProtectedNames::default();
    names.change(".idea", NameRule::Reported);
    names.change(".github/workflows", NameRule::Never);
    names.remove(".envrc");
    names.set("*.tf", NameRule::Never, "the user has put it on the list");
    let workspace = with_names(&fixture, names, Layered::Yes);
    assert_eq!(warnings(change(&workspace, write(".idea/x.xml", "")).unwrap()).len(), 1);
    assert_eq!(warnings(change(&workspace, write(".envrc", "")).unwrap()), [""; 0]);
    for path in [".github/workflows/ci.yml", "infra/main.tf"] {
        assert_eq!(change(&workspace, write(path, "")).unwrap_err().reason(), Reason::Protected, "{path}");
    }
}

#[test]
fn other_version_control_systems_keep_working_and_run_nothing() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        assert_eq!(change(&workspace, write(".hg/dirstate", "")).unwrap_err().reason(), Reason::Protected);
        let script = "mkdir -p .hg/store .jj/repo/store .svn && echo x > .hg/dirstate && echo x > .svn/wc.db && \
                      echo x > .jj/repo/store/type && echo x > .hg/hgrc && echo x > .jj/repo/config.toml && \
                      mkdir -p .bzr/branch .bzr/branches/x && echo 'post_commit = x' > .bzr/branch/branch.conf && \
                      cp .bzr/branch/branch.conf .bzr/branches/x && echo x > .bzr/branch/location";
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        for path in [".hg/dirstate", ".svn/wc.db", ".jj/repo/store/type"] {
            assert_eq!(fixture.text(path).as_deref(), Some("x\n"), "{path} ({layered:?}): {warned}");
        }
        let refused = [
            ".hg/hgrc",
            ".jj/repo/config.toml",
            ".bzr/branch/branch.conf",
            ".bzr/branches/x/branch.conf",
            ".bzr/branch/location",
        ];
        for path in refused {
            assert!(!fixture.root().join(path).exists() && warned.contains(path), "{path}: {warned}");
        }
        let second = change_journal::RunNumber(2);
        let undone = workspace.undo(&Caller::once().call(), &local_workspace::Undo::Run(second)).unwrap();
        assert!(!fixture.root().join(".hg/dirstate").exists(), "{undone:?}");
        // Only Subversion's database says where its repository is; the rest of its folder is not pointed out.
        let script = "mkdir -p .svn/pristine && echo y > .svn/wc.db && echo y > .svn/pristine/x";
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        assert!(warned.contains("`.svn/wc.db` (Subversion runs") && !warned.contains("pristine"), "{warned}");
        assert_eq!(fixture.text(".svn/wc.db").as_deref(), Some("y\n"), "{layered:?}: {warned}");
    }
}

#[test]
fn editors_find_nothing_of_theirs_in_the_folders_of_version_control_systems() {
    let folders = [".git", ".git/info", ".git/refs", ".git/logs/x", ".git/objects/ab", "sub/.git/x"];
    let others = [".hg", ".hg/store/data", ".jj/repo/store", ".svn/tmp", ".git/hg/origin/clone/.hg"];
    for layered in LAYERS {
        let fixture = Fixture::new();
        let mut names = ProtectedNames::default();
        names.set("vendor", NameRule::Never, "ours");
        names.set(".theirs", NameRule::Never, "ours");
        let workspace = with_names(&fixture, names, layered);
        let response = run(&workspace, "git init -q . && git init -q sub").unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}");
        for folder in folders.into_iter().chain(others) {
            let paths = [".exrc", ".idea/workspace.xml", ".mcp.json", ".vscode/tasks.json", ".theirs/x"];
            let paths = paths.map(|path| format!("{folder}/{path}"));
            let script: Vec<_> = paths.iter().map(|path| make(path)).collect();
            let warned = run(&workspace, &script.join("; ")).unwrap().warnings.join("\n");
            for path in &paths {
                assert!(warned.contains(&format!("`{path}`")), "{path} ({layered:?}): {warned}");
                assert!(!fixture.root().join(path).exists(), "{path} ({layered:?}): {warned}");
            }
        }
        // The controls: other names, which a branch or a file in a store may have.
        let kept = [".git/lfs/notes", ".git/lfs/.notes", ".hg/store/data/vendor/a.i", ".jj/repo/store/type"];
        let script: Vec<_> = kept.into_iter().map(make).collect();
        let commit =
            "git -c user.name=u -c user.email=u@x commit -q --allow-empty -m one && git branch vendor/x";
        let response = run(&workspace, &format!("{}; {commit}", script.join("; "))).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        for path in kept.into_iter().chain([".git/refs/heads/vendor/x"]) {
            assert!(fixture.text(path).is_some(), "{path} ({layered:?}): {response:?}");
        }
    }
}

#[test]
fn what_lies_beyond_the_end_of_a_comparison_is_named() {
    let fixture = Fixture::new();
    fixture.put("zz/.idea/old.xml", "");
    for folder in 0..20 {
        let folder = fixture.root().join(format!(".a/{folder}"));
        fs::create_dir_all(&folder).unwrap();
        // Names of one file count as many files do, and are made sooner.
        let file = folder.join("0");
        fs::write(&file, "").unwrap();
        (1..10_000).for_each(|name| fs::hard_link(&file, folder.join(name.to_string())).unwrap());
    }
    // What is younger than a tick of the clock counts as changed by the command.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let workspace = fixture.open_layered(Layered::No);
    let script = "mkdir -p .vscode zz/x/objects zz/x/refs && echo '{}' > .vscode/tasks.json && echo x > zz/.idea/x.xml && \
                  echo x > zz/x/HEAD && echo x > zz/config && echo '{}' > zz/.mcp.json";
    let warned = run(&workspace, script).unwrap().warnings.join("\n");
    for named in ["`.vscode/tasks.json`", "`zz/.idea/x.xml`", "`zz/x/HEAD`", "`zz/.mcp.json`"] {
        assert!(warned.contains(named), "{named}: {warned}");
    }
    assert!(warned.contains("nothing that git or an editor obeys was protected"), "{warned}");
    // The control: neither what was there before nor what no program obeys.
    assert!(!warned.contains("old.xml") && !warned.contains("`zz/config`"), "{warned}");
}
