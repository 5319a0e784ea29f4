//! Other threads rename folders and swap in links while the workspace is used.
//!
//! The control runs the same race against an actor that checks a path and then opens it by name. That one escapes,
//! which proves that the race is real.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use sandbox_fs::{ContentHash, Expected, FileMode, FileRoot, FsError, WalkLimits};

use crate::fixture::{CANARY, METHODS, Sandbox, path};

const OWN: &str = "own";

/// Returns the number of operations of each kind for each resolve method: few in an ordinary run, `SOAK_FACTOR` times
/// as many in a soak. `RACE_OPERATIONS` sets the number for both methods together.
fn operations() -> u64 {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let of_both = number("RACE_OPERATIONS").unwrap_or(6_000 * number("SOAK_FACTOR").unwrap_or(1));
    of_both.div_ceil(METHODS.len() as u64)
}

/// The most rounds of a race; it ends earlier, once both success and refusal have occurred.
const MOST: u64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Read,
    Write,
    Delete,
    List,
}

/// A user of the workspace. `None` is a refusal.
trait Actor {
    fn read(&self, path: &str) -> Option<Vec<u8>>;
    fn write(&self, path: &str) -> Option<()>;
    fn delete(&self, path: &str) -> Option<()>;
    /// The names in a folder and below it.
    fn list(&self, folder: &str) -> Option<Vec<String>>;
}

impl Actor for FileRoot {
    fn read(&self, text: &str) -> Option<Vec<u8>> {
        self.open_file(&path(text)).and_then(|file| file.read_to_end(100)).ok()
    }

    fn write(&self, text: &str) -> Option<()> {
        let file = path(text);
        let folder = file.parent().unwrap().child(b"d").unwrap().child(b"e").unwrap();
        let write = || -> Result<(), FsError> {
            self.stage(&file, b"new", FileMode::Keep)?.publish(Expected::Anything)?;
            // While `q` is renamed away, creating folders would make a second `q`.
            if text.starts_with('p') {
                self.create_dirs(&folder)?;
                self.remove_empty_folder(&folder)?;
            }
            Ok(())
        };
        write().ok()
    }

    fn delete(&self, text: &str) -> Option<()> {
        let own = ContentHash::of(OWN.as_bytes());
        let removed = self.remove_file(&path(text), None);
        removed.or_else(|_| self.remove_file(&path(text), Some(&own))).ok().map(drop)
    }

    fn list(&self, folder: &str) -> Option<Vec<String>> {
        let walk = self.walk(&path("."), WalkLimits::default()).ok()?;
        let mut names: Vec<String> = walk.map(|entry| entry.path.to_string()).collect();
        let listed = FileRoot::list(self, &path(folder)).ok()?;
        names.extend(listed.into_iter().map(|entry| entry.path.to_string()));
        Some(names)
    }
}

/// Resolves and compares the path, then opens it by name, like most programs.
struct Careless {
    root: PathBuf,
}

impl Careless {
    fn checked(&self, path: &str) -> Option<PathBuf> {
        let whole = self.root.join(path);
        let folder = fs::canonicalize(whole.parent()?).ok()?;
        folder.starts_with(&self.root).then_some(whole)
    }
}

impl Actor for Careless {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.checked(path)?).ok()
    }

    fn write(&self, path: &str) -> Option<()> {
        fs::write(self.checked(path)?, "new").ok()
    }

    fn delete(&self, path: &str) -> Option<()> {
        fs::remove_file(self.checked(path)?).ok()
    }

    fn list(&self, folder: &str) -> Option<Vec<String>> {
        let whole = self.checked(&format!("{folder}/x"))?;
        let entries = fs::read_dir(whole.parent()?).ok()?;
        Some(entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
    }
}

/// `p` is exchanged with a link to the outside all the time, `q` is renamed, and `q/own.txt` is exchanged with a link
/// to a file outside. The outside has files with the same names as the inside.
struct Arena {
    sandbox: Sandbox,
    inner: [OwnedFd; 2],
}

/// The counts of a race.
#[derive(Debug, Default)]
struct Figures {
    operations: u64,
    succeeded: u64,
    refused: u64,
    escapes: u64,
}

