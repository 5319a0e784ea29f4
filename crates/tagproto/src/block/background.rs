//! The attributes that make a command a background process.

use std::borrow::Cow;

/// The background process that a RUN_COMMAND starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background<'a> {
    /// Its name, as written; it holds no double quote.
    pub name: Cow<'a, str>,
    /// The text on its output that says that it is ready; `None` if it is not waited for. It holds no double quote.
    pub ready: Option<Cow<'a, str>>,
}

impl Background<'_> {
    /// Returns the same with texts of its own.
    #[must_use]
    pub fn into_owned(self) -> Background<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Background { name: own(self.name), ready: self.ready.map(own) }
    }
}
