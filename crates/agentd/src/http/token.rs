//! The bearer token: who knows it may use the tools.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};

/// A token is of at least so many characters.
const LEAST_CHARACTERS: usize = 16;

/// The longest file of a token that is read, in bytes.
const MOST_BYTES: u64 = 4_096;

/// What a client has to send as `Authorization: Bearer …`.
#[derive(Clone)]
pub(crate) struct BearerToken(String);

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It must not get into a log.
        formatter.write_str("BearerToken(…)")
    }
}

impl BearerToken {
    /// Reads the token from a file, or makes both.
    pub(crate) fn read_or_make(file: &Path) -> Result<BearerToken, Failure> {
        let failed = |error: &io::Error| {
            Failure::new(Exit::Failed, format!("the token file {}: {error}", file.display()))
                .advise("name another one with --token-file FILE")
        };
        match read(file) {
            Ok(text) => BearerToken::check(file, text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match make(file) {
                Ok(token) => Ok(token),
                // Another process was quicker.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    read(file).map_err(|error| failed(&error)).and_then(|text| BearerToken::check(file, text))
                }
                Err(error) => Err(failed(&error)),
            },
            Err(error) => Err(failed(&error)),
        }
    }

    fn check(file: &Path, text: String) -> Result<BearerToken, Failure> {
        let token = text.trim();
        let why = if token.len() < LEAST_CHARACTERS {
            "the token in it is too short"
        } else if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            "the token in it has characters that a header cannot have"
        } else {
            return Ok(BearerToken(token.to_owned()));
        };
        Err(Failure::new(Exit::Usage, format!("the token file {}: {why}", file.display()))
            .advise("remove the file, and a new one is made"))
    }

    /// Compares without telling by the time it takes how much of it is right.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = own.iter().zip(given).fold(0, |found, (one, other)| found | (one ^ other));
        own.len() == given.len() && differences == 0
    }
}

fn read(file: &Path) -> io::Result<String> {
    let opened = fs::File::open(file)?;
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
    // Whole or not at all: somebody may start at the same moment.
    let unfinished = file.with_extension(format!("{}.new", std::process::id()));
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    let written = opened
        .write_all(format!("{token}\n").as_bytes())
        .and_then(|()| opened.sync_all())
        .and_then(|()| fs::hard_link(&unfinished, file));
    let _ = fs::remove_file(&unfinished);
    written.map(|()| BearerToken(token))
}

/// Where the token is unless the user says something else: in the user's state directory.
pub(crate) fn default_file() -> Result<PathBuf, Failure> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    let state = state.ok_or_else(|| {
        Failure::new(Exit::Usage, "there is no home folder to keep the token in")
            .advise("name a file for it with --token-file FILE")
    })?;
    Ok(state.join("agentd/token"))
}
