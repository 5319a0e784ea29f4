//! The trait for authors of servers.

use rmcp::model::{
    CallToolResult, ErrorData, GetPromptResult, InputRequests, JsonObject, Prompt, ReadResourceResult,
    Reference, Resource, ResourceTemplate, Tool,
};

use super::{ContributionCall, ResourceChanges};

/// Tools, prompts and resources in addition to those of the workspace.
///
/// Methods that answer requests may block: each call has its own thread. The lists are read for each client, must not block, and
/// must not change while the server runs.
pub trait Contribution: Send + Sync {
    /// Returns the tools. A tool with the name of a workspace tool is not offered.
    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    /// Calls a tool of [`tools`](Contribution::tools). A failure that the model should read is a result with `isError`.
    ///
    /// # Errors
    ///
    /// A protocol error, for clients.
    fn call_tool(
        &self,
        _call: &ContributionCall,
        name: &str,
        _arguments: JsonObject,
    ) -> Result<Outcome<CallToolResult>, ErrorData> {
        Err(ErrorData::invalid_params(format!("there is no tool '{name}'"), None))
    }

    /// Returns the prompts. A prompt with the name of a workspace prompt is not offered.
    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    /// Fills a prompt of [`prompts`](Contribution::prompts).
    ///
    /// # Errors
    ///
    /// A protocol error, for example about an argument.
    fn get_prompt(
        &self,
        _call: &ContributionCall,
        name: &str,
        _arguments: JsonObject,
    ) -> Result<Outcome<GetPromptResult>, ErrorData> {
        Err(ErrorData::invalid_params(format!("there is no prompt '{name}'"), None))
    }

    /// Returns the resources. Names that begin with `agentd://` and `ui://agentd/` belong to the workspace.
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// Returns the templates of resources that are not listed one by one.
    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Reads a resource, listed or of a template; `None` if this contribution does not have it.
    ///
    /// # Errors
    ///
    /// A protocol error if the resource exists and cannot be read.
    fn read_resource(
        &self,
        _call: &ContributionCall,
        _uri: &str,
    ) -> Result<Option<Outcome<ReadResourceResult>>, ErrorData> {
        Ok(None)
    }

    /// Returns the handle with which this contribution reports changed resources; `None` if they never change.
    fn changes(&self) -> Option<&ResourceChanges> {
        None
    }

    /// Checks whether there is a resource of this name, listed or of a template, that can change: clients may follow it. Must not
    /// block. Names of more than 4,096 bytes cannot be followed and are not passed.
    fn can_change(&self, _uri: &str) -> bool {
        false
    }

    /// Checks whether this contribution writes [log messages](ContributionCall::log), so that clients can choose a level.
    /// Otherwise none is sent.
    fn logs(&self) -> bool {
        false
    }

    /// Returns values that begin with a text, for an argument of a prompt or a variable of a template of this contribution;
    /// `None` for those of others. The server shows at most 100 values.
    fn complete(&self, _subject: &Reference, _argument: &str, _begun: &str) -> Option<Vec<String>> {
        None
    }
}

/// The outcome of one step of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// The request is answered.
    Done(T),
    /// The client is asked first, and the request is repeated with its answers.
    Asks(Need),
}

/// Questions to a client before its request is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The questions by names that the contribution chooses and that identify the answers.
    pub requests: InputRequests,
    /// The state that the contribution needs when it is called again, at most 64 KiB; the client only sees a random name, which
    /// is valid once and for the same request. Without a state, a client may send answers to questions that were not asked.
    pub state: Option<String>,
}

impl<T> Outcome<T> {
    /// Applies a function to the answer.
    pub(super) fn map<U>(self, function: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Done(value) => Outcome::Done(function(value)),
            Outcome::Asks(need) => Outcome::Asks(need),
        }
    }
}
