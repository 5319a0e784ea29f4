//! The folder of a submodule's files and the one of its repository lead to each other, whatever commands do.

use change_journal::ChangeNumber;
use local_workspace::Undo;

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

const COMMIT: &str = "git -c user.name=u -c user.email=u@x commit -q -m";

/// Makes a repository with another one in it, which has a hook, and whatever else `script` adds.
fn prepared(script: &str) -> Fixture {
    let fixture = Fixture::new();
    git(
        &fixture,
        &format!(
            "git init -q -b main . && echo x > file && git add file && {COMMIT} first && \
             git init -q -b main source && mkdir source/hooks && echo x > source/hooks/planted && \
             git -C source add . && cd source && {COMMIT} s"
        ),
    );
    git(&fixture, script);
    fixture
}

fn git(fixture: &Fixture, script: &str) {
    let ran = shell(&fixture.root(), script);
    assert!(ran.status.success(), "{script}: {ran:?}");
}

/// Not by a path: git would make hard links of objects, which not every user's layer of a folder can.
const ADD: &str = "git -c protocol.file.allow=always submodule --quiet add \"file://$PWD/source\" sub";

#[test]
fn ordinary_work_with_submodules_is_kept() {
    let worktree = |fixture: &Fixture, module: &str| {
        let settings = fixture.root().join(".git/modules").join(module).join("config");
        let ran = shell(&fixture.root(), &format!("git config -f {} core.worktree", settings.display()));
        String::from_utf8(ran.stdout).unwrap()
    };
    for layered in LAYERS {
        let fixture = prepared("true");
        let workspace = fixture.open_layered(layered);
        // The address is a folder of this machine, with which its settings would be refused.
        let add = format!(
            "{ADD} && git config -f .git/modules/sub/config --unset remote.origin.url && \
                           git config -f .git/modules/sub/config --remove-section branch.main"
        );
        for (script, expected, folder) in [
            (format!("{add} && {COMMIT} sub"), "../../../sub\n", "sub"),
            (
                format!("mkdir deep && git mv sub deep/moved && {COMMIT} moved"),
                "../../../deep/moved\n",
                "deep/moved",
            ),
            (format!("git mv deep/moved sub && {COMMIT} back"), "../../../sub\n", "sub"),
            (
                "git submodule --quiet deinit -f sub && git submodule update --init".to_owned(),
                "../../../sub\n",
                "sub",
            ),
            ("git submodule --quiet deinit -f sub".to_owned(), "", "."),
            // Git names the folder again, which is refused, because another could lead there by now, and is not needed.
            ("git submodule --quiet update --init".to_owned(), "", "sub"),
        ] {
            // Without a layer the settings of the repository itself are read-only.
            if matches!(layered, Layered::No) && script.contains("deinit") {
                break;
            }
            let response = run(&workspace, &script).unwrap();
            assert_eq!(response.exit_code, 0, "{layered:?}: {script}: {response:?}");
            assert_eq!(worktree(&fixture, "sub"), expected, "{layered:?}: {script}: {:?}", response.warnings);
            git(&fixture, &format!("git -C {folder} status && git submodule status"));
        }
        let response =
            run(&workspace, "echo y > sub/more && git -C sub add more && git -C sub status").unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
    }
}

