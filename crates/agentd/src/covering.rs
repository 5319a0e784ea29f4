//! How this program starts itself on layers, to try something out.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Signal, set_parent_process_death_signal};
use sandbox_exec::{LayerMount, ProcessOverlays};
use serde::{Deserialize, Serialize};

/// The first argument by which a process is asked to cover folders; the file that says which follows.
pub(crate) const ARGUMENT: &str = "--on-layers";

/// What a process covers for itself before it does anything else.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    layers: Vec<[PathBuf; 3]>,
    replaced: Vec<(PathBuf, PathBuf)>,
}

impl Request {
    /// A layer over each folder, and each folder in `replaced` in the place of the one beside it.
    pub(crate) fn new(layers: Vec<LayerMount>, replaced: Vec<(PathBuf, PathBuf)>) -> Request {
        let layers = layers.into_iter().map(|layer| [layer.lower, layer.upper, layer.work]).collect();
        Request { layers, replaced }
    }

    /// Writes it where the process can read it.
    pub(crate) fn write(&self, file: &Path) -> Result<(), String> {
        let bytes = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        fs::write(file, bytes).map_err(|error| error.to_string())
    }
}

/// Covers folders for this process, if it was started to do so, and returns the arguments that are left.
///
/// Nothing is gained by asking for it: the process sees a folder of the user's own in the place of another one, and may
/// change what it could change before.
pub(crate) fn enter_if_requested() -> Result<Vec<OsString>, String> {
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
    // Nobody would look at what comes of it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    Ok(arguments)
}
