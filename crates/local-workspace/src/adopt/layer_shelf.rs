//! The layers of commands, and the steps that they belong to.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use change_journal::RunNumber;
use cow_layer::{Layer, LayerError, LayerName, LayerStore};
use rustix::fs::{Mode, OFlags};
use sandbox_fs::FileRoot;

use crate::adopt::repository_use::hold_indexes;

/// The layers of one workspace, each named after the run and step of its command.
#[derive(Debug)]
pub(crate) struct LayerShelf {
    store: LayerStore,
    root: Arc<FileRoot>,
}

impl LayerShelf {
    /// Opens the folder for layers, creating it if its parent exists. The error briefly states why layers are
    /// unavailable.
    pub(crate) fn open(folder: &Path, root: &Arc<FileRoot>) -> Result<LayerShelf, String> {
        let opened = || -> io::Result<_> {
            match DirBuilder::new().mode(0o700).create(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            // The folder may exist already, and a symlink there must not lead the layers elsewhere.
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(rustix::fs::open(folder, flags, Mode::empty())?)
        };
        let handle = opened().map_err(|error| format!("the folder for layers cannot be used: {error}"))?;
        let store = LayerStore::open(handle, folder, Arc::clone(root)).map_err(|error| error.to_string())?;
        Ok(LayerShelf { store, root: Arc::clone(root) })
    }

    /// Makes the layer of a command. A layer left by an earlier attempt at the same step is removed.
    pub(crate) fn create(&self, run: RunNumber, step: u32) -> Result<Layer, LayerError> {
        let name = name(run, step);
        let mut layer = match self.store.create(&name) {
            Err(LayerError::Exists) => {
                self.store.discard(&name)?;
                self.store.create(&name)?
            }
            other => other?,
        };
        hold_indexes(&mut layer, &self.root);
        Ok(layer)
    }

    /// Makes a temporary layer without a step, which the next opening removes. An existing one of the same name is
    /// removed.
    pub(crate) fn create_passing(&self, name: &str) -> Result<Layer, LayerError> {
        let name: LayerName = name.parse().expect("names of passing layers are letters, hyphens and numbers");
        self.store.discard(&name)?;
        let mut layer = self.store.create(&name)?;
        hold_indexes(&mut layer, &self.root);
        Ok(layer)
    }

    /// The steps that have layers. Quarantined layers stay; other names that belong to no step are discarded.
    pub(crate) fn steps(&self) -> Result<Vec<(RunNumber, u32)>, LayerError> {
        let mut steps = Vec::new();
        for name in self.store.existing()? {
            match step(&name) {
                Some(step) => steps.push(step),
                None if name.is_quarantined() => {}
                None => self.store.discard(&name)?,
            }
        }
        Ok(steps)
    }

    pub(crate) fn reopen(&self, run: RunNumber, step: u32) -> Result<Layer, LayerError> {
        self.store.reopen(&name(run, step))
    }

    /// Renames a layer so that it stays, and returns its name.
    pub(crate) fn quarantine(&self, run: RunNumber, step: u32) -> Result<LayerName, LayerError> {
        self.store.quarantine(&name(run, step))
    }

    /// Removes a layer. Anything that cannot be removed now is removed at the next opening.
    pub(crate) fn discard(&self, run: RunNumber, step: u32) {
        let _ = self.store.discard(&name(run, step));
    }
}

fn name(run: RunNumber, step: u32) -> LayerName {
    format!("{}-{step}", run.0).parse().expect("numbers and a hyphen are a layer's name")
}

fn step(name: &LayerName) -> Option<(RunNumber, u32)> {
    let (run, step) = name.as_str().split_once('-')?;
    Some((RunNumber(run.parse().ok()?), step.parse().ok()?))
}
