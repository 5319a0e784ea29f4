//! Bare repositories that commands remove come back as they were, and nothing else becomes a repository by an undo.

use change_journal::{ChangeNumber, Journal, RunNumber};
use local_workspace::{LocalWorkspace, Undo, UndoError, Undone};

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

struct OpenFixture {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
}

/// A bare repository of the user with a hook, and one with a working tree.
const REPOSITORIES: &str = "git init -q -b main sub && cd sub && git -c user.name=u -c user.email=u@x commit -q --allow-empty -m one && \
                            git clone -q --bare . ../r.git && cd ../r.git && git remote remove origin && \
                            printf '#!/bin/sh\\n' > hooks/update && chmod +x hooks/update";

impl OpenFixture {
    fn new(layered: Layered, more: &str) -> OpenFixture {
        let fixture = Fixture::new();
        let made = shell(&fixture.root(), &format!("{REPOSITORIES} && {more}"));
        assert!(made.status.success(), "{made:?}");
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
        OpenFixture { fixture, journal, workspace }
    }

    /// Runs a command and returns its warnings and its run.
    fn run(&self, script: &str) -> (String, RunNumber) {
        let response = run(&self.workspace, script).unwrap();
        assert_eq!(response.exit_code, 0, "{script}: {response:?}");
        let changes = self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        (response.warnings.join("\n"), changes.last().unwrap().run)
    }

    fn undo(&self, undo: &Undo) -> Result<Undone, UndoError> {
        self.workspace.undo(&Caller::once().call(), undo)
    }

    /// All of the repositories, with the modes of files.
    fn state(&self) -> String {
        let list =
            "find r.git sub -type f -printf '%m ' -exec sha1sum {} \\; | sort; find r.git sub -type d | sort";
        let listed = shell(&self.fixture.root(), list);
        String::from_utf8(listed.stdout).unwrap()
    }
}

#[test]
fn bare_repository_comes_back_as_a_whole() {
    for layered in LAYERS {
        for script in ["rm -rf r.git", "rm -rf r.git sub", "rm -rf r.git; echo x > file"] {
            let opened = OpenFixture::new(layered, "true");
            let had = opened.state();
            let (warned, removed) = opened.run(script);
            assert_eq!(warned, "", "{script} ({layered:?})");
            assert!(!opened.fixture.root().join("r.git").exists());
            let undone = opened.undo(&Undo::Run(removed)).unwrap();
            assert_eq!(opened.state(), had, "{script} ({layered:?}): {undone:?}");
            let fsck = shell(&opened.fixture.root(), "git -C r.git fsck && git -C r.git log main");
            assert!(fsck.status.success(), "{fsck:?}");
            // The undo is undone like any other change.
            opened.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
            assert!(!opened.fixture.root().join("r.git").exists(), "{script} ({layered:?})");
        }
    }
}

/// Git computes some of these files, and they are adopted from no command.
#[test]
fn work_in_a_bare_repository_is_undone_with_what_git_has_computed() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered, "git repack -qadb && git commit-graph write --reachable");
        let had = opened.state();
        assert!(had.contains(".bitmap") && had.contains("commit-graph"), "{had}");
        let work = "cd r.git && git update-ref refs/heads/new $(git -c user.name=u -c user.email=u@x commit-tree -m new main^{tree}) && \
                    git repack -qadb && rm objects/info/commit-graph";
        let (warned, done) = opened.run(work);
        assert!(!warned.contains("not kept"), "{layered:?}: {warned}");
        assert!(!opened.state().contains("commit-graph"), "{layered:?}");
        opened.undo(&Undo::Run(done)).unwrap();
        // The pack that the command has made stays: something of the user's may need it by now.
        let state = opened.state();
        let new: Vec<&str> = state.lines().filter(|line| !had.contains(line)).collect();
        assert!(
            !new.is_empty() && new.iter().all(|line| line.contains("r.git/objects/pack/pack-")),
            "{new:?}"
        );
        let lost: Vec<&str> = had.lines().filter(|line| !state.contains(line)).collect();
        assert!(lost.is_empty(), "{layered:?}: {lost:?}: {warned}");
    }
}

#[test]
fn bare_repository_that_is_moved_stays() {
    for layered in LAYERS {
        for script in
            ["mkdir archive; mv r.git archive/", "mv r.git s.git", "cp -r r.git s.git; rm -rf r.git"]
        {
            // Without a layer, larger files than this are not restored.
            let size = if layered == Layered::Yes { 17_000_000 } else { 500_000 };
            let more = format!(
                "head -c {size} /dev/urandom | git hash-object -w --stdin > ../name && git update-ref refs/tags/big $(cat ../name) && \
                 git repack -qad && mkdir ../plain && echo x > ../plain/x"
            );
            let opened = OpenFixture::new(layered, &more);
            let had = opened.state();
            let (warned, _) = opened.run(&format!("{script}; rm -rf plain; echo x > file"));
            assert!(warned.contains("removes a repository"), "{script} ({layered:?}): {warned}");
            assert!(!warned.contains("could not be restored"), "{script} ({layered:?}): {warned}");
            let is_bare = |line: &&str| line.contains("r.git/") || line.ends_with("r.git");
            let bare = |state: &str| state.lines().filter(is_bare).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(bare(&opened.state()), bare(&had), "{script} ({layered:?}): {warned}");
            for debris in ["archive/r.git", "s.git", "plain"] {
                assert!(
                    !opened.fixture.root().join(debris).exists(),
                    "{debris}: {script} ({layered:?}): {warned}"
                );
            }
            assert_eq!(opened.fixture.text("file").as_deref(), Some("x\n"), "the control ({layered:?})");
        }
    }
}