#[test]
fn removed_submodule_takes_the_settings_of_the_user_along() {
    // The address is a folder of this machine, which no command may set.
    let settings = "git config --get-regexp 'submodule[.].*'";
    let fixture = prepared(&format!("{ADD} && {COMMIT} sub"));
    let workspace = fixture.open_layered(Layered::Yes);
    let had = shell(&fixture.root(), settings);
    assert!(String::from_utf8(had.stdout.clone()).unwrap().contains("submodule.sub.url"), "control: {had:?}");
    let script = "git config submodule.sub.url \"file://$PWD/.\"";
    let warned = run(&workspace, script).unwrap().warnings.join("\n");
    assert!(warned.contains("submodule.sub.url"), "control: {warned}");
    assert_eq!(shell(&fixture.root(), settings).stdout, had.stdout, "control");
    let script = format!("git submodule --quiet deinit -f sub && git rm -q sub && {COMMIT} removed");
    let response = run(&workspace, &script).unwrap();
    let warned = response.warnings.join("\n");
    assert!(response.exit_code == 0 && !warned.contains("not kept"), "{response:?}");
    assert!(warned.contains("submodule.sub.url is gone"), "{warned}");
    assert_eq!(shell(&fixture.root(), settings).stdout, b"");
    git(&fixture, "git fsck && test -z \"$(git status --porcelain -uno)\"");
}

/// Adds a submodule to a working tree. The address is a folder of this machine, with which its settings would be refused.
const UPDATE: &str = "git -C side -c protocol.file.allow=always submodule --quiet update --init && \
                      git config -f .git/worktrees/side/modules/sub/config --unset remote.origin.url && \
                      git config -f .git/worktrees/side/modules/sub/config --remove-section branch.main";

#[test]
fn ordinary_work_with_submodules_in_a_working_tree_is_kept() {
    let both = format!("git worktree add -q side && {UPDATE}");
    for layered in LAYERS {
        for scripts in [&["git worktree add -q side", UPDATE][..], &[&both]] {
            let fixture = prepared(&format!("{ADD} && {COMMIT} sub"));
            let workspace = fixture.open_layered(layered);
            let done = |script: &str| {
                let response = run(&workspace, script).unwrap();
                let warned = response.warnings.join("\n");
                assert_eq!(response.exit_code, 0, "{layered:?}: {script}: {response:?}");
                assert!(!warned.contains("not kept"), "{layered:?}: {script}: {warned}");
                git(&fixture, "git fsck --no-progress && git status");
            };
            scripts.iter().for_each(|script| done(script));
            git(
                &fixture,
                "git -C side submodule status | grep -q '^ .* sub ' && test -z \"$(git -C side status -s)\"",
            );
            done(&format!(
                "cd side/sub && echo y > more && git add more && {COMMIT} more && cd .. && {COMMIT} sub -a"
            ));
            git(&fixture, "test \"$(git -C side/sub log --format=%s | head -1)\" = more");
            done(&format!("cd side && mkdir deep && git mv sub deep/moved && {COMMIT} moved"));
            git(&fixture, "git -C side/deep/moved status && git -C side submodule status");
            done("git worktree remove --force side");
            git(&fixture, "test ! -e side && test ! -e .git/worktrees && git -C sub status");
        }
    }
}

#[test]
fn submodule_of_a_working_tree_is_led_nowhere_else() {
    let settings = "git config -f .git/worktrees/side/modules/sub/config core.worktree";
    // Each is one command after the other. Where git looks from outside the working tree.
    let link = "echo 'gitdir: ../.git/worktrees/side/modules/sub' > other/.git";
    let attacks: [&[&str]; 5] = [
        &[&format!("{settings} ../../../..")],
        &[&format!("{settings} ../../../../../source")],
        &[&format!("rm side/sub/.git; mkdir other; {link}; {settings} ../../../../../other")],
        &[&format!("mkdir other; {link}; mv side/sub real; ln -s ../../outside side/sub")],
        // A record that leads elsewhere makes no other folder the one around the submodule.
        &[&format!(
            "mkdir other; {link}; echo ../../../other/.git > .git/worktrees/side/gitdir; {settings} ../../../../../other"
        )],
    ];
    let led = |fixture: &Fixture| {
        let listed = "for one in side/sub other; do git -C $one rev-parse --show-toplevel; done";
        let listed = String::from_utf8(shell(&fixture.root(), listed).stdout).unwrap();
        // Without a link, git takes a folder for a part of the working tree around it.
        let around = fixture.root().canonicalize().unwrap().join("side");
        let own = around.join("sub");
        let is_away = |line: &str| {
            ![&own, &around].map(|folder| folder.to_str().unwrap()).contains(&line)
                && !line.ends_with("/workspace")
        };
        listed.lines().any(is_away)
    };
    let before = format!("{ADD} && {COMMIT} sub && git worktree add -q side && {UPDATE}");
    for commands in attacks {
        let plain = prepared(&before);
        for script in commands {
            git(&plain, script);
        }
        assert!(led(&plain), "control: {commands:?}");
        for layered in LAYERS {
            let fixture = prepared(&before);
            let workspace = fixture.open_layered(layered);
            let mut warned = String::new();
            for script in commands {
                warned += &run(&workspace, script).unwrap().warnings.join("\n");
            }
            assert!(warned.contains("not kept"), "{commands:?} ({layered:?}): {warned}");
            assert!(!led(&fixture), "{commands:?} ({layered:?}): {warned}");
        }
    }
}

