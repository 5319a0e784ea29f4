//! Texts about each tool for clients: title, effect and best use.

use crate::Tool;

/// The guidelines for a model before it uses the tools, from the document's general guidelines and best practices.
pub const GUIDELINES: &str = "\
You work on one folder of code. Paths are relative to its root and separated by '/'.
1. Explore first: learn the structure before you change anything.
2. Read a file before you modify it, and use line ranges for large files.
3. Line numbers mean the file as you were last shown it. Where lines have moved since, a number that can mean two places \
is refused and both are shown; `was`, the first of the lines, decides at once.
4. Make one logical change at a time, and check it: read the file again or run the tests.
5. Every answer is bounded. A truncated one says so and names the call to go on with; else narrow the path or query.
6. When a call fails, read its code and details: they say what to do next.
Recursive operations leave out node_modules, .git, dist, build, .venv, target, __pycache__ and vendor unless \
excludePatterns says otherwise. Commands run confined.";

/// The reach of a tool's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolEffect {
    /// It changes nothing.
    Reads,
    /// It changes files of the workspace, or processes in it.
    Changes,
    /// It runs any command of the caller.
    Runs,
}

impl Tool {
    /// The document's seven tools, in its order.
    pub const DOCUMENTED: [Tool; 7] = [
        Tool::ExploreFiles,
        Tool::ReadFile,
        Tool::WriteFile,
        Tool::ModifyFile,
        Tool::SearchFiles,
        Tool::ExecuteCommand,
        Tool::GetWorkspaceInfo,
    ];

    /// Returns the tool's name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Tool::ExploreFiles => "Explore files",
            Tool::ReadFile => "Read file",
            Tool::WriteFile => "Write file",
            Tool::ModifyFile => "Modify file",
            Tool::DeleteFile => "Delete file",
            Tool::SearchFiles => "Search files",
            Tool::ExecuteCommand => "Execute command",
            Tool::StopProcess => "Stop process",
            Tool::GetWorkspaceInfo => "Get workspace info",
        }
    }

    /// Returns a description of the tool and its best use, for a model.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Tool::ExploreFiles => {
                "Lists a folder, recursively if asked, or finds files by `pattern`. Start with it."
            }
            Tool::ReadFile => {
                "Reads a file, or the lines startLine..endLine of it. Use ranges for large files. In text, each line \
                 follows its number and a bar, which are not part of the file. Names '@output/…' are read here too."
            }
            Tool::WriteFile => {
                "Writes a whole file: mode create fails if it exists, overwrite (default) replaces it, append adds to \
                 it. To change part of a file use modifyFile."
            }
            Tool::ModifyFile => {
                "Changes parts of a file by operations, all or nothing. Line numbers are 1-based, inclusive and mean the \
                 file as you were last shown it, for every operation. Once lines have moved use replaceText, or give \
                 `was`, the first line."
            }
            Tool::DeleteFile => "Deletes a file, or a symbolic link itself; folders are refused.",
            Tool::SearchFiles => {
                "Searches file contents for a text or a regular expression (linear time: no look-around, no \
                 back-references). One match per line. If truncated, use narrower paths or query."
            }
            Tool::ExecuteCommand => {
                "Runs a shell command, confined and with a time limit; nothing it starts outlives it. A non-zero exit \
                 code is a normal answer. A server runs on under the name in `background`: later commands reach it on \
                 localhost, readFile '@process/NAME' has its output."
            }
            Tool::StopProcess => "Ends a background process and returns its output.",
            Tool::GetWorkspaceInfo => "Returns the workspace's default exclusions, limits and confinement.",
        }
    }

    /// Returns the reach of the tool's effect.
    #[must_use]
    pub fn effect(self) -> ToolEffect {
        match self {
            Tool::ExploreFiles | Tool::ReadFile | Tool::SearchFiles | Tool::GetWorkspaceInfo => {
                ToolEffect::Reads
            }
            // Stopping a process does not wait for the running command.
            Tool::WriteFile | Tool::ModifyFile | Tool::DeleteFile | Tool::StopProcess => ToolEffect::Changes,
            Tool::ExecuteCommand => ToolEffect::Runs,
        }
    }
}
