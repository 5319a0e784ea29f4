//! A folder in which git would run a program is completed by no tool, in whatever order and by which tools its parts come.
//!
//! Each way is tried twice: plainly, where the canary shows that git runs the program, and through the workspace.

use std::fs;
use std::process::Output;

use change_journal::RunNumber;
use local_workspace::{LocalWorkspace, Undo, UndoError};
use wap_core::*;

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

/// One call of a tool.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// A file tool writes a file. `CANARY` in it stands for a program that touches the canary.
    Write(&'static str, &'static str),
    /// File tools write several files in one batch.
    Batch(&'static [(&'static str, &'static str)]),
    /// A command runs.
    Run(&'static str),
}

use Part::{Batch, Run, Write};

const SETTINGS: &str =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = CANARY\n";

const COMMON_SETTINGS: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = CANARY\n\
                               [extensions]\n\tworktreeConfig = true\n";

/// Ways to a repository in `x`, and the name that the refusal of the last part has to hold.
const WAYS: &[(&str, &[Part], &str)] = &[
    (
        "file tools one by one",
        &[
            Write("x/config", SETTINGS),
            Write("x/HEAD", "ref: refs/heads/main\n"),
            Write("x/objects/a", ""),
            Write("x/refs/a", ""),
        ],
        "x/refs/a",
    ),
    (
        "file tools, HEAD last",
        &[
            Write("x/config", SETTINGS),
            Write("x/refs/heads/a", ""),
            Write("x/objects/info/a", ""),
            Write("x/HEAD", "ref: refs/heads/main\n"),
        ],
        "x/HEAD",
    ),
    (
        "one batch",
        &[Batch(&[
            ("x/HEAD", "ref: refs/heads/main\n"),
            ("x/objects/a", ""),
            ("x/config", SETTINGS),
            ("x/refs/a", ""),
        ])],
        "x/refs/a",
    ),
    (
        "a command alone",
        &[Run(
            "mkdir -p x/objects x/refs; echo 'ref: refs/heads/main' > x/HEAD; printf '[core]\\n\\trepositoryformatversion = 0\
             \\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = CANARY\\n' > x/config",
        )],
        "x/HEAD",
    ),
    (
        "a file tool, then a command",
        &[
            Write("x/config", SETTINGS),
            Write("x/HEAD", "ref: refs/heads/main\n"),
            Run("mkdir x/objects x/refs"),
        ],
        "x/refs",
    ),
    (
        "a command, then a file tool",
        &[
            Run("mkdir -p x/objects x/refs"),
            Write("x/config", SETTINGS),
            Write("x/HEAD", "ref: refs/heads/main\n"),
        ],
        "x/HEAD",
    ),
    (
        "a command that renames",
        &[
            Write("x/config", SETTINGS),
            Write("x/HEAD", "ref: refs/heads/main\n"),
            Run("mkdir x/objects x/others"),
            Run("cp -r x/others x/refs && rmdir x/others"),
        ],
        "x/refs",
    ),
    (
        "a HEAD that is a link",
        &[Write("x/config", SETTINGS), Run("mkdir x/objects x/refs"), Run("ln -s refs/heads/main x/HEAD")],
        "x/HEAD",
    ),
    (
        "commondir",
        &[
            Write("common/config", COMMON_SETTINGS),
            Run("mkdir -p common/objects common/refs"),
            Write("x/config.worktree", "[core]\n\tworktree = .\n"),
            Write("x/HEAD", "ref: refs/heads/main\n"),
            Write("x/commondir", "../common\n"),
        ],
        "x/commondir",
    ),
    (
        "the workspace itself",
        &[
            Write("config", SETTINGS),
            Write("HEAD", "ref: refs/heads/main\n"),
            Run("mkdir objects"),
            Write("refs/a", ""),
        ],
        "refs/a",
    ),
];

fn canary(fixture: &Fixture) -> std::path::PathBuf {
    fixture.outside().join("canary")
}

/// Writes a program that touches the canary, outside of the workspace, and answers with the text that runs it.
fn program(fixture: &Fixture) -> String {
    format!("touch {}", canary(fixture).display())
}

fn git_status(fixture: &Fixture) -> Output {
    let folder = if fixture.root().join("x").is_dir() { "x" } else { "." };
    shell(&fixture.root().join(folder), "git status")
}

/// Does a part without any workspace.
fn plainly(fixture: &Fixture, part: Part) {
    let program = program(fixture);
    match part {
        Write(path, content) => fixture.put(path, content.replace("CANARY", &program)),
        Batch(files) => files.iter().for_each(|(path, content)| plainly(fixture, Write(path, content))),
        Run(script) => {
            let ran = shell(&fixture.root(), &script.replace("CANARY", &program));
            assert!(ran.status.success(), "{script}: {ran:?}");
        }
    }
}

/// Does a part by a tool, and answers with what is said of it.
fn by_tool(fixture: &Fixture, workspace: &LocalWorkspace, part: Part) -> String {
    let program = program(fixture);
    let written = |(path, content): &(&str, &str)| write(path, &content.replace("CANARY", &program));
    let said = |outcome: Result<FileChanged, WapError>| match outcome {
        Ok(_) => String::new(),
        Err(error) => {
            assert_eq!(error.reason(), Reason::Protected, "{error}");
            error.to_string()
        }
    };
    match part {
        Write(path, content) => said(change(workspace, written(&(path, content)))),
        Batch(files) => {
            let batch: Vec<_> = files.iter().map(written).collect();
            let outcomes = workspace.change_files(&Caller::once().call(), &batch).unwrap();
            outcomes.into_iter().map(said).collect()
        }
        Run(script) => run(workspace, &script.replace("CANARY", &program)).unwrap().warnings.join("\n"),
    }
}

#[test]
fn no_tool_completes_a_repository() {
    for (name, parts, refused) in WAYS {
        let plain = Fixture::new();
        parts.iter().for_each(|part| plainly(&plain, *part));
        let printed = git_status(&plain);
        assert!(canary(&plain).exists(), "control: {name} does nothing by itself: {printed:?}");
        for layered in LAYERS {
            let fixture = Fixture::new();
            let workspace = fixture.open_layered(layered);
            let (last, first) = parts.split_last().unwrap();
            for part in first {
                assert_eq!(by_tool(&fixture, &workspace, *part), "", "{name} ({layered:?}): {part:?}");
            }
            let said = by_tool(&fixture, &workspace, *last);
            assert!(
                said.contains(refused) && said.contains("a bare repository"),
                "{name} ({layered:?}): {said}"
            );
            git_status(&fixture);
            assert!(!canary(&fixture).exists(), "{name} ({layered:?}): {said}");
        }
    }
}

#[test]
fn undo_completes_no_repository() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        fixture.put("x/config", SETTINGS.replace("CANARY", &program(&fixture)));
        fixture.put("x/HEAD", "ref: refs/heads/main\n");
        fixture.put("x/objects/a", "");
        let workspace = fixture.open_layered(layered);
        change(&workspace, delete("x/HEAD")).unwrap();
        let deletion = RunNumber(1);
        // Without a HEAD it is a folder like any other.
        assert_eq!(by_tool(&fixture, &workspace, Write("x/refs/a", "")), "", "{layered:?}");
        let refused = workspace.undo(&Caller::once().call(), &Undo::Run(deletion)).unwrap_err();
        let UndoError::Obstacles(obstacles) = &refused else { panic!("{refused:?}") };
        assert!(format!("{obstacles:?}").contains("a bare repository"), "{obstacles:?}");
        git_status(&fixture);
        assert!(!canary(&fixture).exists(), "{layered:?}");
        // The control: git runs the program as soon as the file is there.
        fixture.put("x/HEAD", "ref: refs/heads/main\n");
        git_status(&fixture);
        assert!(canary(&fixture).exists(), "{layered:?}");
    }
}