#[test]
fn submodule_of_the_user_is_led_nowhere_else() {
    // Each list is one command after the other, and together they lead git to a folder that is not the submodule's.
    let attacks: [&[&str]; 6] = [
        &["git config -f .git/modules/sub/config core.worktree ../.."],
        &["git config -f .git/modules/sub/config core.worktree ../../../source"],
        &["mkdir other; echo 'gitdir: ../.git/modules/sub' > other/.git; mv sub real; ln -s ../outside sub"],
        // First without a folder of its own, so that two lead to it.
        &[
            "git config -f .git/modules/sub/config --unset core.worktree",
            "mkdir other; echo 'gitdir: ../.git/modules/sub' > other/.git",
            "git config -f .git/modules/sub/config core.worktree ../../../sub",
            "mv sub real; ln -s ../outside sub",
        ],
        // First without a submodule.
        &[
            "mkdir other; echo 'gitdir: ../.git/modules/new' > other/.git",
            "mkdir new; cp -r .git/modules/sub .git/modules/new; echo 'gitdir: ../.git/modules/new' > new/.git; \
             git config -f .git/modules/new/config core.worktree ../../../new",
            "mv new real; ln -s ../outside new",
        ],
        // Behind a link, `..` is another folder.
        &[
            "mkdir -p a/b; ln -s a/b link; mkdir -p a/.git; cp -r .git/modules a/.git/modules; \
             git config -f a/.git/modules/sub/config core.worktree ../../../../.git",
            "mkdir other; echo 'gitdir: ../link/../.git/modules/sub' > other/.git",
        ],
    ];
    let planted = |fixture: &Fixture| {
        let paths = [fixture.root().join(".git/hooks/planted"), fixture.outside().join("hooks/planted")];
        paths.iter().any(|path| path.exists()) || fixture.root().join("source/hooks/planted").exists()
    };
    let trigger =
        "rm -f source/hooks/planted; for one in sub other; do git -C $one reset -q --hard; done; true";
    for commands in attacks {
        let plain = prepared(ADD);
        for script in commands {
            git(&plain, script);
        }
        shell(&plain.root(), trigger);
        assert!(planted(&plain), "control: {commands:?}");
        for layered in LAYERS {
            let fixture = prepared(ADD);
            let workspace = fixture.open_layered(layered);
            let mut warned = String::new();
            for script in commands {
                warned += &run(&workspace, script).unwrap().warnings.join("\n");
            }
            assert!(warned.contains("not kept"), "{commands:?} ({layered:?}): {warned}");
            shell(&fixture.root(), trigger);
            assert!(!planted(&fixture), "{commands:?} ({layered:?}): {warned}");
        }
    }
}

