//! Files that a command leaves behind never make git or an editor run something outside of the sandbox.
//!
//! Each way is tried twice: plainly, where the canary shows that it works, and as a command of the workspace.

use std::path::Path;

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

/// One way to leave something behind that git runs later.
struct Escape {
    name: &'static str,
    /// True if the user has a repository already.
    has_repository: bool,
    /// `CANARY` in it stands for a program that touches the canary and fails, `CANARY_PATH` for its path.
    script: &'static str,
    /// The user's command afterwards, within the workspace.
    trigger: &'static str,
    /// The names that the answer has to contain.
    named: &'static [&'static str],
}

const SET: &str = "git config -f";

const ESCAPES: &[Escape] = &[
    Escape {
        name: "another settings file through commondir",
        has_repository: true,
        script: "mkdir evil && cp -r .git/objects .git/refs evil/ && cp .git/config evil/config && \
                 SET evil/config core.fsmonitor 'CANARY' && echo ../evil > .git/commondir",
        trigger: "git status",
        named: &[".git/commondir"],
    },
    Escape {
        name: "a bare repository in place of the workspace",
        has_repository: true,
        script: "rm -f .git/HEAD; mkdir -p objects refs && echo 'ref: refs/heads/main' > HEAD && \
                 SET config core.repositoryformatversion 0 && SET config core.bare false && \
                 SET config core.worktree . && SET config core.fsmonitor 'CANARY'; true",
        trigger: "git status",
        named: &["HEAD", "config"],
    },
    Escape {
        name: "settings of a new repository",
        has_repository: false,
        script: "git init -q . && SET .git/config core.fsmonitor 'CANARY'",
        trigger: "git status",
        named: &[".git/config"],
    },
    Escape {
        name: "settings of a repository in a folder",
        has_repository: true,
        script: "git init -q sub && SET sub/.git/config core.fsmonitor 'CANARY'",
        trigger: "git -C sub status",
        named: &["sub/.git/config"],
    },
    Escape {
        name: "a hook of a repository in a folder",
        has_repository: true,
        script: "git init -q sub && printf '#!/bin/sh\\nCANARY\\n' > sub/.git/hooks/pre-commit && \
                 chmod +x sub/.git/hooks/pre-commit",
        trigger: "git -C sub -c user.name=u -c user.email=u@x commit -q --allow-empty -m x",
        named: &["sub/.git/hooks/pre-commit"],
    },
    Escape {
        name: "a repository elsewhere through a .git file",
        has_repository: true,
        script: "git init -q --bare store.x && SET store.x/config core.bare false && \
                 SET store.x/config core.worktree ../sub && SET store.x/config core.fsmonitor 'CANARY' && \
                 mkdir sub && echo 'gitdir: ../store.x' > sub/.git",
        trigger: "git -C sub status",
        named: &["sub/.git", "store.x/config"],
    },
    Escape {
        name: "a .git file in the repository's own folder",
        has_repository: true,
        script: "git init -q --bare .git/store && SET .git/store/config core.bare false && \
                 SET .git/store/config core.worktree ../.. && SET .git/store/config core.fsmonitor 'CANARY' && \
                 echo 'gitdir: store' > .git/.git",
        trigger: "cd .git && git status",
        named: &[".git/.git"],
    },
    Escape {
        name: "a .git file among logs",
        has_repository: true,
        script: "git init -q --bare .git/store && SET .git/store/config core.bare false && \
                 SET .git/store/config core.worktree .. && SET .git/store/config core.fsmonitor 'CANARY' && \
                 mkdir .git/logs/x && echo 'gitdir: ../../store' > .git/logs/x/.git",
        trigger: "cd .git/logs/x && git status",
        named: &[".git/logs/x/.git"],
    },
    Escape {
        name: "a repository in the repository's own folder",
        has_repository: true,
        script: "git init -q .git/x && SET .git/x/.git/config core.fsmonitor 'CANARY'",
        trigger: "cd .git/x && git status",
        named: &[".git/x/.git", ".git/x/.git/config"],
    },
    Escape {
        name: "a bare repository in a folder",
        has_repository: true,
        script: "git init -q --bare bare && SET bare/config core.bare false && \
                 SET bare/config core.worktree . && SET bare/config core.fsmonitor 'CANARY'",
        trigger: "git -C bare status",
        named: &["bare/HEAD", "bare/config"],
    },
    Escape {
        name: "a hook of a repository that git pushes to",
        has_repository: true,
        script: "git init -q --bare target/evil.git && printf '#!/bin/sh\\nCANARY\\n' > target/evil.git/hooks/pre-receive && \
                 chmod +x target/evil.git/hooks/pre-receive && git remote add evil ./target/evil.git && \
                 git config remote.pushDefault evil",
        trigger: "git push evil main",
        named: &[".git/config"],
    },
    Escape {
        name: "a remote with the name of an option",
        has_repository: true,
        script: "SET .git/config 'remote.--upload-pack=CANARY.url' https://example.org/x",
        trigger: "git init -q --bare ../outside/mine.git; git remote add origin ../outside/mine.git; git fetch --all",
        named: &[".git/config"],
    },
    Escape {
        name: "a strategy of a rebase that is left unfinished",
        has_repository: true,
        script: "PROGRAM; git checkout -q -b side && echo 1 > f && git add f && COMMIT 1 && echo 2 > f && COMMIT 2 -a && \
                 git checkout -q main && echo m > m && git add m && COMMIT m && git checkout -q side && \
                 GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git -c user.name=u -c user.email=u@x rebase -q -i -s ort main; \
                 echo x/../evil > .git/rebase-merge/strategy",
        trigger: "git -c user.name=u -c user.email=u@x rebase --continue",
        named: &[".git/rebase-merge/strategy"],
    },
    Escape {
        name: "a strategy of a cherry-pick that is left unfinished",
        has_repository: true,
        script: "PROGRAM; git checkout -q -b side && echo 1 > f && git add f && COMMIT 1 && git checkout -q main && \
                 mkdir .git/sequencer && git rev-parse main > .git/sequencer/head && \
                 git log -1 --format='pick %H 1%npick %H 1' side > .git/sequencer/todo && \
                 printf '[options]\n\tallow-ff = false\n\tStrategy= x/../evil\n' > .git/sequencer/opts",
        trigger: "git -c user.name=u -c user.email=u@x cherry-pick --continue",
        named: &[".git/sequencer/opts"],
    },
    Escape {
        name: "an option of a rebase that is left unfinished",
        has_repository: true,
        script: "git checkout -q -b side && echo 1 > f && git add f && COMMIT 1 && echo 2 > f && COMMIT 2 -a && \
                 git checkout -q main && echo m > m && git add m && COMMIT m && git checkout -q side && \
                 GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git -c user.name=u -c user.email=u@x rebase -q -i -s ort main; \
                 echo resolve > .git/rebase-merge/strategy; \
                 echo ' --index-output=CANARY_PATH' > .git/rebase-merge/strategy_opts",
        trigger: "git -c user.name=u -c user.email=u@x rebase --continue",
        named: &[".git/rebase-merge/strategy_opts"],
    },
    Escape {
        name: "an option of a cherry-pick that is left unfinished",
        has_repository: true,
        script: "git checkout -q -b side && echo 1 > f && git add f && COMMIT 1 && git checkout -q main && \
                 mkdir .git/sequencer && git rev-parse main > .git/sequencer/head && \
                 git log -1 --format='pick %H 1%npick %H 1' side > .git/sequencer/todo && \
                 printf '[options]\n\tstrategy = resolve\n\tstrategy-option = index-output=CANARY_PATH\n' > \
                 .git/sequencer/opts",
        trigger: "git -c user.name=u -c user.email=u@x cherry-pick --continue",
        named: &[".git/sequencer/opts"],
    },
    Escape {
        name: "a submodule whose files are those of the repository",
        has_repository: true,
        script: "MODULE && git config -f .git/modules/sub/config core.worktree ../..",
        trigger: "git -C sub reset -q --hard; git -c user.name=u -c user.email=u@x commit -q --allow-empty -m x",
        named: &[".git/modules/sub/config"],
    },
    Escape {
        name: "a submodule whose files lie behind a link",
        has_repository: true,
        script: "MODULE && git config -f .git/modules/sub/config core.worktree ../../../link && ln -s ../outside link",
        trigger: "git -C sub reset -q --hard; sh ../outside/hooks/post-commit",
        named: &[".git/modules/sub/config"],
    },
    Escape {
        name: "another .git file for a submodule, whose own folder becomes a link",
        has_repository: true,
        script: "MODULE && mkdir other && echo 'gitdir: ../.git/modules/sub' > other/.git && mv sub real && \
                 ln -s ../outside sub",
        trigger: "git -C other reset -q --hard; sh ../outside/hooks/post-commit",
        named: &["other/.git"],
    },
    Escape {
        name: "an option for patches that are left unfinished",
        has_repository: true,
        script: "git checkout -q -b side && echo y > file && COMMIT y -a && echo z > g && git add g && COMMIT z && \
                 git format-patch -q -2 -o patches && git checkout -q main && echo q > file && COMMIT q -a; \
                 git -c user.name=u -c user.email=u@x am -q -p1 patches/*; \
                 echo \"'--build-fake-ancestor=CANARY_PATH'\" > .git/rebase-apply/apply-opt",
        trigger: "git -c user.name=u -c user.email=u@x am --skip",
        named: &[".git/rebase-apply/apply-opt"],
    },
    Escape {
        name: "a link in place of a repository",
        has_repository: true,
        script: "git init -q real && mv real/.git stored && SET stored/config core.fsmonitor 'CANARY' && \
                 mkdir sub && ln -s ../stored sub/.git",
        trigger: "git -C sub status",
        named: &["sub/.git"],
    },
];