#[test]
fn hook_goes_into_no_bare_repository_by_a_file_tool() {
    let fixture = Fixture::new();
    assert!(shell(&fixture.root(), "git init -q --bare mine.git").status.success());
    let workspace = fixture.open();
    let hook = write("mine.git/hooks/post-receive", "#!/bin/sh\n");
    let refused = change(&workspace, hook).unwrap_err();
    assert!(refused.to_string().contains("git would run it"), "{refused}");
    let settings = fs::read_to_string(fixture.root().join("mine.git/config")).unwrap();
    let harmful = write("mine.git/config", &format!("{settings}[core]\n\tfsmonitor = x\n"));
    assert!(change(&workspace, harmful).unwrap_err().to_string().contains("core.fsmonitor"));
    // Settings that only affect appearance are allowed, and so are files that are not part of a repository.
    let harmless = write("mine.git/config", &format!("{settings}[color]\n\tui = auto\n"));
    change(&workspace, harmless).unwrap();
    change(&workspace, write("mine.git/notes.txt", "x\n")).unwrap();
    change(&workspace, write("mine.git/hooks/update.sample", "x\n")).unwrap();
}

#[test]
fn names_of_another_case_complete_no_repository_either() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let batch = [write("x/head", ""), write("x/Objects/a", ""), write("x/REFS/a", ""), write("y/HEAD", "")];
    let outcomes = workspace.change_files(&Caller::once().call(), &batch).unwrap();
    let refused: Vec<_> = outcomes.iter().map(Result::is_err).collect();
    assert_eq!(refused, [false, false, true, false]);
}