#[test]
fn linked_files_are_kept_only_if_they_fit_what_is_kept_of_the_others() {
    // Each list is one command after the other, the first of which changes several linked files of which one is not
    // kept. After it is the resulting folder without the check, which shows that the trigger works.
    let other = "mkdir other; echo 'gitdir: ../.git/modules/sub' > other/.git";
    let led = "git config -f .git/modules/sub/config core.worktree ../../../other";
    let moved = format!("{ADD} && git add . && {COMMIT} sub && mkdir deep && git mv sub deep/sub");
    let added = format!("{other}; {led}");
    // The rest of a working tree goes with its refused record, the removal of the submodule's `.git` file among it.
    let beside_tree = format!(
        "rm -rf deep/sub; {other}; {led}; mkdir -p .git/worktrees/x; echo ../../../deep/.git > .git/worktrees/x/gitdir"
    );
    // A repository that is in use stays as it is.
    let while_in_use = format!("rm -rf sub; {other}; {led}");
    let attacks: [(&str, &[&str], &str); 4] = [
        (ADD, &[&added, "rm -rf sub", "ln -s .git sub"], &format!("{other}; rm -rf sub; ln -s .git sub")),
        (
            ADD,
            &[&added, "rm -rf sub", "ln -s ../outside sub"],
            &format!("{other}; rm -rf sub; ln -s ../outside sub"),
        ),
        (&moved, &[&beside_tree, "rm -rf other", "ln -s .git other"], &format!("{led}; ln -s .git other")),
        (
            ADD,
            &["touch .git/index.lock", &while_in_use, "rm -rf sub", "ln -s .git sub"],
            &format!("{other}; rm -rf sub; ln -s .git sub"),
        ),
    ];
    let planted = |fixture: &Fixture| {
        let paths = [fixture.root().join(".git/hooks/planted"), fixture.outside().join("hooks/planted")];
        paths.iter().any(|path| path.exists())
    };
    let trigger = "for one in sub other deep/sub; do git -C $one reset -q --hard; done; true";
    for (before, commands, control) in attacks {
        let plain = prepared(before);
        git(&plain, control);
        shell(&plain.root(), trigger);
        assert!(planted(&plain), "control: {commands:?}");
        for layered in LAYERS {
            let fixture = prepared(before);
            let workspace = fixture.open_layered(layered);
            let mut warned = String::new();
            for script in commands {
                // The lock is named where it stays.
                let is_of_lock = |line: &String| line.starts_with("git changes nothing while these locks");
                let mut warnings = run(&workspace, script).unwrap().warnings;
                warnings.retain(|line| !(is_of_lock(line) && matches!(layered, Layered::No)));
                warned += &warnings.join("\n");
            }
            shell(&fixture.root(), trigger);
            assert!(!planted(&fixture), "{commands:?} ({layered:?}): {warned}");
            // Without a layer no repository is left alone because it is in use, and all of it fits.
            let is_refused = matches!(layered, Layered::Yes) || !commands.contains(&"touch .git/index.lock");
            assert_eq!(is_refused, !warned.is_empty(), "{commands:?} ({layered:?}): {warned}");
        }
    }
}

#[test]
fn submodule_is_removed_with_its_repository_and_nothing_less() {
    // Each with what is left of the submodule's settings and hook, and whether the commit is kept.
    let both = &["config", "hooks/mine"][..];
    for (removal, stays, is_committed) in [
        ("git rm -q sub && rm -rf .git/modules/sub && COMMIT", &[][..], true),
        ("rm .git/modules/sub/config; COMMIT", both, true),
        ("rm -rf .git/modules/sub/hooks; COMMIT", both, true),
        // A repository of which something is left is not gone as a whole.
        ("cd .git/modules/sub && rm -rf HEAD config hooks && cd ../../.. && COMMIT", both, true),
        // The control: what makes the folder around all of it a repository.
        ("COMMIT; rm .git/HEAD", both, false),
    ] {
        for layered in LAYERS {
            let hook = "echo x > .git/modules/sub/hooks/mine && chmod +x .git/modules/sub/hooks/mine";
            let fixture = prepared(&format!("{ADD} && {COMMIT} sub && {hook}"));
            let workspace = fixture.open_layered(layered);
            let script = removal.replace("COMMIT", &format!("{COMMIT} gone --allow-empty"));
            let response = run(&workspace, &script).unwrap();
            assert_eq!(response.exit_code, 0, "{layered:?}: {script}: {response:?}");
            let refused = response.warnings.iter().any(|warning| warning.contains("not kept"));
            assert_eq!(refused, !stays.is_empty(), "{layered:?}: {script}: {response:?}");
            for name in ["config", "hooks/mine"] {
                let is_there = fixture.root().join(".git/modules/sub").join(name).exists();
                assert_eq!(is_there, stays.contains(&name), "{layered:?}: {script}: {name}: {response:?}");
            }
            let log = shell(&fixture.root(), "git log --format=%s | grep -x gone");
            assert_eq!(log.status.success(), is_committed, "{layered:?}: {script}: {response:?}");
            git(&fixture, "git status --ignore-submodules=all && git fsck --no-progress");
        }
    }
}

