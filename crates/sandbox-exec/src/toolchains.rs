//! Toolchains in the home folder: found by name and shown read-only, without the secrets that lie beside them.

use std::path::{Path, PathBuf};

use crate::canonical::canonicalize;

/// Paths below the home folder that hold programs and packages. Where a tool keeps credentials beside them
/// (`.cargo/credentials.toml`, `.m2/settings.xml`, `.gradle/gradle.properties`), only the parts without are listed.
const PLACES: [&str; 39] = [
    ".asdf",
    ".bun/bin",
    ".bun/install",
    ".cabal/bin",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".conda/envs",
    ".deno/bin",
    ".dotnet",
    ".elan",
    ".fnm",
    ".ghcup",
    ".gradle/wrapper",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/rtx",
    ".local/share/uv",
    ".m2/repository",
    ".nodenv",
    ".nvm",
    ".opam",
    ".phpenv",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman/candidates",
    ".swiftly",
    ".volta",
    "go/bin",
    "go/pkg",
];

/// Returns those that exist. One that is a link is left out: what it leads to was not asked for.
pub(crate) fn find(home: &Path) -> Vec<PathBuf> {
    PLACES
        .iter()
        .map(|place| home.join(place))
        .filter(|place| canonicalize(place).is_ok_and(|canonical| canonical == *place))
        .collect()
}
