//! The form of a question, and the verdict in an answer.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value, json};

use super::source::{Question, Verdict};

/// The field of the decision, and the two decisions.
const DECISION: &str = "decision";
const CARRY_OUT: &str = "carry out";
const SEND_BACK: &str = "send back";
/// The field for a comment to the model.
const COMMENT: &str = "comment";

/// The longest comment in characters.
const MOST_COMMENT: usize = 2_000;

/// Returns the question as a form.
pub(super) fn form(question: &Question) -> ElicitRequestParams {
    let form = json!({
        "mode": "form",
        "message": question.text,
        "requestedSchema": {
            "type": "object",
            "properties": {
                DECISION: {
                    "type": "string",
                    "title": "Decision",
                    "description": "Whether it is carried out, exactly as shown.",
                    "enum": [CARRY_OUT, SEND_BACK]
                },
                COMMENT: { "type": "string", "title": "Comment", "description": "A word for the model." }
            },
            "required": [DECISION]
        }
    });
    serde_json::from_value(form).expect("the form is one of the protocol")
}

/// Returns the verdict in an answer; `None` if it does not decide. Only the explicit word carries anything out: accepting an
/// empty form does not.
pub(super) fn verdict(answer: &ElicitResult) -> Option<Verdict> {
    let field =
        |name: &str| answer.content.as_ref().and_then(|content| content.get(name)).and_then(Value::as_str);
    let comment = || field(COMMENT).unwrap_or_default().trim().chars().take(MOST_COMMENT).collect();
    match (&answer.action, field(DECISION)) {
        (ElicitationAction::Accept, Some(CARRY_OUT)) => Some(Verdict::CarryOut),
        (ElicitationAction::Accept, Some(SEND_BACK)) | (ElicitationAction::Decline, _) => {
            Some(Verdict::SendBack { comment: comment() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use wap_core::ConversationId;

    use super::{Verdict, form, verdict};
    use crate::questions::Question;

    #[test]
    fn the_form_has_two_decisions_and_no_default() {
        let question = Question {
            proposal: 1,
            conversation: ConversationId("c".to_owned()),
            digest: "d".to_owned(),
            text: "May this run?".to_owned(),
        };
        let form = serde_json::to_value(form(&question)).expect("it is JSON");
        assert_eq!(form["requestedSchema"]["required"], json!(["decision"]));
        let decision = &form["requestedSchema"]["properties"]["decision"];
        assert_eq!(
            (&decision["enum"], &decision["default"]),
            (&json!(["carry out", "send back"]), &Value::Null)
        );
    }

    fn of(answer: Value) -> Option<Verdict> {
        serde_json::from_value(answer).ok().and_then(|answer| verdict(&answer))
    }

    #[test]
    fn only_the_word_carries_out() {
        assert_eq!(
            of(json!({ "action": "accept", "content": { "decision": "carry out" } })),
            Some(Verdict::CarryOut)
        );
        let back = |comment: &str| Some(Verdict::SendBack { comment: comment.to_owned() });
        let content = json!({ "decision": "send back", "comment": " No. " });
        assert_eq!(of(json!({ "action": "accept", "content": content })), back("No."));
        assert_eq!(of(json!({ "action": "decline" })), back(""));
        for nothing in [
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept", "content": { "decision": true } }),
            json!({ "action": "cancel", "content": { "decision": "carry out" } }),
            json!({ "action": "decide" }),
        ] {
            assert_eq!(of(nothing.clone()), None, "{nothing}");
        }
    }

    proptest! {
        #[test]
        fn no_other_word_carries_anything_out(action in "accept|decline|cancel", word in "[ a-zA-Z]{0,12}") {
            prop_assume!(word != "carry out");
            let answer = json!({ "action": action, "content": { "decision": word } });
            prop_assert_ne!(of(answer), Some(Verdict::CarryOut));
        }
    }
}
