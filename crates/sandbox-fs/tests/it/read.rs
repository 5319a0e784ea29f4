//! Reading: opening, following links, never blocking.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixListener;

use rel_path::PathError;
use rustix::fs::{CWD, FileType, Mode};
use sandbox_fs::{ContentHash, FileKind, FsError, FsPolicy, LinkEscape, LinkRule};

use crate::fixture::{CANARY, METHODS, Sandbox, path};

#[test]
fn links_out_of_the_root_are_refused() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("a.txt", "x");
        fs::create_dir(sandbox.at("d")).unwrap();
        sandbox.link("absolute", sandbox.outside().join("secret.txt"));
        sandbox.link("absolute-inside", sandbox.at("a.txt"));
        sandbox.link("up", "../outside/secret.txt");
        sandbox.link("d/up", "../../outside");
        sandbox.link("magic", "/proc/self/root");
        let root = sandbox.root(method);
        for (spelling, link, how) in [
            ("absolute", "absolute", LinkEscape::Absolute),
            ("absolute-inside", "absolute-inside", LinkEscape::Absolute),
            ("magic/etc/passwd", "magic", LinkEscape::Absolute),
            ("up", "up", LinkEscape::ClimbsOut),
            ("d/up/secret.txt", "d/up", LinkEscape::ClimbsOut),
        ] {
            let error = root.open_file(&path(spelling)).unwrap_err();
            assert_eq!(error, FsError::Escape { path: path(link), how }, "{method}: {spelling}");
            assert!(root.canonical_path(&path(spelling)).is_err());
        }
    }
}

#[test]
fn relative_links_that_stay_inside_are_read_through() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("d/e/a.txt", "x");
        sandbox.link("d/link", "e/../e/./a.txt");
        sandbox.link("to-d", "d/");
        let root = sandbox.root(method);
        for spelling in ["d/link", "to-d/link", "to-d/e/a.txt", "to-d/../d/e/a.txt", "./d//e/a.txt"] {
            assert_eq!(root.canonical_path(&path(spelling)).unwrap(), path("d/e/a.txt"));
            let file = root.open_file(&path(spelling)).unwrap();
            assert_eq!(file.path(), &path("d/e/a.txt"), "{method}: {spelling}");
            assert_eq!(file.read_to_end(10).unwrap(), b"x");
        }
    }
}

#[test]
fn parent_steps_start_from_the_resolved_folder() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("a/b/x.txt", "right");
        sandbox.file("x.txt", "wrong");
        sandbox.link("l", "a/b");
        let root = sandbox.root(method);
        // Textually `l/../x.txt` is `x.txt`; but `l` leads to `a/b`, and its parent `a` has no `x.txt`.
        assert_eq!(
            root.open_file(&path("l/../x.txt")).unwrap_err(),
            FsError::NotFound { path: path("a/x.txt") }
        );
        let error = root.open_file(&path("x.txt/../x.txt")).unwrap_err();
        assert_eq!(error, FsError::NotAFolder { path: path("x.txt") }, "{method}");
    }
}

#[test]
fn a_root_that_refuses_links_follows_none() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("d/a.txt", "x");
        sandbox.link("l", "d/a.txt");
        sandbox.link("e", "d");
        let root = sandbox.root_with(method, FsPolicy::default().with_links(LinkRule::Refuse));
        for (spelling, link) in [("l", "l"), ("e/a.txt", "e")] {
            let error = root.open_file(&path(spelling)).unwrap_err();
            assert_eq!(error, FsError::IsLink { path: path(link), target: None }, "{method}");
        }
        assert!(root.open_file(&path("d/a.txt")).is_ok());
        assert_eq!(root.metadata(&path("l")).unwrap().kind, FileKind::Link);
    }
}

#[test]
fn loops_and_long_chains_of_links_are_refused() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("a.txt", "x");
        sandbox.link("self", "self");
        sandbox.link("one", "two");
        sandbox.link("two", "one");
        sandbox.link("c1", "a.txt");
        for number in 2..=41 {
            sandbox.link(&format!("c{number}"), format!("c{}", number - 1));
        }
        let root = sandbox.root(method);
        for spelling in ["self", "one/x", "c41"] {
            assert_eq!(
                root.open_file(&path(spelling)).unwrap_err(),
                FsError::LinkLoop { path: path(spelling) }
            );
        }
        assert_eq!(root.open_file(&path("c40")).unwrap().path(), &path("a.txt"));
    }
}