#[test]
fn links_that_refuse_each_other_in_a_long_chain_take_only_files_of_git_with_them() {
    const MODULES: usize = 24;
    // Each submodule gets the folder of the next one. With a first link that leads nowhere, none of them fits.
    let rotate = |first: usize| {
        let lines = (1..=MODULES).map(|to| {
            let from = if to == 1 { first } else { to - 1 };
            format!(
                "echo 'gitdir: ../.git/modules/m{from}' > s{to}/.git; \
                 sed -i 's#/s{from}$#/s{to}#' .git/modules/m{from}/config || true\n"
            )
        });
        lines.collect::<String>() + "mkdir src && echo x > src/config"
    };
    for (first, moves) in [(MODULES, true), (0, false)] {
        for layered in LAYERS {
            let fixture = prepared("true");
            for index in 1..=MODULES {
                let settings = format!("[core]\n\tbare = false\n\tworktree = ../../../s{index}\n");
                fixture.put(&format!(".git/modules/m{index}/config"), settings);
                fixture.put(&format!("s{index}/.git"), format!("gitdir: ../.git/modules/m{index}\n"));
            }
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &rotate(first)).unwrap();
            assert_eq!(response.exit_code, 0, "{layered:?}: {response:?}");
            let (last, before) = (format!("s{MODULES}/.git"), MODULES - usize::from(moves));
            let link = fixture.text(&last).unwrap();
            assert_eq!(link, format!("gitdir: ../.git/modules/m{before}\n"), "{layered:?}: {response:?}");
            assert_eq!(fixture.text("src/config").as_deref(), Some("x\n"), "{layered:?}: {response:?}");
        }
    }
}

#[test]
fn index_is_kept_only_with_the_settings_by_which_it_is_read() {
    // Its folder names no working tree that leads back, so its settings are refused.
    let module = "Z=$(mktemp -d); git init -q --object-format=sha256 $Z && cd $Z && echo x > x && git add x && cd - && \
                  mkdir -p .git/modules && cp -r $Z/.git .git/modules/new && rm .git/modules/new/hooks/*; rm -rf $Z; \
                  git config -f .git/modules/new/config core.worktree ../../../new";
    let link = "mkdir -p new && echo 'gitdir: ../.git/modules/new' > new/.git";
    let settings =
        "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n' > .git/modules/new/config";
    for layered in LAYERS {
        let fixture = prepared("true");
        let workspace = fixture.open_layered(layered);
        let warned = run(&workspace, module).unwrap().warnings.join("\n");
        assert!(warned.contains("`.git/modules/new/index`"), "{layered:?}: {warned}");
        assert!(!fixture.root().join(".git/modules/new/index").exists(), "{layered:?}: {warned}");
        // With other settings git would read it in another way, and write to whatever paths it then finds there.
        let response = run(&workspace, &format!("{settings}; {link}")).unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}: {response:?}");
        git(&fixture, "git -C new status");
        // The control: together they are kept.
        let fixture = prepared("true");
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, &format!("{module}; {link}")).unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}: {response:?}");
        let listed = shell(&fixture.root(), "git -C new ls-files");
        assert_eq!(listed.stdout, b"x\n", "{layered:?}: {response:?}");
    }
}

