//! Embeds `sandbox-fs` alone: a program that works on one folder for an untrusted client.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::os::unix::fs::symlink;

use rel_path::RelPath;
use sandbox_fs::{ContentHash, Expected, FileMode, FileRoot, FsPolicy, RootRules, WalkLimits};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    symlink("/etc", folder.path().join("elsewhere"))?;
    let root = FileRoot::open(folder.path(), &RootRules::default(), FsPolicy::default())?;
    println!("paths are resolved with {}", root.method());

    // A new version is written beside the file and exchanged with it in one step, if the file is the expected version.
    let notes = RelPath::parse("notes.txt")?;
    root.stage(&notes, b"first\n", FileMode::Keep)?.publish(Expected::Absent)?;
    let first = ContentHash::of(b"first\n");
    root.stage(&notes, b"second\n", FileMode::Keep)?.publish(Expected::Content(first))?;
    let content = root.open_file(&notes)?.read_to_end(1024)?;
    println!("notes.txt holds {:?}", String::from_utf8_lossy(&content));

    // A writer that expects the first version does not overwrite the second.
    let stale = root.stage(&notes, b"third\n", FileMode::Keep)?.publish(Expected::Content(first));
    report("a write on top of an older version", stale);

    // No path leads out, on paper or through a link, and some names are closed to writing.
    for text in ["../outside", "/etc/hostname", "elsewhere/hostname", ".git/hooks/pre-commit"] {
        let outcome = root.parse_path(text).and_then(|path| root.stage(&path, b"", FileMode::Keep).map(drop));
        report(text, outcome);
    }

    for entry in root.walk(&RelPath::root(), WalkLimits::default())? {
        println!("entry {} ({})", entry.path, entry.kind);
    }
    Ok(())
}

fn report<T>(what: &str, outcome: Result<T, sandbox_fs::FsError>) {
    match outcome {
        Ok(_) => println!("done: {what}"),
        Err(error) => println!("refused: {what}: {error}"),
    }
}
