//! A file that replaces a folder in a repository is judged as a new file, and a folder that replaces a file as a removal: kinds of
//! entries hide nothing.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

/// The kinds of entries that a path may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nothing,
    File,
    Folder,
    Link,
    Pipe,
}

const BEFORE: [Kind; 4] = [Kind::Nothing, Kind::File, Kind::Folder, Kind::Link];
const AFTER: [Kind; 5] = [Kind::File, Kind::Folder, Kind::Link, Kind::Pipe, Kind::Nothing];

/// A path of which git obeys a file, with a content that is refused.
struct Case {
    path: &'static str,
    content: &'static str,
    /// True if git itself may make a folder there, or passes one over.
    may_be_folder: bool,
    /// True if a file that was there may be removed.
    may_be_removed: bool,
}

const fn case(path: &'static str, content: &'static str) -> Case {
    Case { path, content, may_be_folder: false, may_be_removed: true }
}

impl Case {
    const fn kept(self) -> Case {
        Case { may_be_removed: false, ..self }
    }

    const fn or_folder(self) -> Case {
        Case { may_be_folder: true, ..self }
    }

    /// Returns whether a command may turn one kind into another here.
    fn is_allowed(&self, before: Kind, after: Kind) -> bool {
        let is_among_hooks = self.path.contains("/hooks/");
        let removal = match before {
            Kind::Nothing => true,
            Kind::Folder if after == Kind::Folder => true,
            Kind::Folder => !is_among_hooks,
            _ => self.may_be_removed,
        };
        let arrival = match after {
            Kind::Nothing => true,
            Kind::Folder => before == Kind::Folder || self.may_be_folder,
            _ => false,
        };
        removal && arrival
    }
}

const CASES: &[Case] = &[
    case("sub/.git/hooks/pre-commit", "#!/bin/sh\n").kept(),
    case("sub/.git/hooks/other", "#!/bin/sh\n").kept(),
    case("sub/.git/config.worktree", "[core]\n\tfsmonitor = x\n").kept(),
    case("sub/.git/info/attributes", "* filter=x\n").kept(),
    case("sub/.git/objects/info/alternates", "/x\n"),
    case("sub/.git/objects/info/http-alternates", "/x\n"),
    case("sub/.git/objects/pack/multi-pack-index", "../x\n"),
    case("sub/.git/rebase-merge/git-rebase-todo", "exec x\n"),
    case("sub/.git/rebase-merge/strategy", "x/../evil\n"),
    case("sub/.git/sequencer/opts", "[options]\n\tstrategy = x/../evil\n"),
    case("sub/.git/MERGE_RR", "x\n"),
    case("sub/.git/ORIG_HEAD", "ref: refs/../../x\n"),
    case("sub/.git/refs/heads/evil", "ref: refs/../../x\n").or_folder(),
    case("sub/.git/reftable/tables.list", "../x\n").kept(),
    case("sub/.git/remotes/origin", "URL: /x\n"),
    case("sub/.git/commondir", "../evil\n").kept(),
    case("sub/.git/foo.exe", "x\n").or_folder(),
    case("sub/.git/modules/m/tool.toml", "x\n").or_folder(),
    case("sub/.git/modules/m/hooks/pre-commit", "#!/bin/sh\n").kept(),
    case("sub/.git/modules/m/config", "[core]\n\tfsmonitor = x\n").kept(),
    // It goes with the rest of the working tree's record, of which a part is refused.
    case("sub/.git/worktrees/w/gitdir", "/x/.git\n").kept(),
    case("sub/.git/worktrees/w/commondir", "../../evil\n").kept(),
    case("sub/.git/worktrees/w/config", "[core]\n\tfsmonitor = x\n").kept(),
    case("bare/hooks/pre-receive", "#!/bin/sh\n").kept(),
    case("bare/config.worktree", "[core]\n\tfsmonitor = x\n").kept(),
    case("bare/info/attributes", "* filter=x\n").kept(),
    case("bare/commondir", "../evil\n").kept(),
];

/// Of indexes alone: with one that is refused, neither a branch nor what else depends on it is adopted.
const INDEXES: &[Case] =
    &[case("sub/.git/index", "no index\n").kept(), case("bare/index", "no index\n").kept()];

/// Those of which a removal makes the folder no repository, so that nothing in it is adopted.
const OF_WHOLE: &[Case] = &[
    case("sub/.git/config", "[core]\n\tfsmonitor = x\n").kept(),
    case("sub/.git/HEAD", "ref: refs/../../x\n").kept(),
    case("bare/config", "[core]\n\tfsmonitor = x\n").kept(),
    case("bare/HEAD", "ref: refs/../../x\n").kept(),
];

/// A repository with one commit, the records of a submodule and of a working tree, and a bare one.
fn repositories() -> Fixture {
    let fixture = Fixture::new();
    let script = "git init -q -b main sub && cd sub && git -c user.name=u -c user.email=u@x commit -q --allow-empty -m one && \
                  git init -q --bare -b main ../bare && cp -r ../bare .git/m && mkdir -p .git/modules .git/worktrees/w && \
                  mv .git/m .git/modules/m && cp .git/HEAD .git/worktrees/w && rm .git/hooks/* ../bare/hooks/*";
    let made = shell(&fixture.root(), script);
    assert!(made.status.success(), "{made:?}");
    fixture
}

