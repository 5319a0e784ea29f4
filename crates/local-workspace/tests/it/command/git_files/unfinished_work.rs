//! Work that a command leaves unfinished leads git to no file outside of the workspace, and runs nothing, when it is continued.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("file", "x\n");
    git(&fixture, &format!("git init -q -b main . && git add . && {COMMIT} one"));
    fixture
}

#[test]
fn file_outside_is_not_copied_as_the_resolution_of_a_conflict() {
    let name = "a".repeat(40);
    let script = format!(
        "mkdir -p .git/rr-cache/{name} && : > .git/rr-cache/{name}/preimage && \
         printf '{name}\\t../outside/secret\\0' > .git/MERGE_RR"
    );
    let prepared = || {
        let fixture = repository();
        fixture.put("../outside/secret", "secret\n");
        fixture
    };
    let trigger = format!("{COMMIT} two");
    let copied = |fixture: &Fixture| git(fixture, "find .git/rr-cache -name postimage | xargs -r cat");
    let plain = prepared();
    git(&plain, &script);
    git(&plain, &trigger);
    assert_eq!(copied(&plain), "secret\n", "control");
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let warned = run(&workspace, &script).unwrap().warnings.join("\n");
        assert!(warned.contains("`.git/MERGE_RR`"), "{layered:?}: {warned}");
        git(&fixture, &trigger);
        assert_eq!(copied(&fixture), "", "{layered:?}: {warned}");
        // Without a conflict that is left, git leaves the file empty.
        let response = run(&workspace, ": > .git/MERGE_RR").unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}");
    }
}

#[test]
fn packs_of_another_repository_are_not_removed() {
    // A list of packs with one that has no object of its own.
    let list = r#"
import hashlib, struct, sys
path, name = sys.argv[1:]
data = open(path, 'rb').read()
table = [(data[at:at + 4], struct.unpack('>Q', data[at + 4:at + 12])[0]) for at in range(12, 12 + 12 * (data[6] + 1), 12)]
chunks = {table[i][0]: data[table[i][1]:table[i + 1][1]] for i in range(data[6])}
mine = chunks[b'PNAM'].rstrip(b'\0')
names = b'\0'.join([name.encode(), mine]) + b'\0'
chunks[b'PNAM'] = names + b'\0' * (-len(names) % 4)
entries = [struct.unpack('>II', chunks[b'OOFF'][at:at + 8]) for at in range(0, len(chunks[b'OOFF']), 8)]
chunks[b'OOFF'] = b''.join(struct.pack('>II', 1, offset) for _, offset in entries)
order = [b'PNAM', b'OIDF', b'OIDL', b'OOFF']
at, table, body = 12 + 12 * 5, b'', b''
for chunk in order:
    table += chunk + struct.pack('>Q', at + len(body))
    body += chunks[chunk]
out = data[:6] + bytes([4, 0]) + struct.pack('>I', 2) + table + b'\0' * 4 + struct.pack('>Q', at + len(body)) + body
open(path + '.new', 'wb').write(out + hashlib.sha1(out).digest())
"#;
    let prepared = || {
        let fixture = repository();
        fixture.put("list.py", list);
        git(
            &fixture,
            &format!("git init -q ../outside/other && cd ../outside/other && {COMMIT} o && git repack -qad"),
        );
        git(&fixture, "git repack -qad");
        fixture
    };
    let packs = |fixture: &Fixture| git(fixture, "ls ../outside/other/.git/objects/pack").lines().count();
    let script = |fixture: &Fixture| {
        let pack = git(fixture, "basename ../outside/other/.git/objects/pack/*.idx");
        let list = ".git/objects/pack/multi-pack-index";
        let name = format!("../../../../outside/other/.git/objects/pack/{}", pack.trim());
        format!("git multi-pack-index write && python3 list.py {list} {name} && mv -f {list}.new {list}")
    };
    let trigger = "git multi-pack-index expire";
    let plain = prepared();
    let all = packs(&plain);
    git(&plain, &script(&plain));
    git(&plain, trigger);
    assert!(packs(&plain) < all, "control");
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, &script(&fixture)).unwrap();
        assert_eq!(response.exit_code, 0, "{layered:?}: {response:?}");
        let warned = response.warnings.join("\n");
        assert!(warned.contains("`.git/objects/pack/multi-pack-index`"), "{layered:?}: {warned}");
        shell(&fixture.root(), trigger);
        assert_eq!(packs(&fixture), all, "{layered:?}: {warned}");
        // The one that git writes is kept.
        let response = run(&workspace, "git multi-pack-index write").unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        git(&fixture, "git multi-pack-index verify && git fsck");
    }
}

/// A repository without a `.git`, with a working tree in which a rebase stopped at its first commit.
fn bare_with_a_rebase() -> Fixture {
    let fixture = Fixture::new();
    git(
        &fixture,
        &format!(
            "git init -q --bare -b main store && git -C store worktree add -q --orphan -b main ../tree && cd tree && \
             echo 1 > file && git add file && {COMMIT} one && echo 2 > file && git add file && {COMMIT} two && \
             echo 3 > file && git add file && {COMMIT} three && GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' \
             git -c user.name=u -c user.email=u@x rebase -q -i HEAD~2"
        ),
    );
    fixture
}

