//! Names that a case-insensitive file system equates with those that git obeys are refused likewise.

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

const ZERO_WIDTH: &str = "\u{200b}";

/// Writes these files in an order in which each may be the last part of a repository.
fn script(paths: &[String]) -> String {
    let make =
        |path: &String| format!("mkdir -p \"$(dirname '{path}')\" && echo x > '{path}' && chmod +x '{path}'");
    paths.iter().map(make).collect::<Vec<_>>().join(" && ")
}

fn plain(path: &str) -> String {
    path.replace('ſ', "s").replace('ﬁ', "fi").replace(ZERO_WIDTH, "").replace("./", "/")
}

#[test]
fn disguised_names_in_a_repository_are_refused() {
    let paths = [
        ".git/hookſ/pre-commit",
        ".git/hooks./pre-commit",
        ".git/conﬁg.worktree",
        ".git/info/attributeſ",
        ".git/refs/x/Hookſ/pre-commit",
        ".git/modules/a/con\u{200b}fig",
        ".git/objects/info/alternateſ",
        ".git/worktreeſ/x/commondir",
        "sub/.git/lazy\u{200b}git.yml",
    ];
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        assert_eq!(run(&workspace, "git init -q . && git init -q sub").unwrap().warnings, [""; 0]);
        for path in paths {
            // The control: the plain name is refused as well. Without a layer, hooks and settings are read-only at their own path.
            for path in [path.to_owned(), plain(path)] {
                let response = run(&workspace, &script(std::slice::from_ref(&path))).unwrap();
                let is_refused = response.warnings.join("\n").contains("not kept") || response.exit_code != 0;
                assert!(is_refused && fixture.text(&path).is_none(), "{path} ({layered:?}): {response:?}");
            }
        }
        let status = shell(&fixture.root(), "git status && git -C sub status");
        assert!(status.status.success(), "{layered:?}: {status:?}");
    }
}

#[test]
fn disguised_names_make_no_repository() {
    let whole = ["HE\u{200b}AD", "objectſ/a", "refſ/a"];
    for layered in LAYERS {
        for names in [&whole[..], &["HEAD", "objects/a", "refſ/a"], &["HEAD.", "refs/a", "objectſ/a"]] {
            for first in 0..names.len() {
                let fixture = Fixture::new();
                let workspace = fixture.open_layered(layered);
                let mut paths: Vec<_> = names.iter().map(|name| format!("b/{name}")).collect();
                paths.rotate_left(first);
                let warned = run(&workspace, &script(&paths)).unwrap().warnings.join("\n");
                assert!(warned.contains("makes 'b' a bare repository"), "{paths:?} ({layered:?}): {warned}");
                // The control: with a part missing, each name is like any other.
                let others: Vec<_> = paths[1..].iter().map(|path| format!("c/{path}")).collect();
                let response = run(&workspace, &script(&others)).unwrap();
                assert_eq!(response.warnings, [""; 0], "{others:?} ({layered:?})");
                assert!(others.iter().all(|path| fixture.text(path).is_some()), "{others:?} ({layered:?})");
            }
        }
    }
}

#[test]
fn names_of_any_language_are_ordinary_work() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        let commands = "git init -q -b straße . && echo x > Größe && git add . && git commit -q -m 'größer' && \
                        for name in sıra файл 設定 réf ﬁnal; do git branch $name; git worktree add -q tree-$name $name; done && \
                        git tag fuß && git stash list && git gc -q && git worktree remove tree-файл && git branch -D файл";
        let response = run(&workspace, commands).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        let listed =
            shell(&fixture.root(), "git -c core.quotePath=false ls-files && git branch | wc -l && git fsck");
        assert_eq!(String::from_utf8_lossy(&listed.stdout), "Größe\n5\n", "{layered:?}: {listed:?}");
    }
}
