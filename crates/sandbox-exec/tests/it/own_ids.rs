//! Commands of root are root inside and a user without rights outside.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;

use sandbox_exec::{LayerMount, Level};

use crate::fixture::{CANARY, Fixture, stderr, stdout};

/// A fixture of root with a user for commands; `None` if the tests are not run by root.
fn fixture_of_root() -> Option<Fixture> {
    if !rustix::process::geteuid().is_root() {
        println!("not run by root: nothing is claimed about it");
        return None;
    }
    let fixture = Fixture::contained();
    let report = fixture.launcher.report();
    assert_eq!(report.level, Level::Full, "{report}");
    assert!(!has_no_own_ids(&fixture), "not run: {report}");
    Some(fixture)
}

fn has_no_own_ids(fixture: &Fixture) -> bool {
    fixture.launcher.report().missing.iter().any(|missing| missing.starts_with("user for commands of root"))
}

/// A file that only root may read, in a folder that every command sees; removed when dropped.
struct SystemFile(PathBuf);

impl SystemFile {
    fn make() -> SystemFile {
        let path = PathBuf::from(format!("/usr/local/share/{}", crate::fixture::marker()));
        fs::write(&path, CANARY).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        SystemFile(path)
    }
}

impl Drop for SystemFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn root_inside_is_a_user_without_rights_outside() {
    let Some(fixture) = fixture_of_root() else { return };
    let outcome = fixture.run("id -u; id -g; id -G; cat /proc/self/uid_map /proc/self/gid_map");
    let said = stdout(&outcome);
    let mut lines = said.lines();
    assert_eq!([lines.next(), lines.next(), lines.next()], [Some("0"); 3], "{said}");
    let roots: Vec<&str> = lines.filter(|line| line.trim_start().starts_with("0 ")).collect();
    assert_eq!(roots.len(), 2, "{said}");
    for root in roots {
        let outside: u32 = root.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(outside > 65_536, "{said}");
    }
}

#[test]
fn what_only_root_may_read_or_write_in_system_folders_is_refused() {
    let Some(fixture) = fixture_of_root() else { return };
    let file = SystemFile::make();
    let text = format!("cat {0}; echo x >> {0}; chmod 666 {0}; stat -c %a {0}", file.0.display());
    let outcome = fixture.run(&text);
    assert_eq!(stdout(&outcome), "600\n", "{}", stderr(&outcome));
    assert_eq!(fs::read_to_string(&file.0).unwrap(), CANARY);
    // The control: as itself, root reads it.
    let outcome = Fixture::at_level(Level::Process).run(&format!("cat {}", file.0.display()));
    assert_eq!(stdout(&outcome), CANARY);
}

#[test]
fn files_of_the_workspace_keep_their_owners_with_and_without_a_layer() {
    let Some(mut fixture) = fixture_of_root() else { return };
    let workspace = fixture.workspace();
    for (name, owner, mode) in
        [("own", 0, 0o600), ("theirs", 1000, 0o644), ("open", 1000, 0o666), ("closed", 1000, 0o600)]
    {
        fs::write(workspace.join(name), name).unwrap();
        chown(workspace.join(name), Some(owner), Some(owner)).unwrap();
        fs::set_permissions(workspace.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let text = "stat -c '%n %u %g' own theirs; cat own theirs; cat closed; echo x >> own; echo x >> open; \
                echo x >> theirs; echo x > made; mkdir -p folder/inner; ln -s own link; mkfifo pipe; \
                git init -q . && git add own made && git commit -q -m first && git status --short | head -1; \
                echo to-stdout > /dev/stdout; echo to-stderr > /dev/stderr";
    let owners = |folder: &PathBuf, names: &[&str]| -> Vec<(u32, u32)> {
        let owner = |name: &&str| {
            fs::symlink_metadata(folder.join(name)).map(|metadata| (metadata.uid(), metadata.gid()))
        };
        names.iter().map(|name| owner(name).unwrap()).collect()
    };
    let made = ["own", "made", "folder", "folder/inner", "link", "pipe", ".git", ".git/HEAD"];
    let outside = fixture.root().join("layers");
    for (upper, work) in
        [(outside.join("upper"), outside.join("work")), (workspace.join(".l/u"), workspace.join(".l/w"))]
    {
        fs::create_dir_all(&upper).unwrap();
        fs::create_dir_all(&work).unwrap();
        fixture.policy.layer = Some(LayerMount::new(workspace.clone(), upper.clone(), work));
        let policy = std::mem::replace(&mut fixture.policy, sandbox_exec::Policy::for_workspace(&workspace));
        fixture.policy = policy.with_git_writable();
        let outcome = fixture.run(text);
        let expected = "own 0 0\ntheirs 1000 1000\nowntheirs?? closed\nto-stdout\n";
        assert_eq!(stdout(&outcome), expected, "{}", stderr(&outcome));
        assert!(stderr(&outcome).contains("to-stderr"), "{}", stderr(&outcome));
        assert_eq!(owners(&upper, &made), [(0, 0); 8]);
        assert_eq!(owners(&upper, &["open"]), [(1000, 1000)]);
        assert!(!upper.join("theirs").exists(), "the command could change another user's file");
        fs::remove_dir_all(workspace.join(".l")).ok();
    }
    fixture.policy = sandbox_exec::Policy::for_workspace(&workspace);
    let outcome = fixture.run(text);
    assert!(stdout(&outcome).starts_with("own 0 0\ntheirs 1000 1000\nowntheirs"), "{}", stderr(&outcome));
    assert_eq!(owners(&workspace, &made), [(0, 0); 8]);
    assert_eq!(owners(&workspace, &["theirs", "open", "closed"]), [(1000, 1000); 3]);
    assert_eq!(fs::read_to_string(workspace.join("theirs")).unwrap(), "theirs");
    assert_eq!(fs::read_to_string(workspace.join("open")).unwrap(), "openx\n");
}

#[test]
fn a_folder_that_cannot_map_owners_is_worked_with_as_root_and_the_report_says_so() {
    let Some(mut fixture) = fixture_of_root() else { return };
    // `/proc` cannot map owners: use a folder of it as a cache.
    assert_eq!(
        stdout(&fixture.run("cut -d: -f2 /dev/null; awk 'NR == 1 { print ($2 > 0) }' /proc/self/uid_map")),
        "1\n"
    );
    fixture.policy.writable.push("/proc/sys/net".into());
    let outcome = fixture.run("awk 'NR == 1 { print $2 }' /proc/self/uid_map; id -u");
    assert_eq!(stdout(&outcome), "0\n0\n", "{}", stderr(&outcome));
    assert!(has_no_own_ids(&fixture), "{}", fixture.launcher.report());
    assert_eq!(fixture.launcher.report().level, Level::Full);
}
