//! The form in which models see secrets, and the file with the values behind placeholders.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FlockOperation, flock};
use secret_placeholders::{
    PlaceholderStore, PlaceholderWorkspace, Secrets, StoreError, Withheld, merged_maps,
};
use wap_core::{holds_credentials_if_keyed, visible_line};

use crate::failure::{Exit, Failure};
use crate::options::HostOptions;
use crate::state::{WorkspacePaths, make_state_folder};

/// The map within the state folder.
const MAP: &str = "secrets.json";

/// The file whose lock a writer of the map holds.
const LOCK: &str = "secrets.lock";

/// The value of `--secrets`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretUse {
    /// Models see placeholders.
    #[default]
    Mask,
    /// Models see the values.
    Show,
}

impl fmt::Display for SecretUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SecretUse::Mask => "mask",
            SecretUse::Show => "show",
        })
    }
}

/// The rules about secrets of a workspace, for everything that is sent to a model.
#[derive(Clone, Debug)]
pub struct SecretRules {
    /// The secrets; `None` if they are shown.
    pub secrets: Option<Arc<Secrets>>,
    /// The files that are left out.
    pub withheld: Withheld,
}

impl SecretRules {
    /// Opens the rules that the options request. A state folder is created when the first secret is found.
    ///
    /// # Errors
    ///
    /// If the map cannot be read, or a name cannot be used.
    pub fn open(options: &HostOptions, paths: &WorkspacePaths) -> Result<SecretRules, Failure> {
        let names = options.read_secrets.iter().map(String::as_str);
        let withheld = Withheld::except(names)
            .map_err(|error| Failure::new(Exit::Usage, format!("--read-secret: {error}")))?;
        let secrets = match options.secrets {
            SecretUse::Show => None,
            SecretUse::Mask => {
                let failed = |error: StoreError| {
                    let map = paths.base.join(MAP);
                    Failure::new(Exit::Failed, format!("{} cannot be used: {error}", map.display())).advise(
                        "restore it, or remove it: placeholders that models have seen then mean nothing any more",
                    )
                };
                Some(Arc::new(Secrets::open(SecretMapFile::of(paths)).map_err(failed)?))
            }
        };
        Ok(SecretRules { secrets, withheld })
    }

    /// Returns a workspace as models see it.
    pub fn over<W>(&self, workspace: W) -> PlaceholderWorkspace<W> {
        PlaceholderWorkspace::new(workspace, self.secrets.clone(), self.withheld.clone())
    }

    /// Masks a text with bytes of files in it, which may look like placeholders.
    pub fn mask_file_text(&self, text: &str) -> String {
        match &self.secrets {
            Some(secrets) => secrets.mask(text).into_owned(),
            None => text.to_owned(),
        }
    }

    /// Masks a text that may already have placeholders.
    pub fn mask_rest(&self, text: &str) -> String {
        match &self.secrets {
            Some(secrets) => secrets.mask_rest(text).into_owned(),
            None => text.to_owned(),
        }
    }

    /// Returns a text that may already have placeholders as one line of at most `most_characters`, without secrets.
    pub fn mask_line(&self, text: &str, most_characters: usize) -> String {
        // A truncated value is not recognised, nor is one whose whitespace has changed: the text is masked unchanged,
        // then as a line, and cut only then.
        let line = visible_line(&self.mask_rest(text), usize::MAX);
        visible_line(&self.mask_rest(&line), most_characters)
    }

    /// Checks whether the content of a file is left out, by its path and, if only some files of that name are, by its
    /// text; `text` returns `None` for content that is not text or too long.
    pub fn leaves_out_file(&self, path: &str, text: impl FnOnce() -> Option<String>) -> bool {
        let Some(secrets) = &self.secrets else { return false };
        let is_clean =
            || holds_credentials_if_keyed(path) && text().is_some_and(|text| secrets.is_clean(&text));
        self.withheld.may_leave_out(path) && !is_clean()
    }

    /// Checks whether the content of a file is left out, by its path.
    pub fn leaves_out(&self, path: &str) -> bool {
        self.secrets.is_some() && self.withheld.may_leave_out(path)
    }
}

/// The map of placeholders in the state folder, closed to other users.
pub struct SecretMapFile {
    paths: WorkspacePaths,
}

impl SecretMapFile {
    /// Returns the map of a workspace, which may not exist yet.
    pub fn of(paths: &WorkspacePaths) -> SecretMapFile {
        SecretMapFile { paths: paths.clone() }
    }

    /// Copies the map, if there is one, into another state folder.
    ///
    /// # Errors
    ///
    /// Those of reading and writing.
    pub fn copy_to(&self, folder: &Path) -> io::Result<()> {
        match fs::read(self.paths.base.join(MAP)) {
            Ok(bytes) => write_map(folder, &bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Adds the additional entries of a copy of the map. A placeholder that has received another value in the meantime
    /// stays unchanged.
    ///
    /// # Errors
    ///
    /// Those of reading and writing.
    pub fn import(&self, folder: &Path) -> Result<(), StoreError> {
        let bytes = match fs::read(folder.join(MAP)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.update(&mut |own| merged_maps(own.as_deref(), &bytes))
    }
}

/// Replaces the map of a state folder as a whole.
fn write_map(folder: &Path, bytes: &[u8]) -> io::Result<()> {
    // Created with the mode 0600.
    let mut file = tempfile::Builder::new().prefix(".secrets-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(MAP)).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

impl PlaceholderStore for SecretMapFile {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        match fs::read(self.paths.base.join(MAP)) {
            Ok(bytes) => Ok(Some(bytes)),
            // If there can be no state folder, opening it reports that.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn revision(&self) -> Result<u64, StoreError> {
        let mut hasher = DefaultHasher::new();
        // A writer replaces the file by a longer one, so that its length alone changes each time; the others are for a map that
        // a person has removed or restored.
        match fs::metadata(self.paths.base.join(MAP)) {
            Ok(map) => (map.len(), map.dev(), map.ino(), map.mtime(), map.mtime_nsec()).hash(&mut hasher),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(hasher.finish())
    }

    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        if !self.paths.base.exists() {
            make_state_folder(&self.paths).map_err(|failure| failure.message)?;
        }
        let lock = self.paths.base.join(LOCK);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(lock)?;
        // Held until the file is closed.
        flock(&lock, FlockOperation::LockExclusive).map_err(io::Error::from)?;
        if let Some(changed) = change(self.read()?) {
            write_map(&self.paths.base, &changed)?;
        }
        Ok(())
    }
}