/// A script that leaves an entry of a kind at a path.
fn script(path: &str, kind: Kind, content: &str) -> String {
    let folder = path.rsplit_once('/').unwrap().0;
    let make = match kind {
        Kind::Nothing => "true".to_owned(),
        Kind::File => format!("printf '{}' > {path} && chmod +x {path}", content.replace('\n', "\\n")),
        Kind::Folder => format!("mkdir {path}"),
        // Another one for the user than for the command.
        Kind::Link => format!("ln -s elsewhere{} {path}", content.len()),
        Kind::Pipe => format!("mkfifo {path}"),
    };
    format!("mkdir -p {folder}; rm -rf {path}; {make}")
}

/// The kind of what is at a path, with the content of a file.
fn state(fixture: &Fixture, path: &str) -> (Kind, Option<Vec<u8>>) {
    let path = fixture.root().join(path);
    let Ok(metadata) = path.symlink_metadata() else { return (Kind::Nothing, None) };
    let kind = metadata.file_type();
    if kind.is_file() {
        (Kind::File, fs::read(path).ok())
    } else if kind.is_dir() {
        (Kind::Folder, None)
    } else if kind.is_symlink() {
        (Kind::Link, fs::read_link(path).ok().map(|target| target.into_os_string().into_encoded_bytes()))
    } else {
        assert!(kind.is_fifo());
        (Kind::Pipe, None)
    }
}

/// Checks one turn of kinds for some cases at once.
fn check(cases: &[Case], (before, after): (Kind, Kind), layered: Layered) {
    let fixture = repositories();
    for case in cases {
        let original = if case.path.ends_with("HEAD") { "ref: refs/heads/main\n" } else { "" };
        assert!(shell(&fixture.root(), &script(case.path, before, original)).status.success());
    }
    let states =
        |fixture: &Fixture| -> Vec<_> { cases.iter().map(|case| state(fixture, case.path)).collect() };
    let had = states(&fixture);
    let workspace = fixture.open_layered(layered);
    let scripts: Vec<_> = cases.iter().map(|case| script(case.path, after, case.content)).collect();
    let scripts = format!("umask 022; {}; echo x > sub/.git/description; echo y > y", scripts.join("; "));
    let response = run(&workspace, &scripts).unwrap();
    let turn = format!("{before:?} to {after:?} ({layered:?})");
    assert_eq!(response.exit_code, 0, "{turn}: {response:?}");
    let warned = response.warnings.join("\n");
    assert_eq!(fixture.text("y").as_deref(), Some("y\n"), "{turn}: {warned}");
    let is_refused =
        |case: &Case| !case.is_allowed(before, after) && (before, after) != (Kind::Nothing, Kind::Nothing);
    assert_eq!(warned.is_empty(), !cases.iter().any(is_refused), "{turn}: {warned}");
    if let [case] = cases {
        assert!(warned.contains(case.path), "{turn}: {warned}");
    } else {
        assert_eq!(
            fixture.text("sub/.git/description").as_deref(),
            Some("x\n"),
            "the control: {turn}: {warned}"
        );
    }
    let has = states(&fixture);
    for ((case, had), has) in cases.iter().zip(had).zip(has) {
        if case.is_allowed(before, after) {
            assert_eq!(has.0, after, "{turn}: {}: {warned}", case.path);
        } else {
            assert_eq!(has, had, "{turn}: {}: {warned}", case.path);
        }
    }
}

fn check_all(layered: Layered) {
    for before in BEFORE {
        for after in AFTER {
            check(CASES, (before, after), layered);
            check(INDEXES, (before, after), layered);
        }
    }
}

#[test]
fn kinds_do_not_hide_what_git_obeys_on_a_layer() {
    check_all(Layered::Yes);
}

#[test]
fn kinds_do_not_hide_what_git_obeys_in_the_folder() {
    check_all(Layered::No);
}

#[test]
fn what_makes_a_repository_is_replaced_by_nothing() {
    for layered in LAYERS {
        for after in AFTER {
            for case in OF_WHOLE {
                check(std::slice::from_ref(case), (Kind::File, after), layered);
            }
        }
    }
}

