//! The secrets of a workspace, whose words are not indexed.

use std::ops::Range;
use std::sync::Arc;

use code_index::HiddenParts;
use secret_placeholders::{MemoryStore, Secrets};
use workspace_host::{SecretMapFile, WorkspacePaths};

/// Secrets as parts of files that an index hides.
///
/// All processes of a workspace share one index, including those that show secrets to models: in any case, its store
/// has no words of secrets.
#[derive(Debug)]
pub(crate) struct HiddenSecrets(Secrets);

impl HiddenSecrets {
    /// Opens the secrets of a workspace. If their map is unusable, secrets found by rules are still hidden.
    pub(crate) fn of(paths: &WorkspacePaths) -> Arc<dyn HiddenParts> {
        let secrets = Secrets::open(SecretMapFile::of(paths))
            .or_else(|_| Secrets::open(MemoryStore::default()))
            .expect("an empty map can be used");
        Arc::new(HiddenSecrets(secrets))
    }
}

impl HiddenParts for HiddenSecrets {
    fn parts_of(&self, text: &str) -> Vec<Range<usize>> {
        self.0.hidden_parts(text)
    }
}
