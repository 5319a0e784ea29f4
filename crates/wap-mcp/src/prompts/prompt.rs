//! The list of prompts.

use rmcp::model::{ListPromptsResult, Prompt, PromptArgument};

use crate::McpConfig;

/// A prompt of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerPrompt {
    /// Reviews the changes of a run.
    ReviewChanges,
    /// Explains why a command failed.
    ExplainFailure,
    /// Reverts the last change.
    UndoLast,
    /// Continues the work of another conversation.
    ContinueSession,
}

/// The meaning of an argument, which determines its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    /// The number of a run.
    Run,
    /// The path of a file.
    Path,
    /// The name of a conversation.
    Conversation,
}

impl ArgumentKind {
    /// Returns the name of an argument of this kind.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ArgumentKind::Run => "run",
            ArgumentKind::Path => "path",
            ArgumentKind::Conversation => "conversation",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            ArgumentKind::Run => "The number of a run; the newest one that fits, if it is left out",
            ArgumentKind::Path => "Only this file",
            ArgumentKind::Conversation => {
                "The session or client whose work is continued; the newest one, if it is left out"
            }
        }
    }
}

impl ServerPrompt {
    /// All of them, in the order of the list.
    pub(crate) const ALL: [ServerPrompt; 4] = [
        ServerPrompt::ReviewChanges,
        ServerPrompt::ExplainFailure,
        ServerPrompt::UndoLast,
        ServerPrompt::ContinueSession,
    ];

    /// Returns the prompt of a name.
    pub(crate) fn named(name: &str) -> Option<ServerPrompt> {
        ServerPrompt::ALL.into_iter().find(|prompt| prompt.name() == name)
    }

    /// Returns its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ServerPrompt::ReviewChanges => "review-changes",
            ServerPrompt::ExplainFailure => "explain-failure",
            ServerPrompt::UndoLast => "undo-last",
            ServerPrompt::ContinueSession => "continue-session",
        }
    }

    /// Returns a description of one line.
    pub(crate) const fn description(self) -> &'static str {
        match self {
            ServerPrompt::ReviewChanges => "Review what a run has changed in the workspace",
            ServerPrompt::ExplainFailure => "Explain why the last failed command failed",
            ServerPrompt::UndoLast => "Take the last change of the workspace back",
            ServerPrompt::ContinueSession => "Continue the work that another conversation has begun",
        }
    }

    /// Returns its arguments, which are all optional.
    pub(crate) const fn arguments(self) -> &'static [ArgumentKind] {
        match self {
            ServerPrompt::ReviewChanges => &[ArgumentKind::Run, ArgumentKind::Path],
            ServerPrompt::ExplainFailure => &[ArgumentKind::Run],
            ServerPrompt::UndoLast => &[],
            ServerPrompt::ContinueSession => &[ArgumentKind::Conversation],
        }
    }
}

/// Lists the prompts: those of the workspace, if it has their subject, and the contributed ones.
pub(crate) fn list(config: &McpConfig) -> ListPromptsResult {
    let argument = |kind: &ArgumentKind| {
        PromptArgument::new(kind.name()).with_description(kind.description()).with_required(false)
    };
    let listed = |prompt: ServerPrompt| {
        let arguments: Vec<_> = prompt.arguments().iter().map(argument).collect();
        Prompt::new(prompt.name(), Some(prompt.description()), (!arguments.is_empty()).then_some(arguments))
    };
    let of_workspace = ServerPrompt::ALL.into_iter().filter(|prompt| is_of_workspace(prompt.name(), config));
    let mut prompts: Vec<Prompt> = of_workspace.map(listed).collect();
    for prompt in config.contributions.prompts() {
        if !prompts.iter().any(|other| other.name == prompt.name) {
            prompts.push(prompt);
        }
    }
    ListPromptsResult::with_all_items(prompts)
}

/// Checks whether the workspace has a prompt of this name, so that no contributed one is used instead.
pub(crate) fn is_of_workspace(name: &str, config: &McpConfig) -> bool {
    config.resources.is_some() && ServerPrompt::named(name).is_some()
}
