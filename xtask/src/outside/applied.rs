//! Applying a reply to files as a session does.

use std::collections::BTreeMap;
use std::time::Duration;

use tag_session::{Applied as SessionApplied, ApplyOptions, SessionError};
use tagproto::{Dialect, UnobservedExecution};
use wap_core::CancelFlag;

use crate::conformance::{Fixture, Problem};

/// The result of a reply.
pub(super) struct Applied {
    /// True if there is an edit and every edit was carried out.
    pub(super) is_done: bool,
    /// The first line of the first result that says why not.
    pub(super) why: String,
    /// The files afterwards.
    pub(super) after: BTreeMap<String, String>,
}

/// Shows the files to a session, and applies the reply.
///
/// # Errors
///
/// A problem if the session cannot be held; a refused reply is none.
pub(super) fn apply(before: &BTreeMap<String, String>, reply: &str) -> Result<Applied, Problem> {
    let fixture = Fixture::new()?;
    for (path, text) in before {
        fixture.put(path, text)?;
    }
    let sessions = fixture.sessions()?;
    let session = sessions.create("Replay", Dialect::Agentd, None, &CancelFlag::new())?;
    let apply = |text: &str| {
        let (options, cancel) = (ApplyOptions::default(), CancelFlag::new());
        let timeout = Duration::from_secs(30);
        sessions.apply(session.session_id, text, timeout, options, &cancel, &mut UnobservedExecution)
    };
    let views: String = before.keys().map(|path| format!("[READ_FILE path=\"{path}\"]\n")).collect();
    if !views.is_empty() {
        apply(&views)?;
    }
    let (is_done, why) = match apply(reply) {
        Ok(SessionApplied::Executed(executed)) => {
            let failed = executed.results.iter().find(|result| !result.success);
            let why = failed.map_or_else(
                || "no edit".to_owned(),
                // A block that was not carried out at all has a summary alone.
                |result| first_line(if result.output.is_empty() { &result.summary } else { &result.output }),
            );
            (!executed.results.is_empty() && failed.is_none(), why)
        }
        Ok(SessionApplied::AlreadyDone { .. }) => return Err(Problem::new("the reply was known before")),
        Err(SessionError::Refused(refusal)) => (false, first_line(&refusal.to_string())),
        Err(error) => return Err(error.into()),
    };
    let mut after = BTreeMap::new();
    for (path, content) in fixture.files()? {
        after.insert(path, String::from_utf8_lossy(&content).into_owned());
    }
    Ok(Applied { is_done, why, after })
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
