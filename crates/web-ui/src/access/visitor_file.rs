//! The file with the browsers that have access, as hashes: who reads it gains nothing.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use blake3::Hash;
use serde::{Deserialize, Serialize};

/// The most bytes that are read.
const MOST_BYTES: u64 = 64 * 1024;

/// A browser that has access.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// The hash of its cookie.
    pub(super) cookie: Hash,
    /// The hash of its key.
    pub(super) key: Hash,
    /// The end of its access, in seconds since 1970.
    pub(super) ends_at: u64,
}

#[derive(Serialize, Deserialize)]
struct Line {
    cookie: String,
    key: String,
    ends_at: u64,
}

#[derive(Debug)]
pub(super) struct VisitorFile(PathBuf);

impl VisitorFile {
    pub(super) fn new(state_folder: &Path) -> VisitorFile {
        VisitorFile(state_folder.join("page/visitors.json"))
    }

    /// Reads the browsers; none if the file is missing or damaged.
    pub(super) fn read(&self) -> Vec<Visitor> {
        let is_small = fs::metadata(&self.0).is_ok_and(|file| file.len() <= MOST_BYTES);
        let bytes = if is_small { fs::read(&self.0).unwrap_or_default() } else { Vec::new() };
        let lines: Vec<Line> = serde_json::from_slice(&bytes).unwrap_or_default();
        let visitor = |line: Line| {
            let (cookie, key) = (Hash::from_hex(line.cookie).ok()?, Hash::from_hex(line.key).ok()?);
            Some(Visitor { cookie, key, ends_at: line.ends_at })
        };
        lines.into_iter().filter_map(visitor).collect()
    }

    /// Replaces the file as a whole.
    pub(super) fn write(&self, visitors: &[Visitor]) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let lines: Vec<Line> = visitors.iter().map(line).collect();
        let unfinished = self.0.with_extension(format!("{}.new", std::process::id()));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(&serde_json::to_vec(&lines)?)?;
        fs::rename(&unfinished, &self.0)
    }
}

fn line(visitor: &Visitor) -> Line {
    let (cookie, key) = (visitor.cookie.to_hex().to_string(), visitor.key.to_hex().to_string());
    Line { cookie, key, ends_at: visitor.ends_at }
}
