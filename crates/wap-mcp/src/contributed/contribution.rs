//! The trait that an author implements.

use rmcp::model::{
    CallToolResult, ErrorData, GetPromptResult, InputRequests, JsonObject, Prompt, ReadResourceResult,
    Reference, Resource, ResourceTemplate, Tool,
};

use super::{ContributionCall, ResourceChanges};

/// Tools, prompts and resources beside those of the workspace.
///
/// Methods that answer requests may wait: each call has a thread of its own. The lists are read for each client, must
/// not wait, and stay the same as long as the server runs.
pub trait Contribution: Send + Sync {
    /// Returns the tools. A tool with the name of a tool of the workspace is not offered.
    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    /// Calls a tool of [`tools`](Contribution::tools). A failure that the model should read is a result with `isError`.
    ///
    /// # Errors
    ///
    /// An error of the protocol, for clients.
    fn call_tool(
        &self,
        _call: &ContributionCall,
        name: &str,
        _arguments: JsonObject,
    ) -> Result<Outcome<CallToolResult>, ErrorData> {
        Err(ErrorData::invalid_params(format!("there is no tool '{name}'"), None))
    }

    /// Returns the prompts. A prompt with the name of a prompt of the workspace is not offered.
    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    /// Fills a prompt of [`prompts`](Contribution::prompts).
    ///
    /// # Errors
    ///
    /// An error of the protocol, about an argument for instance.
    fn get_prompt(
        &self,
        _call: &ContributionCall,
        name: &str,
        _arguments: JsonObject,
    ) -> Result<Outcome<GetPromptResult>, ErrorData> {
        Err(ErrorData::invalid_params(format!("there is no prompt '{name}'"), None))
    }

    /// Returns the resources. Names that begin with `agentd://` and `ui://agentd/` are those of the workspace.
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// Returns the templates of resources that are not listed one by one.
    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Reads a resource, listed or of a template; `None` if this contribution has none of this name.
    ///
    /// # Errors
    ///
    /// An error of the protocol if the resource is there and cannot be read.
    fn read_resource(
        &self,
        _call: &ContributionCall,
        _uri: &str,
    ) -> Result<Option<Outcome<ReadResourceResult>>, ErrorData> {
        Ok(None)
    }

    /// Returns the handle by which this contribution reports changed resources; `None` if none of them changes.
    fn changes(&self) -> Option<&ResourceChanges> {
        None
    }

    /// Reports whether there is a resource of this name, listed or of a template, that can change: clients may follow it. Must
    /// not wait. Names of more than 4,096 bytes cannot be followed, and are not asked about.
    fn can_change(&self, _uri: &str) -> bool {
        false
    }

    /// Reports whether this contribution writes [log messages](ContributionCall::log), so that clients may choose those that they
    /// want. Without it, none is sent.
    fn logs(&self) -> bool {
        false
    }

    /// Returns values that begin with a text, for an argument of a prompt or a variable of a template of this contribution;
    /// `None` if it is not of this contribution. The server shows at most 100 of them.
    fn complete(&self, _subject: &Reference, _argument: &str, _begun: &str) -> Option<Vec<String>> {
        None
    }
}

/// The outcome of one step of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// The request is answered.
    Done(T),
    /// The client is asked first, and the request is made again with its answers.
    Asks(Need),
}

/// Questions to a client before its request is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The questions by names of the contribution's choice, by which the answers are found.
    pub requests: InputRequests,
    /// The state that the contribution needs when it is called again, at most 64 KiB; the client sees a random name of it only,
    /// which counts once and for the same request only. Without it, a client may send answers that it was not asked for.
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
