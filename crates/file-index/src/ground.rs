//! What an index is about.

use std::sync::Arc;

use sandbox_fs::FileRoot;

use crate::rules::{IndexLimits, IndexRules};

/// What an index is about.
pub(crate) struct Ground {
    pub root: Arc<FileRoot>,
    pub rules: Box<dyn IndexRules>,
    pub limits: IndexLimits,
}
