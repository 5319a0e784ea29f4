//! Folders on a layer, build folders among them, are renamed and removed as on an ordinary file system.

use std::fs;

use sandbox_exec::LayerMount;

use super::{layered, renew};
use crate::fixture::{Fixture, stderr, stdout};

/// Makes the user's folders under the layer: a folder of code with a subfolder, and a build folder in a package.
fn with_folders(fixture: &Fixture) {
    let workspace = fixture.workspace();
    for name in ["src/deep/er", "package/target/debug", "empty"] {
        fs::create_dir_all(workspace.join(name)).unwrap();
    }
    for name in ["src/a", "src/deep/b", "src/deep/er/c", "package/target/debug/program", "package/code"] {
        fs::write(workspace.join(name), name).unwrap();
    }
    std::os::unix::fs::symlink("a", workspace.join("src/link")).unwrap();
}

/// Runs a body with the network on and off, on a layer through which the build folder shows.
fn on_a_layer(body: impl Fn(&mut Fixture)) {
    for network in [false, true] {
        let mut fixture = layered();
        with_folders(&fixture);
        fixture.policy.network =
            if network { sandbox_exec::NetworkPolicy::Host } else { sandbox_exec::NetworkPolicy::Off };
        renew_with_build_folder(&mut fixture, 0);
        body(&mut fixture);
    }
}

/// Gives the policy a new layer, through which the build folder shows.
fn renew_with_build_folder(fixture: &mut Fixture, number: usize) {
    renew(fixture, &format!("layer{number}"));
    let layer: LayerMount = fixture.policy.layer.clone().unwrap();
    fixture.policy.layer = Some(layer.with_uncovered(vec![fixture.workspace().join("package/target")]));
}

fn succeeds(fixture: &Fixture, text: &str, expected: &str) {
    let outcome = fixture.run(text);
    assert!(outcome.ending.is_success(), "{text}: {}{}", stdout(&outcome), stderr(&outcome));
    assert_eq!(stdout(&outcome), expected, "{text}: {}", stderr(&outcome));
}

const RENAMES: [(&str, &str); 10] = [
    ("os.rename('src', 'lib')", "lib/a lib/deep/b lib/deep/er/c lib/link"),
    ("os.rename('src/', 'empty')", "empty/a empty/deep/b empty/deep/er/c empty/link"),
    (
        "os.rename('src/deep', 'deep'); os.rename('deep', 'src/deep')",
        "src/a src/deep/b src/deep/er/c src/link",
    ),
    (
        "os.mkdir('new'); os.rename('src', 'new/src')",
        "new/src/a new/src/deep/b new/src/deep/er/c new/src/link",
    ),
    ("os.mkdir('src/new'); os.rename('src', 'lib')", "lib/a lib/deep/b lib/deep/er/c lib/link"),
    (
        "d = os.open('src', os.O_RDONLY); os.rename('deep', 'other', src_dir_fd=d)",
        "other/b other/er/c src/a src/link",
    ),
    ("os.rename('src', 'src/deep/in')", "OSError 22"),
    ("os.rename('src', 'package')", "OSError 39"),
    ("os.rename('src', 'package/code')", "NotADirectoryError"),
    ("os.rename('src/a', 'empty')", "IsADirectoryError"),
];

#[test]
fn folders_are_renamed_as_without_a_layer() {
    for (call, expected) in RENAMES {
        let show = "import os
try:
    CALL
    print(*sorted(os.path.join(f, n) for f, d, ns in os.walk('.') for n in ns if 'package' not in f))
except OSError as error:
    print(type(error).__name__, error.errno, sorted(os.listdir('src')))";
        let text = format!("cat > .show.py <<'END'\n{}\nEND\npython3 .show.py", show.replace("CALL", call));
        let fixture = layered();
        with_folders(&fixture);
        let on_layer = stdout(&fixture.run(&text));
        assert!(fixture.workspace().join("src/deep/er/c").exists(), "{call}: the lower folder was changed");
        let mut plain = Fixture::contained();
        with_folders(&plain);
        plain.policy.layer = None;
        let without = stdout(&plain.run(&text));
        assert_eq!(on_layer, without, "{call}");
        let printed = without.replace("./", "").replace(".show.py ", "");
        let is_right =
            printed.trim_end() == expected || printed.starts_with(expected.split(' ').next().unwrap());
        assert!(is_right, "{call}: {printed}");
    }
}

