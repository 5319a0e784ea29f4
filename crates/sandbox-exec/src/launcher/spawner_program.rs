//! The program that becomes the spawner.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::spawner::SPAWNER_ARGUMENT;

/// A program that becomes the spawner when it is started with these arguments.
#[derive(Clone, Debug)]
pub struct SpawnerProgram {
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

impl SpawnerProgram {
    /// Starts the calling program a second time; its `main` must begin with
    /// [`spawner_main_if_requested`](crate::spawner_main_if_requested).
    ///
    /// It works even if the program's file was replaced meanwhile.
    pub fn this_program() -> SpawnerProgram {
        SpawnerProgram { path: "/proc/self/exe".into(), arguments: vec![SPAWNER_ARGUMENT.into()] }
    }

    /// Starts a program whose `main` is [`spawner_main`](crate::spawner_main), such as the `sandbox-exec-spawner`
    /// of this crate.
    pub fn at(path: PathBuf) -> SpawnerProgram {
        SpawnerProgram { path, arguments: Vec::new() }
    }
}
