//! The names of submodules and of branches mean nothing, but those after a submodule's own folder do.

use crate::fixture::user_shell::{COMMIT, git};
use crate::fixture::workspace::*;

/// A repository with the submodules `m` and `lib/n`, which have no remote repository.
fn prepared() -> Fixture {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "m/\nlib/\n");
    let submodule = |name: &str, up: &str| {
        format!(
            "mkdir -p .git/modules/{name} {name} && git init -q -b main {name} && rmdir .git/modules/{name} && \
             mv {name}/.git .git/modules/{name} && echo 'gitdir: {up}.git/modules/{name}' > {name}/.git && \
             git config -f .git/modules/{name}/config core.worktree {up}../../{name} && cd {name} && {COMMIT} one && cd {up}"
        )
    };
    git(&fixture, &format!("git init -q -b main . && git add . && {COMMIT} one"));
    git(&fixture, &submodule("m", "../"));
    git(&fixture, &submodule("lib/n", "../../"));
    fixture
}

#[test]
fn branches_of_submodules_may_be_called_like_what_git_obeys() {
    let names = [
        "hooks",
        "config",
        "index",
        "commondir",
        "info/attributes",
        "fix/hooks",
        "a/config",
        "config.worktree",
    ];
    for layered in LAYERS {
        for submodule in ["m", "lib/n"] {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let each = |script: &str| {
                let scripts: Vec<_> = names.iter().map(|name| script.replace("NAME", name)).collect();
                let script = format!("cd {submodule}; {}", scripts.join(" && "));
                let response = run(&workspace, &script).unwrap();
                assert_eq!(
                    (response.exit_code, &response.warnings[..]),
                    (0, &[][..]),
                    "{script} ({layered:?}): {response:?}"
                );
            };
            each(&format!("git checkout -q -b NAME main && {COMMIT} NAME"));
            for name in names {
                let log = git(
                    &fixture,
                    &format!("cd {submodule}; git log -1 --format=%s {name}; git reflog {name}; git fsck"),
                );
                assert!(
                    log.starts_with(&format!("{name}\n")) && log.lines().count() == 3,
                    "{name} ({layered:?}): {log}"
                );
            }
            each("git checkout -q main && git branch -q -D NAME");
            // As a folder of branches, too.
            each("git branch NAME/deep");
            each("git branch -q -D NAME/deep");
            assert_eq!(
                git(&fixture, &format!("git -C {submodule} branch --format='%(refname:short)'")),
                "main\n"
            );
        }
    }
}

#[test]
fn submodule_and_working_tree_may_be_called_hooks() {
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let add = "mkdir -p third && git init -q -b main --separate-git-dir=.git/modules/third/hooks third/hooks && \
                   git config -f .git/modules/third/hooks/config core.worktree ../../../../third/hooks && \
                   echo 'gitdir: ../../.git/modules/third/hooks' > third/hooks/.git && git worktree add -q hooks";
        let add = format!("mkdir -p .git/modules/third && {add}");
        for script in [
            add.clone(),
            format!("cd third/hooks && echo x > a && git add a && {COMMIT} one && git branch hooks/x"),
            format!("cd hooks && {COMMIT} two && git status"),
            "cd third/hooks && git gc -q && git pack-refs --all".to_owned(),
        ] {
            let response = run(&workspace, &script).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{script} ({layered:?}): {response:?}"
            );
        }
        let log = git(
            &fixture,
            "git -C third/hooks log --format=%s && git -C third/hooks status && git -C hooks log --format=%s",
        );
        assert!(log.starts_with("one\n") && log.ends_with("two\none\n"), "{layered:?}: {log}");
    }
}

/// Each is a hook of a submodule, or what git obeys in one, whatever the names on the way to it are.
#[test]
fn hooks_of_submodules_do_not_hide_behind_names() {
    let repository = "mkdir -p FOLDER/objects FOLDER/refs && echo 'ref: refs/heads/main' > FOLDER/HEAD";
    let hook = "mkdir -p FOLDER; printf '#!/bin/sh\\n' > FOLDER/pre-commit; chmod +x FOLDER/pre-commit";
    let name = "echo 0123456789012345678901234567890123456789";
    let in_folder = |script: &str, folder: &str| script.replace("FOLDER", &format!(".git/modules/{folder}"));
    let cases: Vec<(Vec<String>, &str)> = vec![
        // Of the submodule itself, and of one whose name is a branch of the other.
        (vec![in_folder(hook, "m/hooks")], "m/hooks/pre-commit"),
        (vec![in_folder(hook, "lib/n/hooks")], "lib/n/hooks/pre-commit"),
        (vec![in_folder(hook, "m/refs/heads/hooks")], "m/refs/heads/hooks/pre-commit"),
        (
            vec![in_folder(repository, "m/refs/x"), format!("{name} > .git/modules/m/refs/x/config")],
            "m/refs/x/config",
        ),
        (
            vec![in_folder(repository, "m/refs/x"), in_folder(hook, "m/refs/x/hooks")],
            "m/refs/x/hooks/pre-commit",
        ),
        // The hooks are there first, as the folder of a submodule, and then the repository around it.
        (
            vec![
                in_folder(repository, "evil/hooks"),
                in_folder(hook, "evil/hooks"),
                in_folder(repository, "evil"),
            ],
            "evil/hooks/pre-commit",
        ),
        (
            vec![format!(
                "{} && {} && {}",
                in_folder(repository, "evil/hooks"),
                in_folder(repository, "evil"),
                in_folder(hook, "evil/hooks")
            )],
            "evil/hooks/pre-commit",
        ),
        (vec![in_folder(repository, "m/hooks"), in_folder(hook, "m/hooks")], "m/hooks/pre-commit"),
    ];
    for layered in LAYERS {
        for (scripts, path) in &cases {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let path = format!(".git/modules/{path}");
            let warned: Vec<_> =
                scripts.iter().flat_map(|script| run(&workspace, script).unwrap().warnings).collect();
            let warned = warned.join("\n");
            assert!(!fixture.root().join(&path).exists(), "{path} ({layered:?}): {warned}");
            assert!(
                warned.contains("not kept, because git or an editor would obey it"),
                "{path} ({layered:?}): {warned}"
            );
            git(&fixture, "git -C m status && git -C lib/n status");
        }
        // The hooks of the user stay.
        let fixture = prepared();
        fixture.put(".git/modules/m/hooks/pre-commit", "#!/bin/sh\n");
        let workspace = fixture.open_layered(layered);
        let warned =
            run(&workspace, "rm .git/modules/m/hooks/pre-commit; rm -rf .git/modules/m/refs/tags").unwrap();
        assert!(fixture.text(".git/modules/m/hooks/pre-commit").is_some(), "{layered:?}: {warned:?}");
    }
}
