//! Cases of replies that were cut off.

use serde_json::{Value, json};
use tagproto::{Dialect, Incoming, Session};

use crate::conformance::Outcome;

/// Lets the replies of a case arrive in a session, one after the other.
pub(crate) fn run(case: &Value) -> Outcome {
    let Some(replies) = case["replies"].as_array() else {
        return Outcome::Failed("the case has no replies".to_owned());
    };
    let id = "a1b2c3d4".parse().expect("the id is of the right form");
    let mut session = Session::new(id, "task", "", Dialect::Agentd, None);
    let received = replies.iter().map(|reply| receive(&mut session, reply.as_str().unwrap_or_default()));
    Outcome::compare("the replies", &case["expect"], &received.collect())
}

fn receive(session: &mut Session, reply: &str) -> Value {
    match session.incoming(reply) {
        Incoming::Whole(text) => {
            let text = text.into_owned();
            session.held = None;
            json!({ "carried_out": text })
        }
        Incoming::Anew(text) => {
            session.held = None;
            json!({ "anew": text })
        }
        Incoming::Instead(text) => json!({ "instead": text }),
        Incoming::CutOff { held, .. } => {
            let lines = json!({ "held": held.last_lines() });
            session.hold(Some(held), "");
            lines
        }
        Incoming::NotContinued => {
            session.hold(None, "");
            json!({ "not_continued": true })
        }
    }
}