#[test]
fn submodule_that_another_branch_lacks_goes_as_git_removes_it() {
    let orphan = format!(
        "git checkout -q --orphan fresh && git rm -rfq . && {COMMIT} fresh --allow-empty && git checkout -q main"
    );
    // Each with the files that git leaves in the folder.
    let scripts = [
        (orphan.as_str(), ""),
        ("git switch -q --orphan fresh && rm -rf sub && git switch -q main", ""),
        ("git submodule --quiet deinit -f sub", ""),
        ("echo x > sub/new && git -c submodule.recurse=true switch -q --orphan fresh", "new\n"),
    ];
    let state = |fixture: &Fixture| {
        let listed =
            shell(&fixture.root(), "ls -A sub; git --no-optional-locks status --short -uno; cat .git/HEAD");
        String::from_utf8(listed.stdout).unwrap()
    };
    for (script, left) in scripts {
        let plain = prepared(&format!("{ADD} && {COMMIT} sub"));
        git(&plain, script);
        for layered in LAYERS {
            // Without a layer the settings of the repository itself are read-only.
            if matches!(layered, Layered::No) && script.contains("deinit") {
                continue;
            }
            let fixture = prepared(&format!("{ADD} && {COMMIT} sub"));
            let before = state(&fixture);
            let journal = fixture.open_journal();
            let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
            let response = run(&workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            assert_eq!(response.exit_code, 0, "{layered:?}: {script}: {response:?}");
            assert!(!warned.contains("not kept"), "{layered:?}: {script}: {warned}");
            assert_eq!(state(&fixture), state(&plain), "{layered:?}: {script}: {warned}");
            assert!(state(&fixture).starts_with(left), "{layered:?}: {script}");
            assert!(!fixture.root().join("sub/.git").exists() && before.starts_with(".git\n"));
            assert!(fixture.root().join(".git/modules/sub/HEAD").exists(), "{layered:?}: {script}");
            let changes = journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
            let last = changes.last().unwrap().run;
            workspace.undo(&Caller::once().call(), &Undo::Run(last)).unwrap();
            assert_eq!(state(&fixture), before, "{layered:?}: {script}");
            // The next update leads back to the repository.
            run(&workspace, script).unwrap();
            git(&fixture, "git checkout -qf main && git submodule --quiet update --init && git -C sub fsck");
            assert!(fixture.root().join("sub/hooks/planted").exists(), "{layered:?}: {script}");
        }
    }
}

#[test]
fn link_of_a_submodule_stays_where_its_files_would_be_a_repository() {
    let bare = "mkdir source/objects source/refs && cp .git/HEAD source/HEAD && touch source/objects/x source/refs/x && \
                cd source && git add . && git -c user.name=u -c user.email=u@x commit -q -m bare && cd ..";
    let own = "git init -q own && echo x > own/file";
    for layered in LAYERS {
        let fixture = prepared(&format!("{bare} && {ADD} && {COMMIT} sub && {own}"));
        let workspace = fixture.open_layered(layered);
        for (script, kept) in [("rm sub/.git", "sub/.git"), ("rm -rf own/.git", "own/.git/HEAD")] {
            let warned = run(&workspace, script).unwrap().warnings.join("\n");
            assert!(warned.contains("(removes the repository)"), "{layered:?}: {script}: {warned}");
            assert!(fixture.root().join(kept).exists(), "{layered:?}: {script}");
        }
        // The control: that of a submodule whose files are not a repository is removed.
        let fixture = prepared(&format!("{ADD} && {COMMIT} sub"));
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, "rm sub/.git").unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}");
        assert!(!fixture.root().join("sub/.git").exists() && fixture.root().join("sub/hooks").exists());
    }
}
