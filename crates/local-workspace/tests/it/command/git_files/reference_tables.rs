//! Tables of references are adopted as a whole, if git can read them and has the objects that they name. At one that it cannot read,
//! it shows no branch at all.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// A repository that keeps its references in tables, with three commits and a working tree.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "side/\n");
    let script = format!(
        "git init -q -b main --ref-format=reftable . && git config user.name u && git config user.email u@x && git add . && \
         {COMMIT} one && {COMMIT} two && {COMMIT} three && git branch b1 && git worktree add -q side"
    );
    git(&fixture, &script);
    fixture
}

/// A script, a part of the warning, and what fails for the user without the check.
const CASES: &[(&str, &str)] = &[
    ("for f in .git/reftable/*.ref; do chmod u+w $f; echo junk > $f; done", "git itself never changes one"),
    // A table with another content of its own, under the name of one that was there.
    (
        "old=$(ls .git/reftable/*.ref | head -n1); cp $old old; COMMIT x; git pack-refs --all; new=$(ls .git/reftable/*.ref | tail -n1); \
         cp old junk; echo x >> junk; cp -f junk $new",
        "cannot read",
    ),
    ("echo junk > .git/reftable/junk.ref; echo junk.ref >> .git/reftable/tables.list", "cannot read"),
    ("echo missing.ref >> .git/reftable/tables.list", "cannot read"),
    ("rm .git/reftable/*.ref", "git itself never changes one"),
    ("rm .git/reftable/tables.list", "git itself never changes one"),
    ("COMMIT x; rm OBJECT", "does not have, or that is not kept"),
    ("COMMIT x; git pack-refs --all; chmod 000 OBJECT", "does not have, or that is not kept"),
    ("COMMIT x; git tag -am t t; chmod 000 .git/reftable/*.ref", "could not read"),
    (
        "cd side; COMMIT x; git checkout -q --detach; rm $(git rev-parse HEAD | sed 's:..:../.git/objects/&/:')",
        "does not have",
    ),
    (
        "folder=$PWD; git init -q --ref-format=reftable --object-format=sha256 ../other && cd ../other && git -c user.name=u -c user.email=u@x \
         commit -q --allow-empty -m x && git pack-refs --all && cp .git/reftable/* $folder/.git/reftable",
        "cannot read",
    ),
];

fn spelled(script: &str) -> String {
    let object = "$(git rev-parse HEAD | sed 's:..:.git/objects/&/:')";
    script.replace("COMMIT", COMMIT).replace("OBJECT", object).replace("../other", "$TMPDIR/other")
}

#[test]
fn tables_that_stop_git_are_refused_as_a_whole() {
    // The log of both, and the branches.
    let user = "git log --format=%s && git -C side log --format=%s && git branch && git fsck --no-dangling";
    for (script, what) in CASES {
        let script = spelled(script);
        let plain = repository();
        let had = git(&plain, user);
        let temporary = plain.path().join("scratch");
        let damage = format!("TMPDIR={}; {}", temporary.display(), script.replace("chmod 000", "rm -f"));
        let _ = shell(&plain.root(), &damage);
        let shows = shell(&plain.root(), user);
        assert!(!shows.status.success() || shows.stdout != had.as_bytes(), "control: {script}: {shows:?}");
        for layered in LAYERS {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &format!("TMPDIR=${{TMPDIR:-/tmp}}; {script}")).unwrap();
            let warned = response.warnings.join("\n");
            assert!(
                warned.contains(what) && warned.contains("reftable"),
                "{script} ({layered:?}): {response:?}"
            );
            assert_eq!(git(&fixture, user), had, "{script} ({layered:?}): {warned}");
        }
    }
}

/// A copy of the newest table with another number of its last update: no number is left for the user's next commit.
#[test]
fn table_with_the_last_number_of_an_update_is_refused() {
    let forge = r#"
import struct, sys, zlib
folder, last = sys.argv[1], int(sys.argv[2])
names = open(folder + '/tables.list').read().split()
table = open(folder + '/' + names[-1], 'rb').read()
header = 24 if table[4] == 1 else 28
forged = bytearray(table)
footer = len(table) - header - 44
for start in (0, footer):
    forged[start + 16:start + 24] = struct.pack('>Q', last)
forged[-4:] = struct.pack('>I', zlib.crc32(bytes(forged[footer:-4])))
name = '0x%012x-0x%012x-0badcafe.ref' % (1 << 40, 1 << 40)
open(folder + '/' + name, 'wb').write(forged)
open(folder + '/tables.list', 'w').write('\\n'.join(names[:-1] + [name]) + '\\n')
"#;
    let prepared = || {
        let fixture = repository();
        fixture.put("../outside/forge.py", forge);
        fixture
    };
    for last in ["18446744073709551615", "9223372036854775807"] {
        let plain = prepared();
        git(&plain, &format!("python3 ../outside/forge.py .git/reftable {last}"));
        assert!(!shell(&plain.root(), &format!("{COMMIT} four")).status.success(), "control: {last}");
        for layered in LAYERS {
            let fixture = prepared();
            git(&fixture, "cp ../outside/forge.py .");
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &format!("python3 forge.py .git/reftable {last}")).unwrap();
            let warned = response.warnings.join("\n");
            assert!(
                warned.contains("reftable") && warned.contains("cannot read"),
                "{layered:?}: {response:?}"
            );
            git(&fixture, &format!("{COMMIT} four && git log"));
        }
    }
}

#[test]
fn tables_of_ordinary_work_are_adopted() {
    let scripts = [
        "COMMIT x && git branch b2 && git branch -D -q b1 && git tag -am t t",
        "for n in 1 2 3 4 5 6 7 8 9; do COMMIT $n && git branch n$n; done",
        "git pack-refs --all && git gc -q && COMMIT y",
        "for n in $(seq 3000); do echo create refs/heads/many/$n HEAD; done | git update-ref --stdin && git pack-refs --all",
        "git worktree add -q --detach more && cd more && COMMIT z && git worktree remove --force . ",
        "git worktree add -q again && cd again && COMMIT z && git checkout -q --detach && git bisect start HEAD HEAD~2 && git bisect reset",
        "git clone -q --ref-format=reftable --no-hardlinks . cl && git -C cl remote remove origin && cd cl && COMMIT c && git gc -q",
        "git init -q --ref-format=reftable --object-format=sha256 new && cd new && COMMIT n && git branch o && git pack-refs --all",
        "git symbolic-ref refs/heads/alias refs/heads/main && git stash -q; git notes add -m note && git checkout -q -b last",
    ];
    for layered in LAYERS {
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        for script in scripts {
            let response = run(&workspace, &spelled(script)).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{script} ({layered:?}): {response:?}"
            );
            git(&fixture, "git log && git fsck --no-dangling");
        }
        git(
            &fixture,
            "git rev-parse many/7 n9 t last && git -C cl log --all && git -C new log o && git -C again log",
        );
    }
}

/// A reference of the user that had lost its object before keeps git from nothing else.
#[test]
fn table_of_references_that_were_broken_is_joined() {
    for layered in LAYERS {
        let fixture = repository();
        let lose = format!("git checkout -q -b lost && {COMMIT} lost && git checkout -q main && rm OBJECT");
        git(&fixture, &lose.replace("OBJECT", "$(git rev-parse lost | sed 's:..:.git/objects/&/:')"));
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, &format!("{COMMIT} four && git pack-refs --all")).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        assert_eq!(git(&fixture, "git log --format=%s"), "four\nthree\ntwo\none\n", "{layered:?}");
    }
}