#[test]
fn innocent_names_are_written() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        for path in
            ["a/HEAD", "b/objects/o.rs", "c/refs/r.rs", "c/objects/o.rs", "config", "src/hooks/use.ts"]
        {
            change(&workspace, write(path, "x\n")).unwrap();
        }
        for path in ["d/HEAD", "e/objects/o.rs", "f/refs/r.rs", "f/config", "g/hooks/use.ts"] {
            let response =
                run(&workspace, &format!("mkdir -p $(dirname {path}) && echo x > {path}")).unwrap();
            assert_eq!(response.warnings, [""; 0], "{path} ({layered:?})");
            assert_eq!(fixture.text(path).as_deref(), Some("x\n"), "{path} ({layered:?})");
        }
    }
}

/// The command in an existing build folder, the user's command afterwards, and the name in the result.
const IN_BUILD_FOLDERS: &[(&str, &str, &str)] = &[
    (
        "git init -q target/deep/x && git config -f target/deep/x/.git/config core.fsmonitor 'CANARY'",
        "git -C target/deep/x status",
        "target/deep/x/.git/config",
    ),
    (
        "git config -f target/mine/.git/config core.fsmonitor 'CANARY'",
        "git -C target/mine status",
        "target/mine/.git/config",
    ),
    (
        "git init -q --bare target/evil.git && printf '#!/bin/sh\\nCANARY\\n' > target/evil.git/hooks/pre-receive && \
         chmod +x target/evil.git/hooks/pre-receive",
        "git push ./target/evil.git main",
        "target/evil.git/hooks/pre-receive",
    ),
    (
        "git init -q target/a && mv target/a/.git target/stored && ln -s ../stored target/a/.git && \
         git config -f target/stored/config core.fsmonitor 'CANARY'",
        "git -C target/a status",
        "target/a/.git",
    ),
    (
        "git init -q --bare target/stored && git config -f target/stored/config core.bare false && mkdir target/a && \
         git config -f target/stored/config core.worktree ../a && \
         git config -f target/stored/config core.fsmonitor 'CANARY' && echo 'gitdir: ../stored' > target/a/.git",
        "git -C target/a status",
        "target/a/.git",
    ),
];

fn with_build_folder() -> Fixture {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "target/\n");
    fixture.put("file", "x\n");
    let script = "git init -q -b main . && git add file && git -c user.name=u -c user.email=u@x commit -q -m one && \
                  git init -q target/mine && git init -q target/theirs && \
                  printf '#!/bin/sh\\n' > target/theirs/.git/hooks/pre-commit";
    assert!(shell(&fixture.root(), script).status.success());
    // What is younger than a tick of the clock counts as changed by the command.
    std::thread::sleep(std::time::Duration::from_millis(100));
    fixture
}

#[test]
fn what_git_obeys_in_build_folders_is_taken_out_of_its_way() {
    for (script, trigger, named) in IN_BUILD_FOLDERS {
        let plain = with_build_folder();
        let ran = shell(&plain.root(), &script.replace("CANARY", &program(&plain)));
        assert!(ran.status.success(), "{script}: {ran:?}");
        let printed = shell(&plain.root(), trigger);
        assert!(canary(&plain).exists(), "control: {script}: {printed:?}");
        for layered in LAYERS {
            let fixture = with_build_folder();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &script.replace("CANARY", &program(&fixture))).unwrap();
            assert_eq!(response.exit_code, 0, "{script}: {response:?}");
            let warned = response.warnings.join("\n");
            assert!(warned.contains(&format!("`{named}`")), "{script} ({layered:?}): {warned}");
            shell(&fixture.root(), trigger);
            assert!(!canary(&fixture).exists(), "{script} ({layered:?}): {warned}");
            // The state before the command does not matter here.
            assert!(
                fixture.root().join("target/theirs/.git/hooks/pre-commit").exists(),
                "{layered:?}: {warned}"
            );
        }
    }
}

