//! The user's download caches: found by name in the home folder, without the credentials next to them.

use std::path::{Path, PathBuf};

use crate::launcher::canonical::canonicalize;

/// Folders in the home with files that programs have downloaded or built, and can download or build again.
///
/// Each is the innermost folder of the cache: settings and tokens are next to it, for instance in
/// `~/.m2/settings.xml`, `~/.gradle/gradle.properties`, `~/.cargo/credentials.toml` and `~/.cache/huggingface/token`.
const CACHES: &[&str] = &[
    ".bun/install/cache",
    ".cabal/packages",
    ".cache/Cypress",
    ".cache/JNA",
    ".cache/ccache",
    ".cache/clang",
    ".cache/composer/files",
    ".cache/composer/repo",
    ".cache/coursier/v1",
    ".cache/deno",
    ".cache/electron",
    ".cache/electron-builder",
    ".cache/esbuild",
    ".cache/fontconfig",
    ".cache/gem",
    ".cache/go-build",
    ".cache/golangci-lint",
    ".cache/huggingface/hub",
    ".cache/mypy",
    ".cache/node",
    ".cache/node-gyp",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/pre-commit",
    ".cache/ms-playwright",
    ".cache/pdm",
    ".cache/prisma",
    ".cache/puppeteer",
    ".cache/pypoetry/artifacts",
    ".cache/pypoetry/cache",
    ".cache/rattler",
    ".cache/ruff",
    ".cache/sccache",
    ".cache/selenium",
    ".cache/torch/hub",
    ".cache/turbo",
    ".cache/typescript",
    ".cache/uv",
    ".cache/vcpkg",
    ".cache/virtualenv",
    ".cache/yarn",
    ".cache/zig",
    ".cargo/git",
    ".cargo/registry",
    ".ccache",
    ".composer/cache",
    ".conan/data",
    ".conan2/p",
    ".conda/pkgs",
    ".gradle/caches",
    ".gradle/jdks",
    ".gradle/native",
    ".gradle/wrapper",
    ".hex/packages",
    ".ivy2/cache",
    ".julia/artifacts",
    ".julia/compiled",
    ".julia/packages",
    ".julia/registries",
    ".konan",
    ".local/share/gem",
    ".local/share/pnpm/store",
    ".local/share/virtualenv",
    ".m2/repository",
    ".m2/wrapper",
    ".mix/archives",
    ".npm/_cacache",
    ".npm/_npx",
    ".npm/_prebuilds",
    ".nuget/packages",
    ".opam/download-cache",
    ".pnpm-store",
    ".pub-cache/git",
    ".pub-cache/hosted",
    ".sbt/boot",
    ".stack/pantry",
    ".stack/snapshots",
    ".terraform.d/plugin-cache",
    ".vcpkg/archives",
    ".yarn/berry/cache",
    "go/pkg/mod",
    "go/pkg/sumdb",
];

/// Caches that a program uses only if a variable names them, because no hard link leads from them into the workspace.
const NAMED_BY: &[(&str, &str)] = &[(".local/share/pnpm/store", "pnpm_config_store_dir")];

/// Folders of shims that version managers rewrite whenever something is installed, which fails if they cannot. The
/// folders are in `PATH`, so a command's changes there are discarded.
const SHIMS: &[&str] = &[
    ".asdf/shims",
    ".local/share/mise/shims",
    ".local/share/rtx/shims",
    ".nodenv/shims",
    ".phpenv/shims",
    ".pyenv/shims",
    ".rbenv/shims",
];

/// Checks whether a command's changes to this folder are discarded.
pub(crate) fn is_discarded(cache: &Path) -> bool {
    SHIMS.iter().any(|shims| Path::new(shims) == cache)
}

/// Returns the variable that has to name a cache for its program, if there is one.
pub(crate) fn variable(cache: &Path) -> Option<&'static str> {
    NAMED_BY.iter().find(|(named, _)| Path::new(named) == cache).map(|(_, variable)| *variable)
}

/// Returns the caches that exist, relative to the home. A cache that is a link, or is reached through one, is left out:
/// its target was not requested, and may hold anything.
pub(crate) fn find(home: &Path) -> Vec<PathBuf> {
    let is_there = |name: &&&str| {
        let path = home.join(name);
        path.is_dir() && canonicalize(&path).is_ok_and(|canonical| canonical == path)
    };
    CACHES.iter().chain(SHIMS).filter(is_there).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_are_caches_and_links_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir_all(home.join(".cargo/registry")).unwrap();
        std::fs::create_dir_all(home.join("elsewhere/pip")).unwrap();
        symlink("elsewhere", home.join(".cache")).unwrap();
        std::fs::create_dir(home.join(".npm")).unwrap();
        symlink("/", home.join(".npm/_cacache")).unwrap();
        std::fs::create_dir_all(home.join("go/pkg")).unwrap();
        std::fs::write(home.join("go/pkg/mod"), "a file").unwrap();
        assert_eq!(find(&home), [PathBuf::from(".cargo/registry")]);
    }

    #[test]
    fn no_cache_holds_another_one_or_a_file_with_credentials() {
        let credentials = [
            ".cargo/credentials",
            ".cargo/credentials.toml",
            ".npmrc",
            ".m2/settings.xml",
            ".m2/settings-security.xml",
            ".gradle/gradle.properties",
            ".cache/huggingface/token",
            ".local/share/uv/credentials",
            ".nuget/NuGet/NuGet.Config",
            ".composer/auth.json",
            ".pub-cache/credentials.json",
            ".julia/servers",
            ".ivy2/.credentials",
            ".sbt/.credentials",
            ".terraform.d/credentials.tfrc.json",
            ".conan2/credentials.json",
            ".yarnrc.yml",
        ];
        for cache in CACHES {
            let holds = |other: &&&str| *other != cache && Path::new(other).starts_with(cache);
            assert_eq!(CACHES.iter().chain(&credentials).find(holds), None, "{cache}");
        }
    }
}