#[test]
fn rebase_in_a_working_tree_of_a_bare_repository_gets_no_command() {
    let todo = "store/worktrees/tree/rebase-merge/git-rebase-todo";
    let steps = |fixture: &Fixture| format!("exec touch {}\n", fixture.outside().join("canary").display());
    let canary = |fixture: &Fixture| fixture.outside().join("canary").exists();
    let trigger = "cd tree && git -c user.name=u -c user.email=u@x rebase --continue";
    let plain = bare_with_a_rebase();
    plain.put(todo, steps(&plain));
    shell(&plain.root(), trigger);
    assert!(canary(&plain), "control");
    for layered in LAYERS {
        let fixture = bare_with_a_rebase();
        let workspace = fixture.open_layered(layered);
        let before = fixture.text(todo);
        let warned =
            run(&workspace, &format!("echo '{}' > {todo}", steps(&fixture))).unwrap().warnings.join("\n");
        assert!(warned.contains(&format!("`{todo}`")), "{layered:?}: {warned}");
        assert!(change(&workspace, write(todo, &steps(&fixture))).is_err(), "{layered:?}");
        for name in ["store/worktrees/tree/gitdir", "store/remotes/origin", "store/branches/origin"] {
            assert!(change(&workspace, write(name, "/x\n")).is_err(), "{name} ({layered:?})");
        }
        assert_eq!(fixture.text(todo), before, "{layered:?}");
        // Steps that only move commits are what git writes itself.
        let warned = run(&workspace, &format!("sed -i s/^pick/p/ {todo}")).unwrap().warnings;
        assert!(
            warned.len() == 1 && warned[0].starts_with("leaves work of git unfinished"),
            "{layered:?}: {warned:?}"
        );
        git(&fixture, trigger);
        assert!(!canary(&fixture), "{layered:?}");
    }
    // Elsewhere they are names like any other.
    let fixture = repository();
    change(&fixture.open(), write("notes/git-rebase-todo", "exec x\n")).unwrap();
}

#[test]
fn other_programs_obey_nothing_in_gits_folder() {
    // A widespread setting puts this on the path, so that a repository with a folder `.git/safe` is trusted.
    let trigger = "PATH=.git/safe/../../bin:$PATH evil";
    let script = "mkdir .git/safe bin; printf '#!/bin/sh\\ntouch ../outside/canary\\n' > bin/evil; chmod +x bin/evil; \
                  echo 'git: {}' > .git/lazygit.yml; mkdir .git/gitweb; echo x > .git/gitweb/httpd.conf; \
                  echo x > .git/description";
    let plain = repository();
    git(&plain, script);
    shell(&plain.root(), trigger);
    assert!(plain.outside().join("canary").exists(), "control");
    for layered in LAYERS {
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        shell(&fixture.root(), trigger);
        assert!(!fixture.outside().join("canary").exists(), "{layered:?}: {warned}");
        for name in [".git/lazygit.yml", ".git/gitweb/httpd.conf"] {
            assert!(warned.contains(&format!("`{name}`")), "{name} ({layered:?}): {warned}");
            assert!(!fixture.root().join(name).exists(), "{name} ({layered:?})");
        }
        assert_eq!(fixture.text(".git/description").as_deref(), Some("x\n"), "the control: {layered:?}");
    }
}

#[test]
fn hook_gets_no_other_name_to_which_git_writes() {
    // Git writes the message of a commit in place, and begins with this file.
    let script = "ln -f sub/.git/hooks/post-commit sub/.git/COMMIT_EDITMSG; \
                  echo 'touch ../../outside/canary' > sub/.git/MERGE_MSG";
    let edited = COMMIT.trim_end_matches(" -m");
    let trigger = format!("cd sub; GIT_EDITOR=true {edited}; {COMMIT} two");
    let prepared = || {
        let fixture = repository();
        fixture.put("sub/.git/hooks/post-commit", "#!/bin/sh\n");
        git(
            &fixture,
            &format!("git init -q -b main sub; chmod +x sub/.git/hooks/post-commit; cd sub; {COMMIT} one"),
        );
        fixture
    };
    let canary = |fixture: &Fixture| fixture.outside().join("canary").exists();
    let plain = prepared();
    git(&plain, script);
    let printed = shell(&plain.root(), &trigger);
    assert!(canary(&plain), "control: {printed:?}");
    for layered in LAYERS {
        // The second time with a file that has the content of the hook already.
        for before in ["true", "cp sub/.git/hooks/post-commit sub/.git/COMMIT_EDITMSG"] {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            run(&workspace, before).unwrap();
            let warned = run(&workspace, script).unwrap().warnings.join("\n");
            let printed = shell(&fixture.root(), &trigger);
            assert!(!canary(&fixture), "{layered:?}: {before}: {warned}: {printed:?}");
            assert_eq!(
                fixture.text("sub/.git/hooks/post-commit").as_deref(),
                Some("#!/bin/sh\n"),
                "{layered:?}"
            );
            // A layer has no links to the folder below it.
            let is_refused = warned.contains("`sub/.git/hooks/post-commit`");
            assert_eq!(is_refused, matches!(layered, Layered::No), "{layered:?}: {before}: {warned}");
        }
    }
}