fn fill(fixture: &Fixture, escape: &Escape) -> String {
    if escape.has_repository {
        git(&fixture.root(), "init -q -b main .");
        fixture.put("file", "x\n");
        fixture.put(".gitignore", "target/\n");
        fixture.put("target/made", "");
        git(&fixture.root(), "add file");
        git(&fixture.root(), "-c user.name=u -c user.email=u@x commit -q -m first");
    }
    let path = canary(fixture).display().to_string();
    let canary = format!("touch {path}; false");
    let program = "mkdir git-merge-x && printf '#!/bin/sh\\nCANARY\\n' > evil && chmod +x evil";
    let commit = "git -c user.name=u -c user.email=u@x commit -q -m";
    // Its first commit has a hook for another repository.
    let module = "mkdir -p source/hooks && printf '#!/bin/sh\\nCANARY\\n' > source/hooks/post-commit && \
                  chmod +x source/hooks/post-commit && git init -q -b main source && git -C source add . && \
                  git -C source -c user.name=u -c user.email=u@x commit -q -m s && \
                  git -c protocol.file.allow=always submodule --quiet add ./source sub && \
                  printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ../../../sub\\n' > .git/modules/sub/config";
    let script =
        escape.script.replace("MODULE", module).replace("PROGRAM", program).replace("COMMIT", commit);
    script.replace("SET", SET).replace("CANARY_PATH", &path).replace("CANARY", &canary)
}

