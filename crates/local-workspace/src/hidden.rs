//! The state folder, which no tool reads, writes or lists.

use rel_path::{ProtectedNames, RelPath};
use wap_core::{Reason, WapError};

use crate::name_probe::surely_lacks;

/// The paths that do not exist for any tool.
#[derive(Debug)]
pub(crate) struct Hidden {
    names: ProtectedNames,
    state_folder: Option<StateFolder>,
}

#[derive(Debug)]
struct StateFolder {
    path: RelPath,
    /// Its path as a protected name, which is compared as the most lenient file system would compare it.
    name: ProtectedNames,
    depth: usize,
    /// A word that every path resembling it contains, for a quick check.
    word: Vec<u8>,
}

impl Hidden {
    /// Hides everything called `.agentd`, and the state folder if it is below the root under another name.
    pub(crate) fn new(state_folder: Option<RelPath>) -> Hidden {
        let state_folder = state_folder.map(|path| StateFolder {
            name: ProtectedNames::new([path.to_string()]),
            depth: path.components().count(),
            word: word_of(&path),
            path,
        });
        Hidden { names: ProtectedNames::new([".agentd"]), state_folder }
    }

    /// Returns whether a canonical path is hidden.
    pub(crate) fn hides(&self, path: &RelPath) -> bool {
        // The list is compared as the most lenient file system would compare it, which is slow; most paths cannot be on
        // it.
        let is_named = || !surely_lacks(path.as_bytes(), b"agentd") && self.names.protects(path);
        is_named() || self.state_folder.as_ref().is_some_and(|folder| folder.contains(path))
    }

    /// Refuses a hidden path.
    pub(crate) fn check(&self, path: &RelPath) -> Result<(), WapError> {
        if self.hides(path) {
            let text = format!("'{path}' belongs to agentd itself and is closed to all tools");
            return Err(WapError::new(Reason::Protected, text));
        }
        Ok(())
    }
}

impl StateFolder {
    fn contains(&self, path: &RelPath) -> bool {
        if path.starts_with(&self.path) {
            return true;
        }
        if surely_lacks(path.as_bytes(), &self.word) {
            return false;
        }
        // A protected name counts at any depth, so only as many folders as it has are checked.
        let beginning: Vec<_> = path.components().take(self.depth).collect();
        RelPath::from_bytes(&beginning.join(&b'/')).is_ok_and(|beginning| self.name.protects(&beginning))
    }
}

/// The first letters of a folder's name that its short form keeps; empty if they may be disguised.
fn word_of(path: &RelPath) -> Vec<u8> {
    let name = path.file_name().filter(|name| name.is_ascii()).unwrap_or_default();
    let letters = name.iter().skip_while(|byte| **byte == b'.').take_while(|byte| byte.is_ascii_alphabetic());
    letters.take(6).map(u8::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_folder_is_hidden_however_it_is_spelled_and_only_where_it_is() {
        let hidden = Hidden::new(Some(RelPath::parse("my/State").unwrap()));
        let hides = |path: &str| hidden.hides(&RelPath::parse(path).unwrap());
        for path in [
            "my/State",
            "my/State/x",
            "MY/STATE/x",
            "my/state./x",
            "my/\u{200b}sta\u{200d}te",
            ".agentd",
            "x/.AGENTD/y",
        ] {
            assert!(hides(path), "{path}");
        }
        for path in ["", ".", "my", "State", "my/Stately", "x/my/State", "my/x/State"] {
            let path = RelPath::parse_folder(path).unwrap();
            assert!(!hidden.hides(&path), "{path}");
        }
    }
}
