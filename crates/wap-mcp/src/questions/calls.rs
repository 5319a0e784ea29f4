//! Calls about which the person at the client is asked.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::RequestContext;
use serde_json::Value;
use wap_core::Request;

use super::newer::Answered;
use super::open::Questions;
use crate::McpServer;
use crate::http::is_newer;

impl McpServer {
    /// Returns the questions about a call and its request; `None` if the person at the client is not asked.
    pub(crate) fn asks_about(
        &self,
        params: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<(Arc<Questions>, Request)> {
        let questions = self.config.questions.as_ref()?;
        let arguments = params.arguments.clone().map_or(Value::Null, Value::Object);
        let request = Request::parse(&params.name, arguments).ok()?;
        questions.may_ask(&request, context).then(|| (Arc::clone(questions), request))
    }

    /// Makes a call about which the person at the client is asked.
    pub(crate) async fn call_with_questions(
        &self,
        questions: &Questions,
        subject: &Request,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.clone().map_or(Value::Null, Value::Object);
        let is_newer = is_newer(context);
        let mut server = self.clone();
        if is_newer {
            match questions.answered(&self.client, &params, subject, context).await {
                Answered::Nothing => {}
                Answered::Undecided(error) => return Ok(self.failure(&error).into()),
                // Another conversation would propose the same again.
                Answered::Outdated(question) => {
                    server.client = self.client.in_conversation(&question.conversation);
                }
                Answered::Decided(question) => {
                    server.client = self.client.in_conversation(&question.conversation);
                    return server.call(&params.name, arguments, context).await.map(Into::into);
                }
            }
        }
        let call = server.call(&params.name, arguments, context);
        tokio::pin!(call);
        if is_newer {
            return tokio::select! {
                biased;
                answer = &mut call => answer.map(Into::into),
                // The call is dropped, and its proposal still waits for the answer.
                question = questions.required(&server.client, subject) => Ok(question.into()),
            };
        }
        let answer = tokio::select! {
            biased;
            answer = &mut call => answer,
            () = questions.ask_while_waiting(&self.client, &context.peer, subject) => call.await,
        };
        if context.ct.is_cancelled() {
            questions.give_up(&self.client.origin().conversation, subject);
        }
        answer.map(Into::into)
    }
}
