//! The names that other programs obey, each with its list and the reason.
//!
//! *Never* is for names from which an editor, an agent or a version control system starts a program by
//! itself, as soon as a folder is opened or listed, and for files that `agentd setup` writes. Everything else
//! is *reported*: people want it edited, and should notice every change. Files that the user runs by an
//! explicit command, a `Makefile` or a script of `package.json`, are on neither list.

use crate::protected_name::NameRule::{self, Never, Reported};

/// Patterns with the same list and reason.
type Row = (&'static [&'static str], NameRule, &'static str);

/// The table of [`ProtectedNames::default`](crate::ProtectedNames::default).
pub(crate) const OBEYED_NAMES: &[Row] = &[
    (&[".git"], Never, "git runs hooks and programs that it names"),
    (&[".agentd"], Never, "agentd keeps its own state there"),
    (
        &[".sl", ".pijul", "_darcs", ".repo", ".bzr"],
        Never,
        "the version control system runs hooks and programs that it names",
    ),
    (&[".hg", ".jj"], Never, "the version control system runs hooks and programs that it names"),
    (&[".svn"], Never, "the version control system keeps its own state there"),
    (
        &["CVS/Root", "CVS/Checkin.prog", "CVS/Update.prog"],
        Reported,
        "CVS looks there for its repository and for programs to run",
    ),
    (&[".fslckout", "_FOSSIL_"], Reported, "Fossil runs hooks and programs of the repository that it names"),
    // Editors.
    (
        &[".vscode/tasks.json", ".vscode/settings.json", ".vscode/mcp.json", "*.code-workspace"],
        Never,
        "Visual Studio Code starts what it names when the folder is opened",
    ),
    (&[".vscode"], Reported, "Visual Studio Code offers to run or install what it names"),
    (
        &[".theia/tasks.json", ".theia/settings.json"],
        Never,
        "Theia starts what it names when the folder is opened",
    ),
    (&[".theia"], Reported, "Theia offers to run what it names"),
    (&[".idea"], Never, "JetBrains IDEs start what it names when the folder is opened"),
    (&[".run"], Reported, "JetBrains IDEs offer to run what it names"),
    (&[".fleet/settings.json"], Never, "Fleet starts what it names when the folder is opened"),
    (&[".fleet"], Reported, "Fleet offers to run what it names"),
    (&[".zed/settings.json"], Never, "Zed starts what it names when the folder is opened"),
    (&[".zed"], Reported, "Zed offers to run what it names"),
    (&[".helix"], Never, "Helix starts the language servers that it names"),
    (&["*.sublime-project"], Never, "Sublime Text starts the language servers that it names"),
    (
        &[".nvim.lua", ".nvimrc", ".exrc", "_exrc", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc", ".local.vimrc"],
        Never,
        "Vim and Neovim run it when they start in the folder",
    ),
    (&[".lazy.lua"], Never, "Neovim's lazy.nvim runs it when it starts in the folder"),
    (&[".bsp"], Never, "Metals and JetBrains IDEs start the build server that it names"),
    (&[".vs"], Never, "Visual Studio takes settings and tasks from it when the folder is opened"),
    (&[".externalToolBuilders"], Never, "Eclipse runs the programs that it names with each build"),
    (&["omnisharp.json", ".luarc.json"], Reported, "language servers load the plug-ins that it names"),
    (&[".vim/coc-settings.json"], Never, "Vim starts the language servers that it names"),
    (
        &["rust-analyzer.toml", ".rust-analyzer.toml"],
        Never,
        "rust-analyzer starts the programs that it names",
    ),
    (
        &[".dir-locals.el", ".dir-locals-2.el"],
        Reported,
        "Emacs takes settings from it, and asks before it evaluates",
    ),
    (&[".ycm_extra_conf.py"], Reported, "YouCompleteMe runs it after asking"),
    (
        &[".devcontainer", ".devcontainer.json"],
        Reported,
        "editors build and start containers from it after asking",
    ),
    // Agents.
    (&[".mcp.json", "opencode.json", "opencode.jsonc"], Never, "agents start the servers that it names"),
    (
        &[".cursor/*.json"],
        Never,
        "Cursor starts the servers and hooks that it names, and takes permissions from it",
    ),
    (&[".cursor", ".cursorrules"], Reported, "Cursor gives it to its agent as instructions"),
    (
        &[".claude/settings*.json", ".claude/hooks"],
        Never,
        "Claude Code runs the hooks that it names, and takes permissions from it",
    ),
    (&[".claude", "CLAUDE.md", "CLAUDE.local.md"], Reported, "Claude Code obeys it as instructions"),
    (&[".codex"], Never, "Codex starts the servers and hooks that it names, and takes permissions from it"),
    (
        &[".gemini/settings.json", ".gemini/.env", ".gemini/extensions", ".gemini/hooks"],
        Never,
        "Gemini CLI starts the servers and tools that it names",
    ),
    (&[".gemini", "GEMINI.md"], Reported, "Gemini CLI obeys it as instructions"),
    (
        &[".windsurf/hooks.json", ".windsurf/mcp*.json"],
        Never,
        "Windsurf starts the servers and hooks that it names",
    ),
    (&[".windsurf", ".windsurfrules"], Reported, "Windsurf obeys it as instructions"),
    (&[".continue/mcpServers", ".continue/config.*"], Never, "Continue starts the servers that it names"),
    (&[".continue", ".continuerules"], Reported, "Continue obeys it as instructions"),
    (&[".clinerules/hooks"], Never, "Cline runs it"),
    (&[".clinerules"], Reported, "Cline obeys it as instructions"),
    (&[".roo/mcp.json", ".kilocode/mcp.json"], Never, "agents start the servers that it names"),
    (&[".roo", ".roorules", ".roomodes", ".kilocode"], Reported, "agents obey it as instructions"),
    (&[".aider.conf.yml"], Never, "aider runs the commands that it names after each edit"),
    (&[".kiro/settings", ".kiro/hooks"], Never, "Kiro starts the servers and hooks that it names"),
    (&[".kiro"], Reported, "Kiro obeys it as instructions"),
    (&[".trae/mcp.json"], Never, "Trae starts the servers that it names"),
    (&[".trae"], Reported, "Trae obeys it as instructions"),
    (&[".junie/mcp"], Never, "Junie starts the servers that it names"),
    (&[".junie"], Reported, "Junie obeys it as instructions"),
    (
        &[".amazonq/mcp.json", ".amazonq/default.json", ".amazonq/cli-agents", ".amazonq/agents"],
        Never,
        "Amazon Q starts the servers and hooks that it names",
    ),
    (&[".amazonq"], Reported, "Amazon Q obeys it as instructions"),
    (&[".opencode/plugin", ".opencode/plugins"], Never, "OpenCode loads it when it starts"),
    (&[".opencode"], Reported, "OpenCode obeys it as instructions"),
    (
        &[".qwen/settings.json", ".factory/*.json", "crush.json", ".crush.json", ".openhands/setup.sh"],
        Never,
        "agents start the servers and scripts that it names",
    ),
    (&[".qwen", ".factory", ".openhands", "QWEN.md"], Reported, "agents obey it as instructions"),
    (&[".github/hooks"], Never, "Copilot runs the hooks that it names"),
    (&["AGENTS.md", "AGENT.md"], Reported, "agents obey it as instructions"),
    // Forges.
    (
        &[
            ".github/workflows",
            ".github/actions",
            ".gitlab-ci.yml",
            ".gitea/workflows",
            ".forgejo/workflows",
            ".circleci",
            ".buildkite",
            ".woodpecker",
            ".woodpecker.*",
            ".drone.yml",
            ".travis.yml",
            ".appveyor.yml",
            "appveyor.yml",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "Jenkinsfile",
        ],
        Reported,
        "runs on the forge when pushed",
    ),
    (&[".github"], Reported, "the forge and its agents obey it when pushed"),
    // Hooks and tools of version control.
    (
        &[".husky", ".githooks", ".pre-commit-config.yaml", "lefthook.*", ".lefthook.*", "lefthook-local.*"],
        Reported,
        "git hooks run it where they are installed",
    ),
    (&[".gitattributes"], Reported, "assigns the filters and drivers that git runs"),
    (&[".lfsconfig"], Reported, "says where Git LFS fetches and pushes large files: show it to the user"),
    (&[".gitmodules"], Reported, "says from where git fetches submodules: show it to the user"),
    // Shells and version managers.
    (&[".envrc", ".direnv"], Reported, "direnv runs it in the shell once it is allowed"),
    (&[".env", ".env.*"], Reported, "programs and shells take variables from it"),
    (
        &[".tool-versions", "mise.toml", ".mise.toml", "mise.*.toml", ".mise"],
        Reported,
        "chooses the programs that run",
    ),
    (&["rust-toolchain", "rust-toolchain.toml"], Reported, "chooses the compiler that runs"),
    // Package managers and builds, which read these files in addition to the user's command.
    (&[".cargo/config", ".cargo/config.toml"], Reported, "cargo runs the programs that it names"),
    (
        &[
            ".npmrc",
            ".yarnrc*",
            ".yarn/releases",
            ".yarn/plugins",
            ".pnpmfile.*",
            "pnpmfile.*",
            "bunfig.toml",
        ],
        Reported,
        "the package manager loads or runs what it names",
    ),
    (&[".bazelrc", ".mvn", "gradle.properties", "gradle/wrapper"], Reported, "decides what the build starts"),
    (
        &["pyvenv.cfg", "sitecustomize.py", "usercustomize.py", "site-packages/*.pth"],
        Reported,
        "Python obeys it whenever it starts",
    ),
    (
        &[".Rprofile", ".Renviron", ".ghci", ".pdbrc", ".irbrc", ".pryrc", ".iex.exs", ".proverc"],
        Reported,
        "the language's own tools run it when they start in the folder",
    ),
    (&[".gdbinit", ".lldbinit"], Reported, "the debugger runs it when it starts in the folder"),
];