#[test]
fn a_renamed_folder_keeps_its_permissions_times_and_attributes() {
    let fixture = layered();
    with_folders(&fixture);
    let text = "chmod 751 src/deep; touch -d 2001-02-03 src/deep; \
        python3 -c \"import os; os.setxattr('src/deep', 'user.x', b'y')\" 2>/dev/null || attributes=no; \
        stat -c '%a %Y' src/deep > before; \
        python3 -c \"import os; os.rename('src', 'lib')\" && stat -c '%a %Y' lib/deep | cmp - before && \
        python3 -c \"import os; assert os.environ.get('A') or os.getxattr('lib/deep', 'user.x') == b'y'\" && cat lib/deep/er/c";
    succeeds(&fixture, &format!("A=$attributes; {text}"), "src/deep/er/c");
}

#[test]
fn git_moves_folders() {
    for is_layered in [true, false] {
        let mut fixture = layered();
        with_folders(&fixture);
        if !is_layered {
            fixture.policy.layer = None;
        }
        fixture.policy = fixture.policy.clone().with_git_writable();
        let text =
            "git init -q . && git add src && git commit -qm x && git mv src lib && git status --short -uno";
        succeeds(
            &fixture,
            text,
            "R  src/a -> lib/a\nR  src/deep/b -> lib/deep/b\nR  src/deep/er/c -> lib/deep/er/c\nR  src/link -> lib/link\n",
        );
    }
}

#[test]
fn a_build_folder_is_removed_and_made_anew() {
    on_a_layer(|fixture| {
        let target = fixture.workspace().join("package/target");
        let text = "rm -rf package/target && test ! -e package/target && mkdir package/target && \
                    echo new > package/target/new && ls package/target";
        succeeds(fixture, text, "new\n");
        // Its contents were removed at once, as without a layer; the rest is on the layer.
        assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
        let upper = fixture.root().join("layer0/upper/package/target/new");
        assert_eq!(fs::read_to_string(upper).unwrap(), "new\n");
    });
}

#[test]
fn a_build_folder_is_renamed_alone_and_with_its_package() {
    on_a_layer(|fixture| {
        let rename = |old: &str, new: &str| format!("python3 -c \"import os; os.rename('{old}', '{new}')\"");
        let text = format!("{} && ls package && cat old/debug/program", rename("package/target", "old"));
        succeeds(fixture, &text, "code\npackage/target/debug/program");
    });
    on_a_layer(|fixture| {
        let text = "python3 -c \"import os; os.rename('package', 'moved')\" && cat moved/code moved/target/debug/program";
        succeeds(fixture, text, "package/codepackage/target/debug/program");
    });
}

#[test]
fn a_build_folder_that_holds_something_stays_and_is_written_through() {
    on_a_layer(|fixture| {
        let text = "rmdir package/target; mv -T src package/target; echo x > package/target/kept";
        let outcome = fixture.run(text);
        assert_eq!(stderr(&outcome).matches("busy").count(), 2, "{}", stderr(&outcome));
        assert!(fixture.workspace().join("package/target/kept").exists());
    });
}

#[test]
fn git_cleans_what_it_ignores() {
    on_a_layer(|fixture| {
        let text = "git init -q . && echo target/ > .gitignore && git add . && git clean -qxfd && test ! -e package/target";
        succeeds(fixture, text, "");
    });
}

#[test]
fn no_other_mount_is_taken_off() {
    on_a_layer(|fixture| {
        let workspace = fixture.workspace();
        fs::create_dir(workspace.join("state")).unwrap();
        fs::write(workspace.join("state/secret"), "secret").unwrap();
        fixture.policy.hidden = vec![workspace.join("state")];
        fixture.policy.read_only = vec![workspace.join("src")];
        let tries = [
            "rmdir state",
            "mv state other",
            "python3 -c \"import os; os.rename('state', 'other')\"",
            "python3 -c \"import os; os.rename('src', 'other')\"",
            "rmdir /tmp",
            "rmdir /proc",
            "rmdir /dev/shm",
        ];
        for (number, text) in tries.into_iter().enumerate() {
            renew_with_build_folder(fixture, number);
            let outcome =
                fixture.run(&format!("{text}; code=$?; cat state/secret; ls -d state src; exit $code"));
            assert!(!outcome.ending.is_success(), "{text}");
            assert_eq!(stdout(&outcome), "src\nstate\n", "{text}: {}", stderr(&outcome));
        }
        // The control: the build folder is unmounted.
        renew_with_build_folder(fixture, tries.len());
        succeeds(fixture, "rm -r package/target", "");
    });
}