#[test]
fn hook_in_place_of_a_folder_is_not_run() {
    // The folder is empty, and so means nothing by itself.
    let commands = [
        "mkdir sub/.git/hooks/pre-commit",
        "rmdir sub/.git/hooks/pre-commit; printf '#!/bin/sh\ntouch ../../outside/canary\n' > sub/.git/hooks/pre-commit; \
         chmod +x sub/.git/hooks/pre-commit",
    ];
    let trigger = "cd sub && git -c user.name=u -c user.email=u@x commit -q --allow-empty -m two";
    let canary = |fixture: &Fixture| fixture.outside().join("canary").exists();
    let plain = repositories();
    commands.iter().for_each(|command| assert!(shell(&plain.root(), command).status.success()));
    shell(&plain.root(), trigger);
    assert!(canary(&plain), "control");
    for layered in LAYERS {
        // Also where the user has such a folder.
        for has_folder in [false, true] {
            let fixture = repositories();
            let workspace = fixture.open_layered(layered);
            if has_folder {
                fs::create_dir(fixture.root().join("sub/.git/hooks/pre-commit")).unwrap();
            }
            for command in commands {
                run(&workspace, command).unwrap();
            }
            if !has_folder {
                assert!(shell(&fixture.root(), trigger).status.success(), "{layered:?}");
            }
            let kind = state(&fixture, "sub/.git/hooks/pre-commit").0;
            assert_eq!(kind, if has_folder { Kind::Folder } else { Kind::Nothing }, "{layered:?}");
            assert!(!canary(&fixture), "{layered:?}");
        }
    }
}

#[test]
fn folders_with_contents_hide_nothing_either() {
    let hook = "#!/bin/sh\n";
    let own = [
        ("sub/.git/hooks/pre-commit", hook),
        ("sub/.git/hooks/d/script", hook),
        ("sub/.git/info/attributes", "* filter=mine\n"),
        ("sub/.git/modules/m/hooks/update", hook),
        (".vscode/tasks.json", "{}\n"),
    ];
    let scripts = [
        "rm sub/.git/hooks/pre-commit; mkdir -p sub/.git/hooks/pre-commit/z; echo x > sub/.git/hooks/pre-commit/y.sample",
        "rm sub/.git/HEAD; mkdir sub/.git/HEAD; echo x > sub/.git/HEAD/x",
        "rm sub/.git/config; mkdir sub/.git/config; git init -q --bare sub/.git/config",
        "rm -r sub/.git/hooks/d; echo x > sub/.git/hooks/d",
        "rm -r sub/.git/hooks; echo x > sub/.git/hooks",
        "rm -r sub/.git/hooks; mkfifo sub/.git/hooks",
        "rm -r sub/.git/hooks; mkdir -p sub/.git/hooks/pre-commit/z",
        "rm -r sub/.git/info; ln -s ../../.. sub/.git/info",
        "rm -r sub/.git/info; mkdir -p sub/.git/info/attributes/x",
        "rm -r sub/.git/modules/m; echo x > sub/.git/modules/m",
        "rm -r sub/.git/objects; echo x > sub/.git/objects",
        "rm -r sub/.git/refs; mkdir sub/x; ln -s ../x sub/.git/refs",
        "rm -r sub/.git; echo 'gitdir: ../bare' > sub/.git",
        "rm tree/.git; git init -q tree",
        "rm tree/.git; mkdir tree/.git; cp -r bare/* tree/.git",
        "rm -r .vscode; echo x > .vscode",
        "rm sub/.git/index; mkdir -p sub/.git/index/x; echo x > sub/.git/index/HEAD",
        "rm sub/.git/packed-refs; mkdir sub/.git/packed-refs",
    ];
    let git_files =
        ["sub/.git/HEAD", "sub/.git/config", "sub/.git/index", "sub/.git/packed-refs", "tree/.git"];
    for layered in LAYERS {
        for script in scripts {
            let fixture = repositories();
            own.iter().for_each(|(path, text)| fixture.put(path, text));
            let more = "cd sub && chmod +x .git/hooks/pre-commit && echo x > f && git add f && git pack-refs --all && \
                        git worktree add -q ../tree main~0";
            assert!(shell(&fixture.root(), more).status.success());
            let texts = || git_files.iter().map(|path| state(&fixture, path)).collect::<Vec<_>>();
            let had = texts();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &format!("{script}; echo y > y")).unwrap();
            let turn = format!("{script} ({layered:?}): {response:?}");
            assert_eq!(fixture.text("y").as_deref(), Some("y\n"), "the control: {turn}");
            assert!(response.warnings.join("\n").contains("not kept"), "{turn}");
            assert!(!response.warnings.join("\n").contains("could not be"), "{turn}");
            assert_eq!(texts(), had, "{turn}");
            for (path, text) in own {
                assert_eq!(fixture.text(path).as_deref(), Some(text), "{path}: {turn}");
            }
            assert!(
                shell(&fixture.root(), "git -C tree status && git -C sub fsck").status.success(),
                "{turn}"
            );
        }
    }
}

/// Git itself replaces files with folders and back, and a repository removed as a whole takes its settings with it.
#[test]
fn kinds_that_git_changes_itself_are_adopted() {
    for layered in LAYERS {
        let fixture = repositories();
        let workspace = fixture.open_layered(layered);
        for script in [
            "cd sub && git branch a && git branch -m a a/b && git branch -m a/b a && git branch -m a a/b",
            "cd sub && git branch -m a/b a",
            "cd sub && git pack-refs --all && git gc -q && git tag a/b && git branch -d a",
            "rm -rf bare",
        ] {
            let response = run(&workspace, script).unwrap();
            assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{script} ({layered:?})");
        }
        assert!(
            shell(&fixture.root(), "git -C sub fsck && git -C sub rev-parse a/b && test ! -e bare")
                .status
                .success()
        );
    }
}
