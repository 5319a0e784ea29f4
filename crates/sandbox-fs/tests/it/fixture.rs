//! A workspace next to a folder to protect, with shorthands for its files.

use std::fs;
use std::path::Path;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, ResolveMethod, RootRules};

pub(crate) use crate::corpus::{CANARY, Sandbox};

/// Both resolve methods; every claim holds for both.
pub(crate) const METHODS: [ResolveMethod; 2] = [ResolveMethod::Openat2, ResolveMethod::Walker];

impl Sandbox {
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.at(path)).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub(crate) fn root(&self, method: ResolveMethod) -> FileRoot {
        self.root_with(method, FsPolicy::default())
    }

    pub(crate) fn root_with(&self, method: ResolveMethod, policy: FsPolicy) -> FileRoot {
        FileRoot::open_with_method(&self.workspace(), &RootRules::default(), policy, method).unwrap()
    }
}

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}