#[test]
fn no_mount_is_taken_off_with_a_build_folder() {
    let renames = ["package/target", "package"]
        .map(|folder| format!("python3 -c \"import os; os.rename('{folder}', 'other')\""));
    let looks = "cat package/target/state/secret other/state/secret other/target/state/secret 2>/dev/null; \
                 echo x > package/target/locked/file; test -e package/target/debug/program && exit $code";
    on_a_layer(|fixture| {
        let target = fixture.workspace().join("package/target");
        for name in ["state", "locked"] {
            fs::create_dir(target.join(name)).unwrap();
        }
        fs::write(target.join("state/secret"), "secret").unwrap();
        fs::write(target.join("locked/file"), "kept").unwrap();
        let protections: [(Vec<&str>, Vec<&str>); 2] =
            [(vec!["state"], vec!["locked"]), (vec![], vec!["locked"])];
        let mut number = 0;
        for (hidden, read_only) in protections {
            fixture.policy.hidden = hidden.iter().map(|name| target.join(name)).collect();
            fixture.policy.read_only = read_only.iter().map(|name| target.join(name)).collect();
            for rename in &renames {
                number += 1;
                renew_with_build_folder(fixture, number);
                let outcome = fixture.run(&format!("{rename}; code=$?; {looks}"));
                assert!(!outcome.ending.is_success(), "{rename}: {}", stderr(&outcome));
                let expected = if hidden.is_empty() { "secret" } else { "" };
                assert_eq!(stdout(&outcome), expected, "{rename}: {}", stderr(&outcome));
                assert_eq!(fs::read_to_string(target.join("locked/file")).unwrap(), "kept", "{rename}");
            }
        }
        // The control: without hidden or protected paths in it, it can be renamed.
        fixture.policy.hidden.clear();
        fixture.policy.read_only.clear();
        renew_with_build_folder(fixture, number + 1);
        succeeds(fixture, &format!("{} && cat other/state/secret", renames[0]), "secret");
    });
}

/// Tries to end a process, to read its memory, to list and to take its descriptors; prints what worked.
const REACH: &str = "import ctypes, os, signal, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def tries(pid):
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    pidfd = libc.syscall(434, pid, 0)
    yield 'memory', lambda: open(f'/proc/{pid}/mem', 'r+b')
    yield 'descriptors', lambda: os.listdir(f'/proc/{pid}/fd')
    yield 'root', lambda: os.listdir(f'/proc/{pid}/root')
    yield 'environment', lambda: open(f'/proc/{pid}/environ').read()
    yield 'taken', lambda: check(libc.syscall(438, pidfd, 3, 0) >= 0)
    yield 'vector', lambda: check(libc.syscall(311, pid, vector, 1, vector, 1, 0) >= 0)
    yield 'traced', lambda: check(libc.ptrace(16, pid, 0, 0) == 0)
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        yield number.name, lambda: os.kill(pid, number)
def check(done):
    if not done: raise PermissionError
def reached(pid):
    for name, attempt in tries(pid):
        try: attempt()
        except OSError: continue
        yield name
mine = {os.getpid(), os.getppid()}
others = [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) not in mine]
print(len(others), *(name for pid in others for name in reached(pid)))
child = subprocess.Popen(['sleep', '100'])
print(*reached(child.pid))
child.wait()
";

#[test]
fn processes_alongside_the_command_are_out_of_reach() {
    on_a_layer(|fixture| {
        fs::write(fixture.workspace().join("reach.py"), REACH).unwrap();
        let outcome = fixture.run("python3 reach.py; rm -r package/target && ls package");
        let text = stdout(&outcome);
        let (reached, rest) = text.split_once('\n').unwrap();
        // Init, the supervisor and the unmounter.
        assert_eq!(reached, "3", "{}", stderr(&outcome));
        // The control: a process of the command's own is reached in these ways.
        assert_eq!(
            rest,
            "memory descriptors root environment SIGSTOP SIGTERM SIGKILL\ncode\n",
            "{}",
            stderr(&outcome)
        );
    });
}
