//! The settings of a server.

use std::sync::Arc;

use crate::{
    CodeIndexSource, CommandTasks, Contributions, ExtraTool, PageLimit, Questions, SubscriptionDesk,
    WorkspaceHistory,
};

/// The settings of a server.
#[derive(Clone)]
pub struct McpConfig {
    /// The name under which the server introduces itself.
    pub name: ServerName,
    /// Answers with exact WAP JSON instead of text.
    pub wap_json: bool,
    /// Tools in addition to the seven of the document.
    pub extra_tools: Vec<ExtraTool>,
    /// The most characters of an answer.
    pub page: PageLimit,
    /// The history for `undo` and `log`; without one, these tools report that there is none.
    pub history: Option<Arc<dyn WorkspaceHistory>>,
    /// The code index for the tools that use one; without one, they report that there is none.
    pub code: Option<Arc<dyn CodeIndexSource>>,
    /// The tasks for commands that outlive their client; without them every call is answered when its command has ended.
    pub tasks: Option<Arc<dyn CommandTasks>>,
    /// The questions to the person at the client, through forms and the app; without them, only other front ends review.
    pub questions: Option<Arc<Questions>>,
    /// The resources and the subscriptions to them, also for prompts and completions; without them, none of these is offered.
    pub resources: Option<Arc<SubscriptionDesk>>,
    /// The tools, prompts and resources that the author of the server adds.
    pub contributions: Arc<Contributions>,
}

/// The name and version of a server, as its clients show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerName {
    /// The short name, for programs.
    pub name: &'static str,
    /// The title, for people.
    pub title: &'static str,
    /// The version.
    pub version: &'static str,
}

impl McpConfig {
    /// Returns settings with the default page limit and without extra tools.
    #[must_use]
    pub fn new(name: ServerName) -> McpConfig {
        McpConfig {
            name,
            wap_json: false,
            extra_tools: Vec::new(),
            page: PageLimit::default(),
            history: None,
            code: None,
            tasks: None,
            questions: None,
            resources: None,
            contributions: Arc::default(),
        }
    }
}

impl std::fmt::Debug for McpConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("McpConfig").field("name", &self.name).finish_non_exhaustive()
    }
}