impl Arena {
    fn new() -> Arena {
        let sandbox = Sandbox::new();
        for folder in ["p", "q"] {
            sandbox.file(&format!("{folder}/own.txt"), OWN);
        }
        sandbox.link("p2", sandbox.outside());
        sandbox.link("q/link.txt", "../../outside/own.txt");
        for name in ["own.txt", "victim.txt"] {
            fs::write(sandbox.outside().join(name), CANARY).unwrap();
        }
        let open = |name: &str| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::open(sandbox.at(name), flags, Mode::empty()).unwrap()
        };
        let inner = ["p", "q"].map(open);
        Arena { sandbox, inner }
    }

    fn swap_links(&self) {
        let (one, other) = (self.sandbox.at("p"), self.sandbox.at("p2"));
        rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        // The actor may have removed the file, so there is nothing to exchange.
        let folder = &self.inner[1];
        let _ = rustix::fs::renameat_with(folder, "own.txt", folder, "link.txt", RenameFlags::EXCHANGE);
    }

    fn rename(&self) {
        fs::rename(self.sandbox.at("q"), self.sandbox.at("r")).unwrap();
        fs::rename(self.sandbox.at("r"), self.sandbox.at("q")).unwrap();
    }

    /// Restores deleted files, whatever name their folders have now.
    fn refill(&self, folder: usize, name: &str) {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let folder = &self.inner[folder];
        if let Ok(file) = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o644)) {
            rustix::io::write(file, OWN.as_bytes()).unwrap();
        }
    }

    /// Runs one operation. Returns whether it succeeded and whether it escaped.
    fn attempt(&self, kind: Kind, actor: &impl Actor, round: u64) -> (bool, bool) {
        let folder = usize::from(round % 2 == 1);
        let prefix = ["p", "q"][folder];
        let outside = self.sandbox.outside();
        match kind {
            Kind::Read => {
                let name = ["own.txt", "../p/own.txt", "secret.txt"][(round / 2 % 3) as usize];
                let content = actor.read(&format!("{prefix}/{name}"));
                let escaped = content.as_deref() == Some(CANARY.as_bytes());
                (content.is_some(), escaped)
            }
            Kind::Write => {
                let name = ["new.txt", "own.txt"][(round / 2 % 2) as usize];
                let written = actor.write(&format!("{prefix}/{name}")).is_some();
                let escaped = fs::remove_file(outside.join("new.txt")).is_ok()
                    || fs::read(outside.join("own.txt")).unwrap() != CANARY.as_bytes()
                    || rustix::fs::accessat(
                        CWD,
                        outside.join("d"),
                        rustix::fs::Access::EXISTS,
                        AtFlags::empty(),
                    )
                    .is_ok();
                if escaped {
                    fs::write(outside.join("own.txt"), CANARY).unwrap();
                }
                (written, escaped)
            }
            Kind::Delete => {
                self.refill(folder, "victim.txt");
                let deleted = actor.delete(&format!("{prefix}/victim.txt")).is_some();
                let escaped = !outside.join("victim.txt").exists();
                if escaped {
                    fs::write(outside.join("victim.txt"), CANARY).unwrap();
                }
                (deleted, escaped)
            }
            Kind::List => {
                let names = actor.list(prefix);
                let escaped = names.iter().flatten().any(|name| name.contains("secret.txt"));
                (names.is_some(), escaped)
            }
        }
    }

    /// Starts the other threads and runs operations until `is_enough`.
    fn race(&self, kind: Kind, actor: &(impl Actor + Sync), is_enough: impl Fn(&Figures) -> bool) -> Figures {
        let stop = AtomicBool::new(false);
        let mut figures = Figures::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    self.swap_links()
                }
            });
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    self.rename()
                }
            });
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                while !is_enough(&figures) {
                    let (succeeded, escaped) = self.attempt(kind, actor, figures.operations);
                    figures.operations += 1;
                    figures.succeeded += u64::from(succeeded);
                    figures.refused += u64::from(!succeeded);
                    figures.escapes += u64::from(escaped);
                }
            }));
            stop.store(true, Ordering::Relaxed);
            done.unwrap();
        });
        figures
    }
}

fn no_escape(kind: Kind) {
    for method in METHODS {
        let arena = Arena::new();
        let before = arena.sandbox.outside_snapshot();
        let root = arena.sandbox.root(method);
        let wanted = operations();
        let figures = arena.race(kind, &root, |figures| {
            let both = figures.succeeded > 0 && figures.refused > 0;
            figures.operations >= wanted && (both || figures.operations >= MOST)
        });
        println!(
            "{kind:?} with {method}: {} operations, {} succeeded, {} were refused, {} escaped",
            figures.operations, figures.succeeded, figures.refused, figures.escapes
        );
        assert_eq!(figures.escapes, 0, "{method}: {figures:?}");
        assert!(figures.succeeded > 0 && figures.refused > 0, "{method}: {figures:?}");
        assert_eq!(arena.sandbox.outside_snapshot(), before, "{method}: the outside changed");
        assert!(arena.sandbox.leftovers().is_empty(), "{method}");
    }
}

#[test]
fn no_raced_read_sees_the_outside() {
    no_escape(Kind::Read);
}

#[test]
fn no_raced_write_reaches_the_outside() {
    no_escape(Kind::Write);
}

#[test]
fn no_raced_delete_reaches_the_outside() {
    no_escape(Kind::Delete);
}

#[test]
fn no_raced_listing_contains_the_outside() {
    no_escape(Kind::List);
}

#[test]
fn resolving_by_name_escapes() {
    for kind in [Kind::Read, Kind::Write, Kind::Delete, Kind::List] {
        let arena = Arena::new();
        let careless = Careless { root: fs::canonicalize(arena.sandbox.workspace()).unwrap() };
        let figures =
            arena.race(kind, &careless, |figures| figures.escapes > 0 || figures.operations >= MOST);
        println!("{kind:?} by name: escaped in operation {} of at most {MOST}", figures.operations);
        assert!(figures.escapes > 0, "{kind:?}: {figures:?}");
    }
}
