//! The context of an index: its folder, rules and limits.

use std::sync::Arc;

use sandbox_fs::FileRoot;

use crate::rules::{IndexLimits, IndexRules};

/// The folder of an index, with its rules and limits.
pub(crate) struct IndexContext {
    pub root: Arc<FileRoot>,
    pub rules: Box<dyn IndexRules>,
    pub limits: IndexLimits,
}
