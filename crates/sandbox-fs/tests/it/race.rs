//! A folder and a link to the outside change places while the workspace is used.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags};
use sandbox_fs::{Expected, FileMode, FileRoot, FsError, WalkLimits};

use crate::fixture::{CANARY, METHODS, Sandbox, path};

/// How many rounds an ordinary run makes; `SANDBOX_FS_RACE_ROUNDS` sets another number.
fn rounds() -> u32 {
    std::env::var("SANDBOX_FS_RACE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3_000)
}

/// Calls `operation` while `p` is exchanged with a link to the outside. Counts how often it succeeded.
fn raced(operation: impl Fn(&FileRoot) -> Result<(), FsError>) {
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("p/own.txt", "own");
        sandbox.link("p2", sandbox.outside());
        let before = sandbox.outside_snapshot();
        let root = sandbox.root(method);
        let stop = AtomicBool::new(false);
        let (mut succeeded, mut refused) = (0_u32, 0_u32);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (one, other) = (sandbox.at("p"), sandbox.at("p2"));
                while !stop.load(Ordering::Relaxed) {
                    rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                // Goes on until both sides have been seen, however the threads are scheduled.
                let mut round = 0;
                while round < rounds() || ((succeeded == 0 || refused == 0) && round < 1_000_000) {
                    round += 1;
                    match operation(&root) {
                        Ok(()) => succeeded += 1,
                        Err(_) => refused += 1,
                    }
                }
            }));
            stop.store(true, Ordering::Relaxed);
            done.unwrap();
        });
        assert!(succeeded > 0 && refused > 0, "{method}: {succeeded} succeeded, {refused} were refused");
        assert_eq!(sandbox.outside_snapshot(), before, "{method}: the outside changed");
        assert!(sandbox.leftovers().is_empty(), "{method}");
    }
}

#[test]
fn no_raced_read_sees_the_outside() {
    raced(|root| {
        for secret in ["p/secret.txt", "p/../p/secret.txt"] {
            if let Ok(file) = root.open_file(&path(secret)) {
                panic!("read {:?}", String::from_utf8(file.read_to_end(100).unwrap()));
            }
        }
        let own = root.open_file(&path("p/own.txt"))?.read_to_end(100)?;
        assert_ne!(own, CANARY.as_bytes());
        Ok(())
    });
}

#[test]
fn no_raced_listing_shows_the_outside() {
    raced(|root| {
        for entry in root.walk(&path("."), WalkLimits::default())? {
            assert!(!entry.path.to_string().contains("secret"), "{:?}", entry.path);
        }
        for entry in root.list(&path("p"))? {
            assert_eq!(entry.path, path("p/own.txt"));
        }
        Ok(())
    });
}

#[test]
fn no_raced_write_reaches_the_outside() {
    raced(|root| {
        root.stage(&path("p/new.txt"), b"new", FileMode::Keep)?.publish(Expected::Anything)?;
        root.create_dirs(&path("p/d/e"))?;
        root.remove_empty_folder(&path("p/d/e"))
    });
}
