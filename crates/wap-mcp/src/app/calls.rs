//! The calls of the app.

use std::sync::{Arc, LazyLock};

use content_hash::ContentHash;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Value, json};
use wap_core::{Reason, Request, Tool, WapError};

use super::tools::AppTool;
use crate::http::is_newer;
use crate::{McpServer, Question, Questions, ReviewProgress, ShownReview, Verdict, Wanted, extra_tool};

/// The subject of all handles of apps: answers to forms do not count here, nor the other way round.
static SUBJECT: LazyLock<ContentHash> = LazyLock::new(|| ContentHash::of(b"the app of the review"));

/// The subject of the names under which an app shows a proposal again. They cannot decide anything.
static VIEW: LazyLock<ContentHash> = LazyLock::new(|| ContentHash::of(b"what an app looks at"));

/// The longest comment in characters.
const MOST_COMMENT: usize = 2_000;

/// The arguments of `reviewShow`: the call next to which the app is drawn, or the name of an earlier view.
///
/// A proposal's number is not accepted: it would give access to the proposals of all other clients.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ShowArguments {
    view: Option<String>,
    tool: Option<String>,
    arguments: Value,
}

/// The arguments of `reviewDecide`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecideArguments {
    handle: String,
    decision: Decision,
    #[serde(default)]
    comment: String,
}

/// The two verdicts, by their exact words.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Decision {
    Land,
    SendBack,
}

impl McpServer {
    /// Answers a call of the app.
    pub(crate) async fn call_of_app(
        &self,
        tool: AppTool,
        questions: &Arc<Questions>,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let answer = match tool {
            AppTool::Show => self.show_review(questions, arguments, context).await,
            AppTool::Decide => self.decide_review(questions, arguments, context).await,
        };
        answer.unwrap_or_else(|error| self.failure(&error))
    }

    async fn show_review(
        &self,
        questions: &Questions,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, WapError> {
        let ShowArguments { view, tool, arguments } = extra_tool::read(arguments)?;
        // In the newer era over HTTP, each request is a separate client.
        let is_newer = is_newer(context);
        let wanted = match view {
            Some(view) => match questions.peek(&view, *VIEW) {
                Some(question) => Wanted::Numbered(question.proposal),
                None => return Ok(absent()),
            },
            None => match request(questions.reviewed_tools(), tool.as_deref(), &arguments) {
                Some(request) => Wanted::About { request: Box::new(request), is_own: !is_newer },
                None => return Ok(absent()),
            },
        };
        let Some(review) = questions.review(&self.client, wanted).await? else { return Ok(absent()) };
        let is_pending = review.progress == ReviewProgress::Pending;
        let handle = is_pending.then(|| questions.keep(*SUBJECT, review.question.clone()));
        let view = Question { digest: String::new(), ..review.question.clone() };
        Ok(drawn(&review, questions.keep(*VIEW, view), handle))
    }

    async fn decide_review(
        &self,
        questions: &Questions,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, WapError> {
        let DecideArguments { handle, decision, comment } = extra_tool::read(arguments)?;
        let question = questions.take(&handle, *SUBJECT).ok_or_else(|| {
            let text =
                "this was decided before, was shown too long ago, or was never shown; nothing was done";
            WapError::new(Reason::Conflict, text)
        })?;
        let number = question.proposal;
        let (verdict, word) = match decision {
            Decision::Land => {
                // A person has not read the parts that the app leaves out.
                let review = questions.review(&self.client, Wanted::Numbered(number)).await?;
                if review.is_none_or(|review| review.is_cut) {
                    let text =
                        format!("not all of proposal {number} is shown here: use `agentd review {number}`");
                    return Err(WapError::new(Reason::Conflict, text));
                }
                (Verdict::CarryOut, "carried out")
            }
            Decision::SendBack => {
                let comment = comment.trim().chars().take(MOST_COMMENT).collect();
                (Verdict::SendBack { comment }, "sent back")
            }
        };
        questions.decide_until_given_up(&self.client, question, verdict, context).await?;
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("proposal {number} was {word}"))]))
    }
}

