//! The clients that are known, and their ways of saying the same.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A client that can be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum McpClient {
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
}

/// The command by which a client starts this server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Absolute path of the program.
    pub program: String,
    pub arguments: Vec<String>,
}

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// JSON, with comments and trailing commas where the client allows them.
    Json,
    Toml,
}

impl McpClient {
    /// Returns where its configuration is; `None` if that is in a home folder and there is none.
    pub(crate) fn file(self, workspace: &Path) -> Option<PathBuf> {
        let variable =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || variable("HOME");
        match self {
            McpClient::ClaudeCode => Some(workspace.join(".mcp.json")),
            McpClient::Cursor => Some(workspace.join(".cursor/mcp.json")),
            McpClient::Vscode => Some(workspace.join(".vscode/mcp.json")),
            McpClient::Zed => {
                let folder = variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))?;
                Some(folder.join("zed/settings.json"))
            }
            McpClient::Codex => {
                let folder = variable("CODEX_HOME").or_else(|| Some(home()?.join(".codex")))?;
                Some(folder.join("config.toml"))
            }
        }
    }

    pub(crate) fn format(self) -> FileFormat {
        if self == McpClient::Codex { FileFormat::Toml } else { FileFormat::Json }
    }

    /// Returns the name of the table of servers.
    pub(crate) fn table(self) -> &'static str {
        match self {
            McpClient::ClaudeCode | McpClient::Cursor => "mcpServers",
            McpClient::Vscode => "servers",
            McpClient::Zed => "context_servers",
            McpClient::Codex => "mcp_servers",
        }
    }

    /// Returns the name of the server in that table. A file for all projects of a user names the project.
    pub(crate) fn entry_name(self, workspace: &Path) -> String {
        let folder = workspace.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let folder: String =
            folder.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        match self {
            McpClient::ClaudeCode | McpClient::Cursor | McpClient::Vscode => "agentd".to_owned(),
            McpClient::Zed | McpClient::Codex if folder.is_empty() => "agentd".to_owned(),
            McpClient::Zed | McpClient::Codex => format!("agentd-{folder}"),
        }
    }

    /// Returns the entry of the server.
    pub(crate) fn entry(self, server: &Server) -> Value {
        let Server { program, arguments } = server;
        match self {
            McpClient::ClaudeCode | McpClient::Vscode => {
                json!({ "type": "stdio", "command": program, "args": arguments })
            }
            McpClient::Cursor | McpClient::Codex => json!({ "command": program, "args": arguments }),
            McpClient::Zed => json!({ "source": "custom", "command": program, "args": arguments, "env": {} }),
        }
    }

    /// Returns the advice for the time after the file is written.
    pub(crate) fn next_step(self) -> &'static str {
        match self {
            McpClient::ClaudeCode => "start `claude` in the folder and allow the server; `/mcp` shows it",
            McpClient::Cursor => "Cursor shows it under Settings, MCP; switch it on there",
            McpClient::Vscode => {
                "open .vscode/mcp.json and choose Start above the server, then agent mode in the chat"
            }
            McpClient::Zed => "the Agent panel's settings show it with a green dot",
            McpClient::Codex => "start `codex` in the folder; `/mcp` shows it",
        }
    }
}