fn canary(fixture: &Fixture) -> std::path::PathBuf {
    fixture.outside().join("canary")
}

fn git(folder: &Path, arguments: &str) {
    let ran = shell(folder, &format!("git {arguments}"));
    assert!(ran.status.success(), "{arguments}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn nothing_that_a_command_leaves_makes_git_run_it() {
    for escape in ESCAPES {
        let plain = Fixture::new();
        let script = fill(&plain, escape);
        let ran = shell(&plain.root(), &script);
        assert!(ran.status.success(), "{}: {}", escape.name, String::from_utf8_lossy(&ran.stderr));
        shell(&plain.root(), escape.trigger);
        assert!(canary(&plain).exists(), "control: {} does not escape by itself", escape.name);
        for layer in LAYERS {
            let fixture = Fixture::new();
            let script = fill(&fixture, escape);
            let workspace = fixture.open_layered(layer);
            let response = run(&workspace, &script).unwrap();
            let warned = response.warnings.join("\n");
            shell(&fixture.root(), escape.trigger);
            assert!(!canary(&fixture).exists(), "{} ({layer:?}): {warned}", escape.name);
            // What cannot be written in the sandbox to begin with needs no warning.
            if response.exit_code == 0 {
                for name in escape.named {
                    assert!(
                        warned.contains(&format!("`{name}`")),
                        "{} ({layer:?}): {name}: {warned}",
                        escape.name
                    );
                }
            }
            if escape.has_repository {
                git(&fixture.root(), "fsck --no-progress");
                git(&fixture.root(), "log -1");
            }
        }
    }
}

#[test]
fn where_git_pushes_to_is_named() {
    let fixture = Fixture::new();
    git(&fixture.root(), "init -q -b main .");
    let workspace = fixture.open();
    let script = "git remote add origin https://me:secret@example.org/a.git && git config branch.main.remote origin && \
                  git config remote.pushDefault git@example.org:b.git";
    let response = run(&workspace, script).unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    let warned = response.warnings.join("\n");
    for name in [
        "`.git/config`",
        "remote.origin.url = https://***@example.org/a.git",
        "remote.origin.fetch = +refs/heads/*:refs/remotes/origin/*",
        "branch.main.remote = origin",
        "remote.pushdefault = git@example.org:b.git",
    ] {
        assert!(warned.contains(name), "{name}: {warned}");
    }
    assert!(!warned.contains("secret"), "{warned}");
    let settings = fixture.text(".git/config").unwrap();
    assert!(settings.contains("secret@example.org/a.git"), "it is adopted: {settings}");
    // What decides nothing of the kind is not named, nor that a branch goes to the one of its name, as nearly all do.
    for script in ["git config color.ui auto", "git config branch.main.merge refs/heads/main"] {
        assert_eq!(run(&workspace, script).unwrap().warnings, [""; 0], "{script}");
    }
    let more = "git config branch.main.merge refs/heads/release && git config push.followTags true";
    let warned = run(&workspace, more).unwrap().warnings.join("\n");
    for name in ["branch.main.merge = refs/heads/release", "push.followtags = true"] {
        assert!(warned.contains(name), "{name}: {warned}");
    }
}

#[test]
fn what_changes_in_a_bare_repository_is_named_too() {
    for layer in LAYERS {
        let fixture = Fixture::new();
        git(&fixture.root(), "init -q -b main --bare b.git");
        let workspace = fixture.open_layered(layer);
        let script = "cd b.git && git config remote.origin.url https://example.org/x.git && \
                      one=$(git -c user.name=u -c user.email=u@x commit-tree -m one 4b825dc642cb6eb9a060e54bf8d69288fbee4904) && \
                      two=$(git -c user.name=u -c user.email=u@x commit-tree -m two 4b825dc642cb6eb9a060e54bf8d69288fbee4904) && \
                      git update-ref refs/heads/main $one && git replace $one $two";
        let tree = "git -C b.git hash-object -w -t tree /dev/null";
        assert_eq!(run(&workspace, tree).unwrap().exit_code, 0);
        let response = run(&workspace, script).unwrap();
        assert_eq!(response.exit_code, 0, "{layer:?}: {response:?}");
        let warned = response.warnings.join("\n");
        for part in
            ["remote.origin.url = https://example.org/x.git", "b.git/refs/replace/", "replaces an object"]
        {
            assert!(warned.contains(part), "{part} ({layer:?}): {warned}");
        }
        // The control: other folders of such names are no repositories.
        let script = "mkdir -p c.git/refs/replace && echo x > c.git/refs/replace/x && printf '[remote \"o\"]\n\turl = x\n' > c.git/config";
        assert_eq!(run(&workspace, script).unwrap().warnings, [""; 0], "{layer:?}");
    }
}

#[test]
fn setting_by_which_a_fetch_removes_tags_is_not_kept() {
    // Without a layer, commands cannot write these settings at all.
    let fixture = Fixture::new();
    git(&fixture.root(), "init -q -b main .");
    let workspace = fixture.open_layered(Layered::Yes);
    let warned = run(&workspace, "git config fetch.pruneTags true").unwrap().warnings.join("\n");
    assert!(warned.contains("fetch.prunetags"), "{warned}");
    assert!(!fixture.text(".git/config").unwrap().contains("pruneTags"));
    // The control.
    let response = run(&workspace, "git config fetch.prune true").unwrap();
    assert_eq!(response.warnings, [""; 0]);
}

#[test]
fn what_editors_obey_is_not_kept() {
    let script = "mkdir -p .vscode .idea deep/.vscode links && echo '{}' > .vscode/tasks.json && echo x > .idea/w.xml && \
                  echo '{}' > .mcp.json && echo '{}' > deep/.vscode/tasks.json && mkdir other && \
                  echo '{}' > other/tasks.json && ln -s ../other links/.vscode && echo '{}' > .vscode/launch.json";
    let unwanted =
        [".vscode/tasks.json", ".idea/w.xml", ".mcp.json", "deep/.vscode/tasks.json", "links/.vscode"];
    let plain = Fixture::new();
    assert!(shell(&plain.root(), script).status.success());
    for name in unwanted {
        assert!(plain.root().join(name).exists(), "control: {name}");
    }
    for layer in LAYERS {
        let fixture = Fixture::new();
        fixture.put("mine/.mcp.json", "mine\n");
        let workspace = fixture.open_layered(layer);
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        for name in unwanted {
            assert!(!fixture.root().join(name).exists(), "{name} ({layer:?})");
            assert!(warned.contains(&format!("`{name}`")), "{name} ({layer:?}): {warned}");
        }
        // Adjacent files are kept, and existing ones stay unchanged.
        assert!(fixture.root().join(".vscode/launch.json").exists(), "{layer:?}");
        let response = run(&workspace, "echo theirs > mine/.mcp.json; rm -r mine").unwrap();
        assert!(response.warnings.join("\n").contains("`mine/.mcp.json`"), "{response:?}");
        assert_eq!(fixture.text("mine/.mcp.json").as_deref(), Some("mine\n"), "{layer:?}");
    }
}

#[test]
fn ordinary_work_with_git_is_kept() {
    for layer in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layer);
        let script = "git init -q -b main . && echo x > a && git add a && git commit -q -m one && \
                      git checkout -q -b other && echo y > b && git add b && git commit -q -m two";
        let response = run(&workspace, script).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layer:?}: {response:?}");
        let log = shell(&fixture.root(), "git log --format=%s && git status --porcelain && git fsck");
        assert_eq!(String::from_utf8_lossy(&log.stdout), "two\none\n", "{layer:?}");
        // Later commands go on with it.
        let script =
            "git checkout -q main && git merge -q other && git gc -q && git clone -q . copy && rm -rf copy";
        let response = run(&workspace, script).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layer:?}: {response:?}");
        let log = shell(&fixture.root(), "git log --format=%s main && git status --porcelain && git fsck");
        assert_eq!(String::from_utf8_lossy(&log.stdout), "two\none\n", "{layer:?}");
        assert!(!fixture.root().join("copy").exists(), "{layer:?}");
    }
}
