//! The clients, and their descriptions of a server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::formats::FileFormat;

/// The file of Cline, an extension of Visual Studio Code, among the user's settings.
const CLINE_FILE: &str = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

/// The time that Goose waits for a call, in seconds; a command may take as long as `agentd` allows by default.
const GOOSE_TIMEOUT_S: u32 = 300;

/// A client that can be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum McpClient {
    /// Claude Code, for the project.
    ClaudeCode,
    /// Cursor, for the project.
    Cursor,
    /// Visual Studio Code, for the project.
    Vscode,
    /// Zed, for the user.
    Zed,
    /// Codex, for the user.
    Codex,
    /// Claude Desktop, for the user.
    ClaudeDesktop,
    /// Windsurf, for the user.
    Windsurf,
    /// Cline in Visual Studio Code, for the user.
    Cline,
    /// Gemini CLI, for the project.
    GeminiCli,
    /// opencode, for the project.
    Opencode,
    /// Goose, for the user.
    Goose,
}

/// The command with which a client starts this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Absolute path of the program.
    pub program: String,
    /// Its arguments, without the program.
    pub arguments: Vec<String>,
}

impl McpClient {
    /// All clients.
    pub const ALL: &'static [McpClient] = &[
        McpClient::ClaudeCode,
        McpClient::Cursor,
        McpClient::Vscode,
        McpClient::Zed,
        McpClient::Codex,
        McpClient::ClaudeDesktop,
        McpClient::Windsurf,
        McpClient::Cline,
        McpClient::GeminiCli,
        McpClient::Opencode,
        McpClient::Goose,
    ];

    /// Returns the path of its configuration; `None` if that is in a home folder that does not exist.
    ///
    /// `workspace` is the absolute path of the folder of code, and `environment` returns the value of a variable: `HOME`,
    /// `XDG_CONFIG_HOME` and `CODEX_HOME` are used if they are absolute paths.
    pub fn file(self, workspace: &Path, environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let variable = |name: &str| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || variable("HOME");
        let config = || variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")));
        match self {
            McpClient::ClaudeCode => Some(workspace.join(".mcp.json")),
            McpClient::Cursor => Some(workspace.join(".cursor/mcp.json")),
            McpClient::Vscode => Some(workspace.join(".vscode/mcp.json")),
            McpClient::GeminiCli => Some(workspace.join(".gemini/settings.json")),
            McpClient::Opencode => Some(workspace.join("opencode.json")),
            McpClient::Zed => Some(config()?.join("zed/settings.json")),
            McpClient::ClaudeDesktop => Some(config()?.join("Claude/claude_desktop_config.json")),
            McpClient::Windsurf => Some(home()?.join(".codeium/windsurf/mcp_config.json")),
            McpClient::Cline => Some(config()?.join(CLINE_FILE)),
            McpClient::Goose => Some(config()?.join("goose/config.yaml")),
            McpClient::Codex => {
                let folder = variable("CODEX_HOME").or_else(|| Some(home()?.join(".codex")))?;
                Some(folder.join("config.toml"))
            }
        }
    }

    /// Returns the format of that file.
    pub fn format(self) -> FileFormat {
        match self {
            McpClient::Codex => FileFormat::Toml,
            McpClient::Goose => FileFormat::Yaml,
            _ => FileFormat::Json,
        }
    }

    /// Returns the name of the table of servers.
    pub fn table(self) -> &'static str {
        match self {
            McpClient::ClaudeCode
            | McpClient::Cursor
            | McpClient::ClaudeDesktop
            | McpClient::Windsurf
            | McpClient::Cline
            | McpClient::GeminiCli => "mcpServers",
            McpClient::Opencode => "mcp",
            McpClient::Goose => "extensions",
            McpClient::Vscode => "servers",
            McpClient::Zed => "context_servers",
            McpClient::Codex => "mcp_servers",
        }
    }

    /// Checks whether the file is in the folder of code, and not among the user's settings.
    #[must_use]
    pub fn is_of_project(self) -> bool {
        use McpClient::{ClaudeCode, Cursor, GeminiCli, Opencode, Vscode};
        matches!(self, ClaudeCode | Cursor | Vscode | GeminiCli | Opencode)
    }

    /// Returns the entry of the server for the table, an object in all formats.
    pub fn entry(self, name: &str, server: &Server) -> Value {
        let Server { program, arguments } = server;
        match self {
            McpClient::ClaudeCode | McpClient::Vscode => {
                json!({ "type": "stdio", "command": program, "args": arguments })
            }
            McpClient::Cursor
            | McpClient::Codex
            | McpClient::ClaudeDesktop
            | McpClient::Windsurf
            | McpClient::Cline
            | McpClient::GeminiCli => json!({ "command": program, "args": arguments }),
            McpClient::Opencode => {
                let command: Vec<&String> = std::iter::once(program).chain(arguments).collect();
                json!({ "type": "local", "command": command, "enabled": true })
            }
            // Goose loads one extension per name, regardless of its key.
            McpClient::Goose => json!({
                "name": name, "description": "Files, searches and confined commands of one folder",
                "type": "stdio", "enabled": true, "cmd": program, "args": arguments, "timeout": GOOSE_TIMEOUT_S
            }),
            McpClient::Zed => json!({ "source": "custom", "command": program, "args": arguments, "env": {} }),
        }
    }

    /// Returns the advice to the user after the file is written, one line.
    pub fn next_step(self) -> &'static str {
        match self {
            McpClient::ClaudeCode => "start `claude` in the folder and allow the server; `/mcp` shows it",
            McpClient::Cursor => "Cursor shows it under Settings, MCP; switch it on there",
            McpClient::Vscode => {
                "open .vscode/mcp.json and choose Start above the server, then agent mode in the chat"
            }
            McpClient::Zed => "the Agent panel's settings show it with a green dot",
            McpClient::Codex => "start `codex` in the folder; `/mcp` shows it",
            McpClient::ClaudeDesktop => "restart Claude Desktop; Settings, Developer shows it as running",
            McpClient::Windsurf => {
                "Windsurf shows it under Settings, Cascade, MCP servers; press Refresh there"
            }
            McpClient::Cline => "Cline shows it under MCP Servers, Installed",
            McpClient::GeminiCli => "start `gemini` in the folder and trust it; `/mcp` shows it",
            McpClient::Opencode => {
                "start `opencode` in the folder; `opencode mcp list` shows it as connected"
            }
            McpClient::Goose => "start `goose session`; `goose info -v` shows the extension",
        }
    }
}
