//! The files of credentials that a search skips.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::credential_name::usually_holds_credentials;
use crate::{PathPattern, WapError};

/// The files of credentials that a search skips by their names, before it reads their contents.
///
/// An adapter that hides such files requests this: removed from an answer afterwards, they would still show in its counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WithheldFiles {
    /// The files to search nevertheless, as paths or globs of [`PathPattern`].
    pub granted: Vec<String>,
    /// Files with such a name but without a secret, by canonical path: they are searched, too.
    pub harmless: Vec<String>,
}

impl WithheldFiles {
    /// Compiles the rule.
    ///
    /// # Errors
    ///
    /// Those of [`PathPattern::new`].
    pub fn rule(&self) -> Result<WithheldRule, WapError> {
        Ok(WithheldRule {
            granted: self.granted.iter().map(|name| PathPattern::new(name)).collect::<Result<_, _>>()?,
            harmless: self.harmless.iter().cloned().collect(),
        })
    }
}

/// A compiled [`WithheldFiles`].
#[derive(Clone, Debug)]
pub struct WithheldRule {
    granted: Vec<PathPattern>,
    harmless: HashSet<String>,
}

impl WithheldRule {
    /// Checks whether a file is skipped, by its canonical path.
    #[must_use]
    pub fn withholds(&self, path: &str) -> bool {
        usually_holds_credentials(path)
            && !self.harmless.contains(path)
            && !self.granted.iter().any(|name| name.matches(path.as_bytes(), false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_withheld_unless_they_are_granted_or_harmless() {
        let granted = vec![".env".to_owned(), "a/*.key".to_owned()];
        let files = WithheldFiles { granted, harmless: vec!["certs/ca.pem".to_owned()] };
        let rule = files.rule().unwrap();
        for path in [".env.local", "b/x.key", "ca.pem", "certs/tls.pem"] {
            assert!(rule.withholds(path), "{path}");
        }
        for path in [".env", "deep/.env", "a/x.key", "certs/ca.pem", "src/main.rs"] {
            assert!(!rule.withholds(path), "{path}");
        }
    }
}
