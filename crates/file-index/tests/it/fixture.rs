//! A folder with an index.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use file_index::{ContentKind, FileIndex, IndexLimits, IndexPhase, IndexRules, View};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;

/// Rules under which `hidden` is invisible, `left` is excluded, and the extension decides the kind of content.
pub(crate) struct Rules;

impl IndexRules for Rules {
    fn hides(&self, path: &RelPath) -> bool {
        path.file_name() == Some(b"hidden")
    }

    fn leaves_out(&self, folder: &RelPath) -> bool {
        folder.file_name() == Some(b"left")
    }

    fn content_kind(&self, path: &RelPath, _: &[u8]) -> ContentKind {
        let name = path.file_name().unwrap_or_default();
        match name.rsplit(|byte| *byte == b'.').next() {
            Some(b"bin") => ContentKind::Binary,
            Some(b"bad") => ContentKind::Undecodable,
            _ => ContentKind::Text,
        }
    }
}

pub(crate) struct Fixture {
    pub(crate) index: FileIndex,
    folder: TempDir,
}

impl Fixture {
    /// Makes a folder with these files, and an index that has listed and read it.
    pub(crate) fn with(files: &[(&str, &str)], limits: IndexLimits) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
        let index = FileIndex::start(Arc::new(root), Rules, limits).unwrap();
        let fixture = Fixture { index, folder };
        drop(fixture.view());
        fixture.settle();
        fixture
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn view(&self) -> View<'_> {
        let start = Instant::now();
        loop {
            if let Some(view) = self.index.view() {
                return view;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", self.index.report());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until everything is read.
    pub(crate) fn settle(&self) {
        let start = Instant::now();
        while self.index.report().phase != IndexPhase::Ready {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", self.index.report());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