/// Commands one after the other, what the user does then, and the name in the result of the last.
const STEP_BY_STEP: &[(&[&str], &str, &str)] = &[
    (
        &[
            "mkdir -p target/r/objects target/r/refs && printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = \
             .\n\tfsmonitor = CANARY\n' > target/r/config",
            "echo 'ref: refs/heads/main' > target/r/HEAD",
        ],
        "git -C target/r status",
        "target/r/config",
    ),
    (
        &[
            "git init -q target/plain && git init -q target/x && mv target/x/.git target/x/stored && rm target/x/stored/HEAD && \
             git config -f target/x/stored/config core.fsmonitor 'CANARY'",
            "mv target/x/stored target/x/.git",
            "cp target/plain/.git/HEAD target/x/.git",
        ],
        "git -C target/x status",
        "target/x/.git/config",
    ),
    (
        &[
            "mkdir -p target/y/a/x && git init -q target/y/a/x && rm target/y/a/x/.git/HEAD && mv target/y/a/x/.git target/y/a/x/g && \
             git config -f target/y/a/x/g/config core.fsmonitor 'CANARY' && mkdir target/y/a/x/g/n",
            "mv target/y/a/x/g target/y/a/x/.git; mv target/y/a target/y/b; echo 'ref: refs/heads/main' > target/y/b/x/.git/HEAD",
        ],
        "git -C target/y/b/x status",
        "target/y/b/x/.git/config",
    ),
];

#[test]
fn what_commands_complete_in_build_folders_step_by_step_is_judged_as_a_whole() {
    for (scripts, trigger, named) in STEP_BY_STEP {
        let plain = with_build_folder();
        for script in *scripts {
            let ran = shell(&plain.root(), &script.replace("CANARY", &program(&plain)));
            assert!(ran.status.success(), "{script}: {ran:?}");
        }
        let printed = shell(&plain.root(), trigger);
        assert!(canary(&plain).exists(), "control: {trigger}: {printed:?}");
        for layered in LAYERS {
            let fixture = with_build_folder();
            let workspace = fixture.open_layered(layered);
            let mut warned = String::new();
            for script in *scripts {
                let response = run(&workspace, &script.replace("CANARY", &program(&fixture))).unwrap();
                assert_eq!(response.exit_code, 0, "{script}: {response:?}");
                warned = format!("{warned}{}", response.warnings.join("\n"));
                // The next one finds parts that are older than it.
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            assert!(warned.contains(&format!("`{named}`")), "{trigger} ({layered:?}): {warned}");
            shell(&fixture.root(), trigger);
            assert!(!canary(&fixture).exists(), "{trigger} ({layered:?}): {warned}");
            let theirs = fixture.root().join("target/theirs/.git/hooks/pre-commit");
            assert!(theirs.exists(), "{layered:?}: {warned}");
        }
    }
}

#[test]
fn repository_among_the_data_of_another_runs_nothing() {
    for folder in ["logs/evil", "refs/heads/evil", "objects/evil", "objects/ab/evil", "logs"] {
        let script = format!(
            "mkdir -p .git/{folder}/objects .git/{folder}/refs .git/{folder}/hooks; cd .git/{folder}; \
             test -e HEAD || echo 'ref: refs/heads/main' > HEAD; \
             printf '[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = CANARY\n' > config; \
             printf '#!/bin/sh\nCANARY\n' > hooks/post-checkout; chmod +x hooks/post-checkout"
        );
        let trigger = format!("cd .git/{folder}; GIT_DIR=. git status; .git/hooks/post-checkout");
        let plain = with_build_folder();
        assert!(shell(&plain.root(), &script.replace("CANARY", &program(&plain))).status.success());
        let printed = shell(&plain.root(), &trigger);
        assert!(canary(&plain).exists(), "control: {folder}: {printed:?}");
        for layered in LAYERS {
            let fixture = with_build_folder();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &script.replace("CANARY", &program(&fixture))).unwrap();
            let warned = response.warnings.join("\n");
            for name in ["config", "hooks/post-checkout"] {
                assert!(
                    warned.contains(&format!("`.git/{folder}/{name}`")),
                    "{folder} ({layered:?}): {response:?}"
                );
            }
            shell(&fixture.root(), &trigger);
            assert!(!canary(&fixture).exists(), "{folder} ({layered:?}): {warned}");
        }
    }
}

