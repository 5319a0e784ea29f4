//! The attributes that make a command a background process.

use std::borrow::Cow;

/// The background process that a RUN_COMMAND starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background<'a> {
    /// The name as written, without double quotes.
    pub name: Cow<'a, str>,
    /// The text in its output that marks it as ready, without double quotes; `None` if it is not waited for.
    pub ready: Option<Cow<'a, str>>,
}

impl Background<'_> {
    /// Returns the same attributes with owned texts.
    #[must_use]
    pub fn into_owned(self) -> Background<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Background { name: own(self.name), ready: self.ready.map(own) }
    }
}
