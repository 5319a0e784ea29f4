//! Files that usually hold credentials, which are left out unless the user has named them.

use wap_core::{
    PathPattern, Reason, WapError, WithheldFiles, holds_credentials_if_keyed, usually_holds_credentials,
};

/// The files of credentials that the user allows a model to see.
#[derive(Clone, Debug, Default)]
pub struct Withheld {
    granted: Vec<PathPattern>,
    names: Vec<String>,
}

/// The rule that applies to a file by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Visible,
    /// It is left out if a secret is found in it.
    IfSecret,
    LeftOut,
}

impl Withheld {
    /// Returns the rules with exceptions for the files that the user has named: paths relative to the root, or globs.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidGlob`] for an unusable name.
    pub fn except<'n>(granted: impl IntoIterator<Item = &'n str>) -> Result<Withheld, WapError> {
        let names: Vec<String> = granted.into_iter().map(str::to_owned).collect();
        let granted = names.iter().map(|name| PathPattern::new(name)).collect::<Result<_, _>>()?;
        Ok(Withheld { granted, names })
    }

    /// Returns the rule for a search, which skips all such files except the `harmless` ones.
    pub(crate) fn passed_over(&self, harmless: Vec<String>) -> WithheldFiles {
        WithheldFiles { granted: self.names.clone(), harmless }
    }

    /// Checks by a file's path, relative to the root, whether its content is left out, always or if it contains a
    /// secret.
    #[must_use]
    pub fn may_leave_out(&self, path: &str) -> bool {
        self.verdict(path) != Verdict::Visible
    }

    pub(crate) fn verdict(&self, path: &str) -> Verdict {
        if !usually_holds_credentials(path)
            || self.granted.iter().any(|name| name.matches(path.as_bytes(), false))
        {
            return Verdict::Visible;
        }
        if holds_credentials_if_keyed(path) { Verdict::IfSecret } else { Verdict::LeftOut }
    }
}

/// Advice on how to allow a file that is left out.
const GRANT: &str =
    "the user can grant it with --read-secret NAME or `read-secret` in the configuration file";

/// The warning of an answer with masked text.
pub(crate) const MASKED: &str = "secrets are shown as placeholders such as ⟦secret:KIND:1⟧; written into a file or a command as they are, they \
     become the values again";

/// The warning of an answer with output that lacks words next to a gap, or next to a line that looks like one.
pub(crate) const CUT_AT_GAPS: &str = "next to lines like '… 12 bytes left out', words or whole lines are left out, since a secret may be cut there; \
     read a file that has such lines by its path";

/// The warning of an answer to a write that replaces a file of credentials.
pub(crate) const NOT_COMPARED: &str =
    "the file usually holds credentials, so its lines were not compared with those before";

/// The warning of an answer that does not name the version, for a file whose content may be shown.
pub(crate) const READ_FOR_VERSION: &str = "read the file again for its version before you change it by lines";

/// Returns the refusal of a file that is left out; `path` is as the request spelled it.
pub(crate) fn refusal(path: &str) -> WapError {
    let text = format!("'{path}' usually holds credentials, so its content is left out; {GRANT}");
    WapError::new(Reason::Protected, text).with("path", path)
}

/// Returns the warning of an answer from which files were left out.
pub(crate) fn warning(count: usize) -> String {
    match count {
        1 => format!("1 file that usually holds credentials is left out; {GRANT}"),
        count => format!("{count} files that usually hold credentials are left out; {GRANT}"),
    }
}