/// Returns the request next to which an app is drawn. Hosts need not name the tool: the arguments of reviewed tools are
/// unambiguous.
fn request(reviewed: &[Tool], tool: Option<&str>, arguments: &Value) -> Option<Request> {
    let mut meant = reviewed.iter().filter(|one| tool.is_none_or(|name| name == one.name()));
    meant.find_map(|one| Request::parse(one.name(), arguments.clone()).ok())
}

fn absent() -> CallToolResult {
    with_text(json!({ "state": "absent" }), "nothing of this call waits for a review".to_owned())
}

/// Returns a proposal in the form that the app draws.
fn drawn(review: &ShownReview, view: String, handle: Option<String>) -> CallToolResult {
    let number = review.question.proposal;
    let (state, sentence) = match review.progress {
        ReviewProgress::Pending if review.is_cut => (
            "pending",
            format!(
                "Not all of it is shown here, so it cannot be landed from here: use agentd review {number}."
            ),
        ),
        ReviewProgress::Pending => ("pending", format!("Proposal {number} waits for you.")),
        ReviewProgress::Landing => ("landing", format!("Proposal {number} is being carried out.")),
        ReviewProgress::Landed => ("landed", format!("Proposal {number} was carried out.")),
        ReviewProgress::SentBack => ("sentBack", format!("Proposal {number} was sent back.")),
        ReviewProgress::Closed => ("closed", format!("Proposal {number} was closed without an answer.")),
    };
    let steps: Vec<Value> = review
        .steps
        .iter()
        .map(|step| {
            let lines = step.lines.iter().map(|line| json!({ "kind": line.kind.name(), "text": line.text }));
            json!({ "title": step.title, "lines": lines.collect::<Vec<_>>() })
        })
        .collect();
    let drawn = json!({
        "state": state,
        "sentence": sentence,
        "view": view,
        "subject": review.subject,
        "steps": steps,
        "isCut": review.is_cut,
        "handle": handle
    });
    with_text(drawn, sentence)
}

fn with_text(drawn: Value, text: String) -> CallToolResult {
    let mut result = CallToolResult::structured(drawn);
    result.content = vec![ContentBlock::text(text)];
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wap_core::Tool;

    use super::{DecideArguments, request};

    const REVIEWED: [Tool; 3] = [Tool::WriteFile, Tool::ModifyFile, Tool::ExecuteCommand];

    #[test]
    fn a_call_is_recognised_with_and_without_the_name_of_its_tool() {
        let write = json!({ "path": "a.txt", "content": "one\n" });
        let run = json!({ "command": "true" });
        let edit =
            json!({ "path": "a.txt", "operations": [{ "type": "delete", "startLine": 1, "endLine": 1 }] });
        for (arguments, tool) in
            [(write, Tool::WriteFile), (run, Tool::ExecuteCommand), (edit, Tool::ModifyFile)]
        {
            for name in [None, Some(tool.name())] {
                assert_eq!(
                    request(&REVIEWED, name, &arguments).map(|one| one.tool()),
                    Some(tool),
                    "{arguments}"
                );
            }
            assert!(request(&REVIEWED, Some("readFile"), &arguments).is_none());
        }
        assert!(request(&REVIEWED, None, &json!({ "path": "a.txt" })).is_none());
    }

    #[test]
    fn only_the_two_words_decide() {
        let of = |decision: serde_json::Value| {
            serde_json::from_value::<DecideArguments>(json!({ "handle": "h", "decision": decision })).is_ok()
        };
        assert!(of(json!("land")) && of(json!("sendBack")));
        for other in [json!("Land"), json!(true), json!(""), json!(null), json!(["land"])] {
            assert!(!of(other.clone()), "{other}");
        }
    }
}