#[test]
fn branches_may_be_called_like_what_git_obeys() {
    for layered in LAYERS {
        let fixture = with_build_folder();
        let workspace = fixture.open_layered(layered);
        let script = "git branch config && git branch index && git branch hooks/pre-commit && git branch commondir && \
                      git symbolic-ref refs/heads/x/config refs/heads/main && git checkout -q config && \
                      echo y > file && git -c user.name=u -c user.email=u@x commit -qam 'two' && git checkout -q main";
        let response = run(&workspace, script).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        let branches = shell(&fixture.root(), "git log --oneline config; git reflog config; git fsck");
        assert!(branches.status.success(), "{layered:?}: {branches:?}");
    }
}

#[test]
fn git_file_leads_into_no_build_folder() {
    // The names are those of what holds data in a repository, and of one that does not.
    for name in ["logs", "refs", "objects", "lfs", "other", "objects/ab"] {
        let repository = format!(
            "mkdir -p sub target/m/.git/modules/{name} && cd target/m/.git/modules/{name} && mkdir objects refs && \
             echo 'ref: refs/heads/main' > HEAD && printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = \
             ../../../../../sub\n\tfsmonitor = CANARY\n' > config"
        );
        let link = format!("echo 'gitdir: ../target/m/.git/modules/{name}' > sub/.git");
        let plain = with_build_folder();
        for script in [&repository, &link] {
            assert!(shell(&plain.root(), &script.replace("CANARY", &program(&plain))).status.success());
        }
        shell(&plain.root().join("sub"), "git status");
        // The working tree is named for one level of names.
        assert!(canary(&plain).exists() || name.contains('/'), "control: {name}");
        for layered in LAYERS {
            let fixture = with_build_folder();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &repository.replace("CANARY", &program(&fixture)))
                .unwrap()
                .warnings
                .join("\n");
            assert!(warned.contains(&format!("target/m/.git/modules/{name}/config`")), "{name}: {warned}");
            let warned = run(&workspace, &link).unwrap().warnings.join("\n");
            assert!(warned.contains("`sub/.git`"), "{name} ({layered:?}): {warned}");
            assert!(!fixture.root().join("sub/.git").exists(), "{name} ({layered:?}): {warned}");
            // The control: one that leads to a repository which is judged is kept.
            let judged = "mkdir -p .git/modules new && git init -q --bare .git/modules/judged && \
                          git config -f .git/modules/judged/config core.bare false && \
                          echo 'gitdir: ../.git/modules/judged' > new/.git";
            let warned = run(&workspace, judged).unwrap().warnings.join("\n");
            assert!(fixture.root().join("new/.git").exists(), "{name} ({layered:?}): {warned}");
        }
    }
}

#[test]
fn ordinary_builds_are_left_alone() {
    for layered in LAYERS {
        let fixture = with_build_folder();
        let workspace = fixture.open_layered(layered);
        let script = "git init -q target/x && git init -q --bare target/y.git && mkdir -p target/z/hooks target/z/objects && \
                      echo x > target/z/hooks/use.ts && echo x > target/z/config && \
                      cd target/x && echo x > a && git add a && git commit -q -m one";
        let response = run(&workspace, script).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
    }
}

#[test]
fn build_folder_that_is_too_large_is_said_once() {
    let with_folders = |count: usize| {
        let fixture = with_build_folder();
        for index in 0..count {
            fs::create_dir_all(fixture.root().join(format!("target/old/{index}"))).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        fixture
    };
    // As many as an ordinary project has.
    let ordinary = with_folders(4_500);
    assert_eq!(run(&ordinary.open(), "true").unwrap().warnings, [""; 0]);
    let fixture = with_folders(6_500);
    let workspace = fixture.open();
    let first = run(&workspace, "true").unwrap().warnings.join("\n");
    assert!(
        first.contains("too many folders in `target`") && first.contains("`find FOLDER -name .git"),
        "{first}"
    );
    assert_eq!(run(&workspace, "true").unwrap().warnings, [""; 0]);
    // A change is followed all the same.
    let script = format!(
        "git init -q target/new/x && git config -f target/new/x/.git/config core.fsmonitor '{}'",
        program(&fixture)
    );
    let warned = run(&workspace, &script).unwrap().warnings.join("\n");
    assert!(warned.contains("`target/new/x/.git/config`"), "{warned}");
}
