//! The crates that need no system, checked for systems other than Linux.

use std::path::Path;

use crate::tidy::CODECS;
use crate::{Step, TaskError};

/// Windows, macOS, FreeBSD, and WebAssembly with a system interface and without any.
const TARGETS: [&str; 5] = [
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-unknown-freebsd",
    "wasm32-wasip1",
    "wasm32-unknown-unknown",
];

/// Type-checks the codecs for each target, whose standard library `rustup` installs first. Nothing is linked, so no compiler of the
/// other system is needed.
///
/// # Errors
///
/// Those of `rustup`, and of the first check that fails.
pub fn systems(root: &Path) -> Result<(), TaskError> {
    Step::new("targets", "rustup", &[&["target", "add"][..], &TARGETS].concat()).folder(root).run()?;
    let packages: Vec<&str> = CODECS.iter().flat_map(|name| ["--package", *name]).collect();
    for target in TARGETS {
        let arguments = [&["check", "--target", target][..], &packages].concat();
        Step::cargo(target, &arguments).folder(root).run()?;
    }
    Ok(())
}
