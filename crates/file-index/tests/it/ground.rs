//! A folder with an index.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use file_index::{ContentKind, FileIndex, IndexLimits, IndexPhase, IndexRules, View};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;

/// Everything is text, `hidden` is nothing, and `left` is not looked into.
pub(crate) struct Rules;

impl IndexRules for Rules {
    fn hides(&self, path: &RelPath) -> bool {
        path.file_name() == Some(b"hidden")
    }

    fn leaves_out(&self, folder: &RelPath) -> bool {
        folder.file_name() == Some(b"left")
    }

    fn content_kind(&self, _: &RelPath, _: &[u8]) -> ContentKind {
        ContentKind::Text
    }
}

pub(crate) struct Ground {
    pub(crate) index: FileIndex,
    folder: TempDir,
}

impl Ground {
    /// A folder with these files, whose list is complete.
    pub(crate) fn with(files: &[(&str, &str)], limits: IndexLimits) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
        let index = FileIndex::start(Arc::new(root), Rules, limits).unwrap();
        let ground = Ground { index, folder };
        drop(ground.view());
        ground.settle();
        ground
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
