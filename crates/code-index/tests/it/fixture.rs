//! A folder of code with an index.

use std::fs;
use std::path::Path;

use code_index::{FolderSource, IndexLimits, LocalIndex, Opening, Refreshed};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;
use wap_core::{
    Call, CancelFlag, CodeIndex, ConversationId, IndexError, ListSymbols, ListSymbolsResponse, Origin,
    Retention, RunKey, SearchCode, SearchCodeResponse,
};

/// A folder of code, and a folder for its index.
pub(crate) struct Fixture {
    pub(crate) code: TempDir,
    pub(crate) state: TempDir,
    pub(crate) limits: IndexLimits,
}

impl Fixture {
    pub(crate) fn new<P: AsRef<str>, C: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, C)>) -> Fixture {
        let code = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        let fixture = Fixture { code, state, limits: IndexLimits::default() };
        for (path, content) in files {
            fixture.write(path.as_ref(), content.as_ref());
        }
        fixture
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.code.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn source(&self) -> FolderSource {
        source(self.code.path())
    }

    pub(crate) fn open(&self) -> (LocalIndex, Opening) {
        LocalIndex::open(&self.state.path().join("index"), self.source(), self.limits).unwrap()
    }

    /// Opens the index and refreshes it.
    pub(crate) fn index(&self) -> LocalIndex {
        let (index, _) = self.open();
        refresh(&index);
        index
    }
}

pub(crate) fn source(folder: &Path) -> FolderSource {
    FolderSource::new(FileRoot::open(folder, &RootRules::default(), FsPolicy::default()).unwrap())
}

pub(crate) fn refresh(index: &LocalIndex) -> Refreshed {
    index.refresh(&CancelFlag::new(), &mut |_| {}).unwrap()
}

/// Makes a call that is never cancelled.
pub(crate) fn call<T>(make: impl FnOnce(&Call<'_>) -> T) -> T {
    let origin = Origin {
        conversation: ConversationId("test".into()),
        run: RunKey::unnumbered("1"),
        step: 0,
        retention: Retention::Process,
    };
    make(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}

pub(crate) fn search(index: &LocalIndex, query: &str) -> SearchCodeResponse {
    call(|call| index.search(call, &SearchCode { query: query.into(), limit: 8 })).unwrap()
}

/// Returns the paths of the hits, best first.
pub(crate) fn paths(index: &LocalIndex, query: &str) -> Vec<String> {
    search(index, query).hits.into_iter().map(|hit| hit.path).collect()
}

pub(crate) fn symbols(index: &LocalIndex, file: &str) -> Result<ListSymbolsResponse, IndexError> {
    call(|call| index.symbols(call, &ListSymbols { file: file.into() }))
}
