//! The bearer token: a client that sends it may use the tools.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The fewest characters of a token.
const LEAST_CHARACTERS: usize = 16;

/// The most bytes that are read from a token file.
const MOST_BYTES: u64 = 4_096;

/// The secret that a client sends as `Authorization: Bearer …`.
#[derive(Clone)]
pub struct BearerToken(String);

/// A token that is not available.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or created, or other users may read it.
    #[error("the token file {file}: {error}", file = file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file does not contain a usable token.
    #[error("the token file {file}: {reason}", file = file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The fault.
        reason: &'static str,
    },
    /// There is no folder for the token, because neither `XDG_STATE_HOME` nor `HOME` is an absolute path.
    #[error("there is no home folder to keep the token in")]
    NoHome,
}

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token must not appear in a log.
        formatter.write_str("BearerToken(…)")
    }
}

impl BearerToken {
    /// Returns a token from a text of at least 16 visible ASCII characters.
    ///
    /// # Errors
    ///
    /// The fault of the text.
    pub fn new(text: &str) -> Result<BearerToken, &'static str> {
        if text.len() < LEAST_CHARACTERS {
            return Err("the token in it is too short");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the token in it has characters that a header cannot have");
        }
        Ok(BearerToken(text.to_owned()))
    }

    /// Reads the token from a file, or creates both.
    ///
    /// # Errors
    ///
    /// [`TokenError::Unusable`] and [`TokenError::Invalid`].
    pub fn read_or_make(file: &Path) -> Result<BearerToken, TokenError> {
        let failed = |error| TokenError::Unusable { file: file.to_owned(), error };
        match read(file) {
            Ok(text) => BearerToken::check(file, text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match make(file) {
                Ok(token) => Ok(token),
                // Another process has created it in the meantime: all use the token in the file.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    read(file).map_err(failed).and_then(|text| BearerToken::check(file, text))
                }
                Err(error) => Err(failed(error)),
            },
            Err(error) => Err(failed(error)),
        }
    }

    fn check(file: &Path, text: String) -> Result<BearerToken, TokenError> {
        BearerToken::new(text.trim()).map_err(|reason| TokenError::Invalid { file: file.to_owned(), reason })
    }

    /// Compares in a time that does not depend on the number of matching characters.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (expected, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = expected.iter().zip(given).fold(0, |sum, (one, other)| sum | (one ^ other));
        expected.len() == given.len() && differences == 0
    }
}

fn read(file: &Path) -> io::Result<String> {
    let opened = fs::File::open(file)?;
    // Check the open file, which cannot be replaced between the check and the read.
    if opened.metadata()?.mode() & 0o077 != 0 {
        return Err(io::Error::other("others may read it; close it with chmod 600"));
    }
    let mut text = String::new();
    opened.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn make(file: &Path) -> io::Result<BearerToken> {
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let token = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    // Link it when it is complete: another server may start at the same time. Use a unique name: a killed server may have left a
    // file, and in a container its successor has the same process id.
    let unfinished = file.with_extension(format!("{}.new", uuid::Uuid::new_v4().simple()));
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    let written = opened
        .write_all(format!("{token}\n").as_bytes())
        .and_then(|()| opened.sync_all())
        .and_then(|()| fs::hard_link(&unfinished, file));
    let _ = fs::remove_file(&unfinished);
    written.map(|()| BearerToken(token))
}

/// Returns the default token file, in the user's state folder.
///
/// # Errors
///
/// [`TokenError::NoHome`].
pub fn default_token_file() -> Result<PathBuf, TokenError> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    Ok(state.ok_or(TokenError::NoHome)?.join("agentd/token"))
}

#[cfg(test)]
mod tests {
    use super::{BearerToken, read};

    #[test]
    fn leftovers_of_a_killed_server_keep_no_other_from_starting() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let left = file.with_extension(format!("{}.new", std::process::id()));
        std::fs::write(&left, "half a tok").unwrap();
        let made = BearerToken::read_or_make(&file).unwrap();
        assert!(made.is(read(&file).unwrap().trim()));
        // The control: the next server takes the same token.
        assert!(made.is(&BearerToken::read_or_make(&file).unwrap().0));
        let names = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 2, "nothing new is left");
    }
}
