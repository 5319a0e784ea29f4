//! File systems without renames that never replace, and without hard links, as a system call filter imitates them.

use rustix::fs::inotify::{ReadFlags, WatchFlags};
use rustix::io::Errno;
use sandbox_fs::{ContentHash, Expected, FileMode, FsError, PublishMethod};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::fixture::{METHODS, Sandbox, path};
use crate::watching::Watch;

const RENAMEAT2: i64 = if cfg!(target_arch = "x86_64") { 316 } else { 276 };
const LINKAT: i64 = if cfg!(target_arch = "x86_64") { 265 } else { 37 };

/// Makes a system call with these rules fail in this thread.
fn forbid(call: i64, rules: Vec<SeccompRule>, errno: Errno) {
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let action = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    let rules = [(call, rules)].into_iter().collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture);
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

/// Runs `test` in a thread whose renames take no flags, and where hard links fail with `link_errno`.
fn without_flags(link_errno: Option<Errno>, test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let has_flags = SeccompCondition::new(4, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0).unwrap();
            forbid(RENAMEAT2, vec![SeccompRule::new(vec![has_flags]).unwrap()], Errno::INVAL);
            if let Some(errno) = link_errno {
                forbid(LINKAT, Vec::new(), errno);
            }
            test();
        });
    });
}

const NO_LINKS: [Option<Errno>; 3] = [Some(Errno::PERM), Some(Errno::OPNOTSUPP), Some(Errno::NOSYS)];

#[test]
fn a_file_is_taken_away_in_one_step() {
    without_flags(None, || {
        let sandbox = Sandbox::new();
        sandbox.file("a.txt", "x");
        let root = sandbox.root(METHODS[0]);
        let watch = Watch::of(&sandbox.workspace(), WatchFlags::MOVED_FROM | WatchFlags::DELETE);
        root.remove_file(&path("a.txt"), Some(&ContentHash::of(b"x"))).unwrap();
        // Had it been deleted under this name, a file that was saved under it meanwhile would have been, too.
        let of_name: Vec<_> = watch.events().into_iter().filter(|(_, name)| name == "a.txt").collect();
        assert_eq!(of_name, [(ReadFlags::MOVED_FROM, "a.txt".to_owned())]);
        assert!(sandbox.leftovers().is_empty());
    });
}

#[test]
fn an_unexpected_file_gets_its_name_back() {
    for links in [None].into_iter().chain(NO_LINKS) {
        without_flags(links, || {
            let sandbox = Sandbox::new();
            sandbox.file("a.txt", "theirs");
            let root = sandbox.root(METHODS[0]);
            let error = root.remove_file(&path("a.txt"), Some(&ContentHash::of(b"x"))).unwrap_err();
            assert_eq!(error, FsError::Changed { path: path("a.txt") });
            assert_eq!(sandbox.read("a.txt"), "theirs");
            assert!(sandbox.leftovers().is_empty());
        });
    }
}

#[test]
fn files_are_created_and_removed_without_hard_links() {
    for (links, method) in [
        (None, PublishMethod::New),
        (NO_LINKS[0], PublishMethod::CheckedThenRenamed),
        (NO_LINKS[1], PublishMethod::CheckedThenRenamed),
        (NO_LINKS[2], PublishMethod::CheckedThenRenamed),
    ] {
        without_flags(links, || {
            let sandbox = Sandbox::new();
            let root = sandbox.root(METHODS[0]);
            let stage = || root.stage(&path("a.txt"), b"ours", FileMode::Keep).unwrap();
            let (first, second) = (stage(), stage());
            assert_eq!(first.publish(Expected::Absent).unwrap().method, method);
            sandbox.file("a.txt", "theirs");
            let taken = second.publish(Expected::Absent).unwrap_err();
            assert_eq!(taken, FsError::AlreadyExists { path: path("a.txt") });
            assert_eq!(sandbox.read("a.txt"), "theirs");
            root.remove_file(&path("a.txt"), Some(&ContentHash::of(b"theirs"))).unwrap();
            assert_eq!(std::fs::read_dir(sandbox.workspace()).unwrap().count(), 0);
        });
    }
}

#[test]
fn a_move_replaces_nothing_and_takes_its_source_away_in_one_step() {
    for links in [None, NO_LINKS[0]] {
        without_flags(links, || {
            let sandbox = Sandbox::new();
            sandbox.file("a.txt", "x");
            sandbox.file("taken.txt", "theirs");
            let root = sandbox.root(METHODS[0]);
            let taken = root.rename_noreplace(&path("a.txt"), &root, &path("taken.txt")).unwrap_err();
            assert_eq!(taken, FsError::AlreadyExists { path: path("taken.txt") });
            assert_eq!((sandbox.read("a.txt"), sandbox.read("taken.txt")), ("x".into(), "theirs".into()));
            let watch = Watch::of(&sandbox.workspace(), WatchFlags::MOVED_FROM | WatchFlags::DELETE);
            root.rename_noreplace(&path("a.txt"), &root, &path("b.txt")).unwrap();
            let of_name: Vec<_> = watch.events().into_iter().filter(|(_, name)| name == "a.txt").collect();
            assert_eq!(of_name, [(ReadFlags::MOVED_FROM, "a.txt".to_owned())]);
            assert_eq!(sandbox.read("b.txt"), "x");
            assert_eq!(std::fs::read_dir(sandbox.workspace()).unwrap().count(), 2);
        });
    }
}

#[test]
fn an_entry_that_is_in_use_and_no_mount_point_is_refused_as_in_use() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let sandbox = Sandbox::new();
            sandbox.file("a.txt", "x");
            let root = sandbox.root(METHODS[0]);
            let staged = root.stage(&path("a.txt"), b"y", FileMode::Keep).unwrap();
            forbid(RENAMEAT2, Vec::new(), Errno::BUSY);
            let in_use = FsError::InUse { path: path("a.txt") };
            let expected = ContentHash::of(b"x");
            assert_eq!(staged.publish(Expected::Content(expected)).unwrap_err(), in_use);
            assert!(!in_use.to_string().contains("folders keep changing"), "{in_use}");
            assert_eq!(sandbox.read("a.txt"), "x");
        });
    });
}