#[test]
fn bare_repository_that_is_refused_leaves_nothing_behind() {
    let list = "find . -path ./.git -prune -o -path ./sub -prune -o -path ./r.git -prune -o -print | sort";
    // Each with what stays: folders that were there or are another program's, and files that are not git's.
    let scripts = [
        ("git init -q --bare x.git", ""),
        ("git clone -q --bare --no-hardlinks sub x.git && git -C x.git gc -q", ""),
        ("git clone -q --mirror --no-hardlinks sub deep/x.git", "./deep\n"),
        ("git init -q --bare old && echo x > old/mine/new", "./old/mine/new\n"),
        (
            "git init -q --bare x.git && echo x > x.git/notes && mkdir x.git/info/own",
            "./x.git\n./x.git/info\n./x.git/info/own\n./x.git/notes\n",
        ),
        ("git init -q --bare .", ""),
    ];
    for layered in LAYERS {
        for (script, stays) in scripts {
            let opened = OpenFixture::new(layered, "mkdir -p ../old/mine && echo x > ../old/description");
            let listed = || String::from_utf8(shell(&opened.fixture.root(), list).stdout).unwrap();
            let had = listed();
            let response = run(&opened.workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            assert!(
                response.exit_code == 0 && warned.contains("a bare repository"),
                "{layered:?}: {script}: {response:?}"
            );
            let now = listed();
            let new: String = now
                .lines()
                .filter(|line| !had.lines().any(|had| had == *line))
                .map(|line| format!("{line}\n"))
                .collect();
            assert_eq!(new, stays, "{layered:?}: {script}: {warned}");
            let gone = had.lines().filter(|line| !now.lines().any(|now| now == *line)).count();
            assert_eq!(gone, 0, "{layered:?}: {script}: {now}");
        }
        // The control: the same names in a folder that is no repository are kept.
        let opened = OpenFixture::new(layered, "true");
        let (warned, _) = opened.run(
            "mkdir -p x/info && echo x > x/description && echo x > x/info/exclude && echo x > x/packed-refs",
        );
        assert_eq!(warned, "", "{layered:?}");
        assert!(opened.fixture.root().join("x/packed-refs").exists(), "{layered:?}");
    }
}

/// One with a working tree may become a bare one that is refused.
#[test]
fn repository_that_is_made_a_bare_one_stays() {
    for layered in LAYERS {
        for script in [
            "mv sub/.git x.git; git -C x.git config core.bare true; rm -rf sub",
            "git clone -q --bare --no-hardlinks sub x.git; rm -rf sub",
        ] {
            let opened = OpenFixture::new(layered, "true");
            let had = opened.state();
            let (warned, _) = opened.run(script);
            assert!(
                warned.contains("`sub/.git`") && warned.contains("may be the same"),
                "{script}: {warned}"
            );
            assert_eq!(opened.state(), had, "{script} ({layered:?}): {warned}");
            let log =
                shell(&opened.fixture.root().join("sub"), "git log --format=%s && git status --porcelain");
            assert_eq!(log.stdout, b"one\n", "{script} ({layered:?}): {warned}");
            assert!(!opened.fixture.root().join("x.git").exists(), "{script} ({layered:?}): {warned}");
            // The control: alone it is removed.
            let (warned, _) = opened.run("rm -rf sub");
            assert!(!warned.contains("not kept"), "{layered:?}: {warned}");
            assert!(!opened.fixture.root().join("sub").exists(), "{layered:?}: {warned}");
        }
    }
}

#[test]
fn undo_makes_no_repository_of_parts_that_were_none() {
    let evil = "mkdir -p x/objects x/refs; printf '[core]\\n\\tfsmonitor = false\\n' > x/config";
    let head = "mkdir -p x; echo 'ref: refs/heads/main' > x/HEAD";
    for layered in LAYERS {
        // The parts were removed by two commands.
        let opened = OpenFixture::new(layered, "true");
        opened.run(evil);
        let (_, first) = opened.run("rm -rf x");
        opened.run(head);
        let (_, second) = opened.run("rm -rf x");
        opened.undo(&Undo::Run(first)).unwrap();
        let refused = opened.undo(&Undo::Run(second));
        assert!(matches!(refused, Err(UndoError::Obstacles(_))), "{layered:?}: {refused:?}");
        assert!(!opened.fixture.root().join("x/HEAD").exists(), "{layered:?}");

        // Something else came into the folder since.
        let opened = OpenFixture::new(layered, "true");
        let (_, removed) = opened.run("rm -rf r.git");
        opened.run("mkdir r.git; printf '[core]\\n\\tfsmonitor = false\\n' > r.git/config.worktree");
        let refused = opened.undo(&Undo::Run(removed));
        assert!(matches!(refused, Err(UndoError::Obstacles(_))), "{layered:?}: {refused:?}");
        assert!(!opened.fixture.root().join("r.git/HEAD").exists(), "{layered:?}");

        // Only some of what was removed is to come back.
        let opened = OpenFixture::new(layered, "true");
        let (_, removed) = opened.run("rm -rf r.git");
        let changes = opened.journal.reader().changes_of_run(removed).unwrap();
        let some = changes.iter().filter(|change| change.path != b"r.git/config").map(|change| change.number);
        let refused = opened.undo(&Undo::Changes(some.collect()));
        assert!(matches!(refused, Err(UndoError::Obstacles(_))), "{layered:?}: {refused:?}");
        assert!(!opened.fixture.root().join("r.git/HEAD").exists(), "{layered:?}");
        opened.undo(&Undo::Run(removed)).unwrap();
    }
}
