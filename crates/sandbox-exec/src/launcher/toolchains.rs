//! Toolchains in the home folder: found by name and shown read-only, without the secrets next to them.

use std::path::{Path, PathBuf};

use crate::launcher::canonical::canonicalize;

/// Folders in the home that hold programs and packages, each with its visible parts. New entries next to these, such as a
/// file with credentials, stay hidden.
const TOOLS: &[(&str, &[&str])] = &[
    (
        ".asdf",
        &["asdf.sh", "bin", "completions", "defaults", "installs", "lib", "libexec", "plugins", "shims"],
    ),
    (".bun", &["bin", "install"]),
    (".cabal", &["bin"]),
    // `config.toml` is shown as a copy without secrets.
    (".cargo", &["bin", "env", "git", "registry"]),
    (".conda", &["envs"]),
    (".deno", &["bin"]),
    // Next to them are the private keys of certificates.
    (".dotnet", &["dotnet", "host", "packs", "sdk", "sdk-manifests", "shared", "templates", "tools"]),
    (".elan", &["bin", "env", "settings.toml", "toolchains"]),
    (".fnm", &["aliases", "node-versions"]),
    (".ghcup", &["bin", "cabal", "env", "ghc", "hls", "lib", "share"]),
    (".gradle", &["wrapper"]),
    // Next to it are tokens for package servers.
    (".julia", &["juliaup"]),
    (".juliaup", &["bin"]),
    (".local", &["bin", "lib"]),
    (".local/pipx", &["shared", "venvs"]),
    (".local/share/fnm", &["aliases", "node-versions"]),
    (".local/share/mise", &["installs", "plugins", "shims"]),
    (".local/share/pipx", &["shared", "venvs"]),
    (".local/share", &["pnpm"]),
    (".local/share/rtx", &["installs", "plugins", "shims"]),
    // Next to them are the credentials for indexes.
    (".local/share/uv", &["python", "tools"]),
    (".m2", &["repository"]),
    (".nodenv", VERSION_MANAGER),
    (".nvm", &["alias", "bash_completion", "nvm-exec", "nvm.sh", "versions"]),
    ("", &[".opam"]),
    (".phpenv", VERSION_MANAGER),
    (".pyenv", VERSION_MANAGER),
    (".rbenv", VERSION_MANAGER),
    (".rustup", &["settings.toml", "toolchains"]),
    (".rvm", &["bin", "environments", "gems", "lib", "rubies", "scripts", "wrappers"]),
    (".sdkman", &["candidates"]),
    (".swiftly", &["bin", "config.json", "env.sh", "toolchains"]),
    (".volta", &["bin", "hooks.json", "tools"]),
    ("go", &["bin"]),
    ("go/pkg", &["mod", "sumdb"]),
];

/// The parts of a version manager of rbenv's family.
const VERSION_MANAGER: &[&str] = &[
    "bin",
    "completions",
    "libexec",
    "nodenv.d",
    "phpenv.d",
    "plugins",
    "pyenv.d",
    "rbenv.d",
    "shims",
    "version",
    "versions",
];

/// Returns the toolchains that exist. A link is left out: its target was not requested.
pub(crate) fn find(home: &Path) -> Vec<PathBuf> {
    let is_there = |path: &PathBuf| canonicalize(path).is_ok_and(|canonical| canonical == *path);
    let parts = |(folder, parts): &(&str, &'static [&str])| {
        // Joining nothing would add a slash.
        let folder = if folder.is_empty() { home.to_owned() } else { home.join(folder) };
        let parts = if is_there(&folder) { *parts } else { &[] };
        parts.iter().map(move |part| folder.join(part))
    };
    TOOLS.iter().flat_map(parts).filter(is_there).collect()
}
