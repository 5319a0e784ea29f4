//! Choosing a root, and its life cycle.

use std::fs;
use std::path::Path;

use sandbox_fs::{
    Expected, FileMode, FileRoot, FsError, FsPolicy, ResolveMethod, RootError, RootRules, WalkLimits,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::fixture::{METHODS, Sandbox, path};

#[test]
fn forbidden_folders_are_refused() {
    let sandbox = Sandbox::new();
    let home = sandbox.at("home/user");
    fs::create_dir_all(home.join("project")).unwrap();
    fs::create_dir_all(sandbox.at(".Agentd/layers/1")).unwrap();
    sandbox.link("alias", "home/user");
    let rules = RootRules { home: Some(sandbox.at("alias")), ..RootRules::default() };
    let open = |path: &Path| FileRoot::open(path, &rules, FsPolicy::default());
    assert!(matches!(open(Path::new("/")), Err(RootError::FileSystemRoot)));
    assert!(matches!(open(&sandbox.at("../../../../../../..")), Err(RootError::FileSystemRoot)));
    assert!(matches!(open(&home), Err(RootError::Home)));
    assert!(matches!(open(&sandbox.at("home")), Err(RootError::AboveHome)));
    assert!(matches!(open(&sandbox.at(".Agentd")), Err(RootError::StateFolder)));
    assert!(matches!(open(&sandbox.at(".Agentd/layers/1")), Err(RootError::StateFolder)));
    assert!(matches!(open(&sandbox.at("nope")), Err(RootError::Io(_))));
    sandbox.file("file", "");
    assert!(matches!(open(&sandbox.at("file")), Err(RootError::NotAFolder)));
    assert!(open(&home.join("project")).is_ok());
}

#[test]
fn a_root_given_as_a_link_is_resolved_once() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    let link = sandbox.top().join("link");
    std::os::unix::fs::symlink(sandbox.workspace(), &link).unwrap();
    let root = FileRoot::open(&link, &RootRules::default(), FsPolicy::default()).unwrap();
    assert_eq!(root.path().unwrap(), sandbox.workspace().canonicalize().unwrap());
    for spelling in [&link, &sandbox.workspace()] {
        let text = spelling.join("a.txt");
        assert_eq!(root.parse_path(text.to_str().unwrap()).unwrap(), path("a.txt"));
    }
    fs::remove_file(&link).unwrap();
    assert!(root.open_file(&path("a.txt")).is_ok());
}

#[test]
fn a_root_follows_a_move_and_detects_deletion() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("a.txt", "x");
        let root = sandbox.root(method);
        let moved = sandbox.top().join("moved");
        fs::rename(sandbox.workspace(), &moved).unwrap();
        root.stage(&path("b.txt"), b"y", FileMode::Keep).unwrap().publish(Expected::Absent).unwrap();
        assert!(moved.join("b.txt").exists());

        fs::create_dir(sandbox.workspace()).unwrap();
        let gone = FsError::RootGone { replaced: true };
        assert_eq!(root.open_file(&path("a.txt")).unwrap_err(), gone, "{method}");
        assert_eq!(root.stage(&path("c"), b"", FileMode::Keep).unwrap_err(), gone);
        fs::remove_dir(sandbox.workspace()).unwrap();
        assert!(root.open_file(&path("a.txt")).is_ok());

        fs::remove_dir_all(&moved).unwrap();
        let gone = FsError::RootGone { replaced: false };
        assert_eq!(root.list(&path(".")).unwrap_err(), gone);
        assert_eq!(root.metadata(&path("a.txt")).unwrap_err(), gone);
    }
}

#[test]
fn a_subfolder_is_a_separate_root() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file(".agentd/inbox/1.txt", "x");
        sandbox.file("a.txt", "x");
        sandbox.link(".agentd/link", "inbox");
        let root = sandbox.root(method);
        let inbox = root.subfolder(&path(".agentd/inbox"), FsPolicy::private()).unwrap();
        assert_eq!(inbox.method(), method);
        assert_eq!(inbox.open_file(&path("1.txt")).unwrap().read_to_end(9).unwrap(), b"x");
        inbox.stage(&path("2.txt"), b"y", FileMode::Keep).unwrap().publish(Expected::Absent).unwrap();
        sandbox.link(".agentd/inbox/up", "../../a.txt");
        assert!(matches!(inbox.open_file(&path("up")), Err(FsError::IsLink { target: None, .. })));
        assert!(inbox.path().is_none());
        assert!(matches!(
            root.subfolder(&path(".agentd/link"), FsPolicy::private()),
            Err(FsError::IsLink { .. })
        ));
        assert!(matches!(
            root.subfolder(&path("a.txt"), FsPolicy::private()),
            Err(FsError::NotAFolder { .. })
        ));
    }
}

#[test]
fn a_handle_of_a_file_is_refused_as_a_root() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    let file = fs::File::open(sandbox.at("a.txt")).unwrap();
    assert!(matches!(FileRoot::from_handle(file.into(), FsPolicy::default()), Err(RootError::NotAFolder)));
    let folder = fs::File::open(sandbox.workspace()).unwrap();
    let root = FileRoot::from_handle(folder.into(), FsPolicy::default()).unwrap();
    assert!(root.open_file(&path("a.txt")).is_ok());
}

#[test]
fn openat2_is_used_if_the_kernel_has_it() {
    let sandbox = Sandbox::new();
    let root = FileRoot::open(&sandbox.workspace(), &RootRules::default(), FsPolicy::default()).unwrap();
    let resolve_flags = rustix::fs::ResolveFlags::BENEATH;
    let flags = rustix::fs::OFlags::PATH;
    let probe = rustix::fs::openat2(&root, ".", flags, rustix::fs::Mode::empty(), resolve_flags);
    let expected = if probe.is_ok() { ResolveMethod::Openat2 } else { ResolveMethod::Walker };
    assert_eq!(root.method(), expected);
}

/// The number of `openat2` on every processor that Linux runs on.
const OPENAT2: i64 = 437;

/// Makes `openat2` fail in this thread, as old kernels and some containers do.
fn forbid_openat2(errno: u32) {
    let rules = [(OPENAT2, Vec::new())].into_iter().collect();
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), architecture);
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

#[test]
fn without_openat2_the_walker_takes_over() {
    for errno in [rustix::io::Errno::NOSYS, rustix::io::Errno::PERM] {
        let done = std::thread::spawn(move || {
            let sandbox = Sandbox::new();
            sandbox.file("d/a.txt", "x");
            sandbox.link("in", "d");
            sandbox.link("out", sandbox.outside());
            forbid_openat2(errno.raw_os_error().unsigned_abs());
            let root =
                FileRoot::open(&sandbox.workspace(), &RootRules::default(), FsPolicy::default()).unwrap();
            assert_eq!(root.method(), ResolveMethod::Walker);
            assert_eq!(root.open_file(&path("in/a.txt")).unwrap().path(), &path("d/a.txt"));
            assert!(matches!(root.open_file(&path("out/secret.txt")), Err(FsError::Escape { .. })));
            assert_eq!(root.walk(&path("."), WalkLimits::default()).unwrap().count(), 4);
            root.stage(&path("d/a.txt"), b"y", FileMode::Keep).unwrap().publish(Expected::Anything).unwrap();
            assert_eq!(sandbox.read("d/a.txt"), "y");
        });
        done.join().unwrap();
    }
}

#[test]
fn threads_may_share_a_root() {
    fn shared<T: Send + Sync>() {}
    shared::<FileRoot>();
    shared::<sandbox_fs::OpenFile>();
    shared::<sandbox_fs::Staged<'_>>();
}