#[test]
fn only_regular_files_are_opened() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.at("d")).unwrap();
        rustix::fs::mknodat(CWD, sandbox.at("p"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let _listener = UnixListener::bind(sandbox.at("s")).unwrap();
        let root = sandbox.root(method);
        for (spelling, kind) in [("d", FileKind::Folder), ("p", FileKind::Fifo), ("s", FileKind::Socket)] {
            let error = root.open_file(&path(spelling)).unwrap_err();
            assert_eq!(error, FsError::NotAFile { path: path(spelling), kind }, "{method}");
            assert_eq!(root.metadata(&path(spelling)).unwrap().kind, kind);
        }
        assert!(matches!(root.open_file(&path(".")), Err(FsError::NotAFile { kind: FileKind::Folder, .. })));
    }
}

#[test]
fn a_missing_file_or_folder_is_named() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("a.txt", "x");
        let root = sandbox.root(method);
        let error = |text: &str| root.open_file(&path(text)).unwrap_err();
        assert_eq!(error("nope.txt"), FsError::NotFound { path: path("nope.txt") });
        assert_eq!(error("no/pe/x"), FsError::ParentMissing { folder: path("no") });
        assert_eq!(error("a.txt/"), FsError::NotAFolder { path: path("a.txt") });
        assert_eq!(error("a.txt/x"), FsError::NotAFolder { path: path("a.txt") });
    }
}

#[test]
fn the_limit_is_checked_before_and_while_reading() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "0123456789");
    let root = sandbox.root(METHODS[0]);
    let file = root.open_file(&path("a.txt")).unwrap();
    let too_large = |bytes| FsError::TooLarge { path: path("a.txt"), bytes, limit_bytes: 9 };
    assert_eq!(file.read_to_end(9).unwrap_err(), too_large(10));
    assert_eq!(file.read_to_end(10).unwrap(), b"0123456789");

    sandbox.file("grows", "");
    let file = root.open_file(&path("grows")).unwrap();
    sandbox.file("grows", "0123456789");
    assert!(matches!(file.read_to_end(9), Err(FsError::TooLarge { bytes: 10, .. })));
}

#[test]
fn ranges_and_streams_read_the_same_file() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "0123456789");
    let root = sandbox.root(METHODS[0]);
    let mut file = root.open_file(&path("a.txt")).unwrap();
    let mut first = [0; 4];
    file.read_exact(&mut first).unwrap();
    assert_eq!(file.read_range(8, 100).unwrap(), b"89");
    assert_eq!(file.read_range(2, 3).unwrap(), b"234");
    assert_eq!(file.read_range(50, 3).unwrap(), b"");
    assert_eq!(file.content_hash().unwrap(), ContentHash::of(b"0123456789"));
    let mut rest = String::new();
    file.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "456789", "the stream continues where it was");
    fs::remove_file(sandbox.at("a.txt")).unwrap();
    assert_eq!(file.read_to_end(100).unwrap(), b"0123456789", "it stays the file that was opened");
}

#[test]
fn absolute_paths_under_the_root_are_accepted() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    let root = sandbox.root(METHODS[0]);
    let inside = sandbox.at("a.txt");
    assert_eq!(root.parse_path(inside.to_str().unwrap()).unwrap(), path("a.txt"));
    let evil = sandbox.top().join("workspace-evil/secret.txt");
    assert_eq!(root.parse_path(evil.to_str().unwrap()), Err(FsError::Path(PathError::Absolute)));
    assert_eq!(root.parse_path(""), Err(FsError::Path(PathError::Empty)));
    assert!(root.parse_folder_path("").unwrap().is_root());
}

#[test]
fn no_error_text_contains_the_path_of_the_root() {
    let sandbox = Sandbox::new();
    sandbox.link("l", sandbox.outside().join("secret.txt"));
    let root = sandbox.root(METHODS[0]);
    let top = sandbox.top().to_str().unwrap();
    let mut texts = vec![
        root.open_file(&path("l")).unwrap_err().to_string(),
        root.open_file(&path("nope/x")).unwrap_err().to_string(),
        root.parse_path(sandbox.outside().to_str().unwrap()).unwrap_err().to_string(),
        root.stage(&path("l"), b"", sandbox_fs::FileMode::Keep).unwrap_err().to_string(),
    ];
    fs::remove_dir_all(sandbox.workspace()).unwrap();
    texts.push(root.open_file(&path("l")).unwrap_err().to_string());
    assert_eq!(
        texts,
        [
            "`l` is a link that is absolute",
            "the folder `nope` does not exist",
            "the path is absolute and does not begin with the workspace folder",
            "`l` is a link that is absolute",
            "the workspace folder was deleted",
        ]
    );
    assert!(texts.iter().all(|text| !text.contains(top) && !text.contains(CANARY)));
}
