//! This program, started again as a process with overlays over folders, for a trial.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, set_parent_process_death_signal};
use sandbox_exec::{LayerMount, ProcessOverlays};
use serde::{Deserialize, Serialize};

/// The first argument of a process that puts overlays over folders; the file that lists them follows.
pub const ARGUMENT: &str = "--on-layers";

/// The overlays that a process enters before anything else.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    layers: Vec<[PathBuf; 3]>,
    replaced: Vec<(PathBuf, PathBuf)>,
}

impl Request {
    /// Requests a layer over each folder; of each pair in `replaced`, the first folder is mounted over the second.
    pub(crate) fn new(layers: Vec<LayerMount>, replaced: Vec<(PathBuf, PathBuf)>) -> Request {
        let layers = layers.into_iter().map(|layer| [layer.lower, layer.upper, layer.work]).collect();
        Request { layers, replaced }
    }

    /// Writes it to a file for the process.
    pub(crate) fn write(&self, file: &Path) -> Result<(), String> {
        let bytes = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        fs::write(file, bytes).map_err(|error| error.to_string())
    }
}

/// True if this process has entered overlays.
static IS_TRIAL: AtomicBool = AtomicBool::new(false);

/// Checks whether this process carries out a trial on a copy of the journal.
pub(crate) fn is_trial() -> bool {
    IS_TRIAL.load(Ordering::Relaxed)
}

/// Enters the overlays, if this process was started to do so, and returns the remaining arguments. Every program that
/// hosts a workspace calls this first, before it starts a thread.
///
/// The argument grants no rights: the process sees one of the user's own folders instead of another, and can change
/// only what it could change before.
///
/// # Errors
///
/// The reason why the overlays cannot be entered, for the user.
pub fn enter_if_requested() -> Result<Vec<OsString>, String> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_none_or(|first| first != ARGUMENT) || arguments.len() < 3 {
        return Ok(arguments);
    }
    let file = arguments.drain(1..3).next_back().expect("two arguments were taken");
    let bytes = fs::read(file).map_err(|error| format!("the list of layers cannot be read: {error}"))?;
    let request: Request =
        serde_json::from_slice(&bytes).map_err(|error| format!("the list of layers: {error}"))?;
    let layers =
        request.layers.into_iter().map(|[lower, upper, work]| LayerMount::new(lower, upper, work)).collect();
    ProcessOverlays::new(layers, request.replaced)
        .enter()
        .map_err(|error| format!("nothing can be tried out here: {error}"))?;
    IS_TRIAL.store(true, Ordering::Relaxed);
    // Exit with the parent: the result would be orphaned.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    Ok(arguments)
}
