//! Settings files in which people keep passwords and tokens: commands see them without these.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::launcher::cargo_settings;

/// The most bytes of such a file that are read. A longer file is shown empty.
const LENGTH_LIMIT_BYTES: u64 = 1 << 20;

/// A settings file that is replaced for commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaskedFile {
    pub(crate) path: PathBuf,
    /// The replacement contents.
    pub(crate) contents: Vec<u8>,
}

/// The path of cargo's settings in the home folder.
const CARGO_SETTINGS: &str = ".cargo/config.toml";

/// The contents shown for a file that holds a secret: the least that its program accepts.
const NOTHING: &str = "";
const NO_XML_SETTINGS: &str = "<settings/>\n";
const NO_OBJECT: &str = "{}\n";
const NO_REPOSITORIES: &str = "opam-version: \"2.0\"\nrepositories: []\n";

/// Files in the home folder, `*` for any one name, with the contents shown if they hold a secret.
const IN_HOME: &[(&str, &str)] = &[
    (".asdf/installs/maven/*/conf/settings.xml", NO_XML_SETTINGS),
    (".asdf/installs/nodejs/*/etc/npmrc", NOTHING),
    (".asdf/installs/python/*/pip.conf", NOTHING),
    (".cache/pre-commit/*/.git/FETCH_HEAD", NOTHING),
    (".cache/pre-commit/*/.git/config", NOTHING),
    (".cache/uv/git-v0/checkouts/*/*/.git/config", NOTHING),
    (".cache/uv/git-v0/db/*/FETCH_HEAD", NOTHING),
    (".cache/uv/git-v0/db/*/config", NOTHING),
    (".cargo/git/checkouts/*/*/.git/config", NOTHING),
    (".cargo/git/db/*/FETCH_HEAD", NOTHING),
    (".cargo/git/db/*/config", NOTHING),
    (".conda/envs/*/.condarc", NOTHING),
    (".conda/envs/*/pip.conf", NOTHING),
    (".fnm/node-versions/*/installation/etc/npmrc", NOTHING),
    (".julia/registries/*/.git/config", NOTHING),
    (".local/pipx/shared/pip.conf", NOTHING),
    (".local/pipx/venvs/*/pip.conf", NOTHING),
    (".local/share/fnm/node-versions/*/installation/etc/npmrc", NOTHING),
    (".local/share/mise/installs/maven/*/*/conf/settings.xml", NO_XML_SETTINGS),
    (".local/share/mise/installs/maven/*/conf/settings.xml", NO_XML_SETTINGS),
    (".local/share/mise/installs/node/*/etc/npmrc", NOTHING),
    (".local/share/mise/installs/python/*/pip.conf", NOTHING),
    (".local/share/pipx/shared/pip.conf", NOTHING),
    (".local/share/pipx/venvs/*/pip.conf", NOTHING),
    (".local/share/pnpm/nodejs/*/etc/npmrc", NOTHING),
    (".local/share/rtx/installs/node/*/etc/npmrc", NOTHING),
    (".local/share/uv/python/*/pip.conf", NOTHING),
    (".local/share/uv/tools/*/pip.conf", NOTHING),
    (".nodenv/versions/*/etc/npmrc", NOTHING),
    (".nvm/versions/node/*/etc/npmrc", NOTHING),
    (".opam/repo/repos-config", NO_REPOSITORIES),
    (".opam/repos-config", NO_REPOSITORIES),
    (".pub-cache/git/cache/*/FETCH_HEAD", NOTHING),
    (".pub-cache/git/cache/*/config", NOTHING),
    (".pyenv/versions/*/pip.conf", NOTHING),
    (".rbenv/versions/*/etc/gemrc", NOTHING),
    (".rvm/rubies/*/etc/gemrc", NOTHING),
    (".sdkman/candidates/gradle/*/gradle.properties", NOTHING),
    (".sdkman/candidates/maven/*/conf/settings.xml", NO_XML_SETTINGS),
    (".volta/hooks.json", NO_OBJECT),
    (".volta/tools/image/node/*/etc/npmrc", NOTHING),
    ("go/pkg/mod/cache/vcs/*/FETCH_HEAD", NOTHING),
    ("go/pkg/mod/cache/vcs/*/config", NOTHING),
];

/// The same under the root.
const IN_SYSTEM: &[(&str, &str)] = &[
    ("opt/*/conf/settings.xml", NO_XML_SETTINGS),
    ("opt/*/etc/npmrc", NOTHING),
    ("opt/*/gradle.properties", NOTHING),
    ("opt/*/pip.conf", NOTHING),
    ("usr/etc/npmrc", NOTHING),
    ("usr/local/etc/gemrc", NOTHING),
    ("usr/local/etc/gitconfig", NOTHING),
    ("usr/local/etc/npmrc", NOTHING),
    ("usr/local/pip.conf", NOTHING),
    ("usr/share/maven/conf/settings.xml", NO_XML_SETTINGS),
    ("usr/share/gradle/gradle.properties", NOTHING),
];

/// The same in `/etc`.
const IN_ETC: &[(&str, &str)] = &[
    ("environment", NOTHING),
    ("gemrc", NOTHING),
    ("gitconfig", NOTHING),
    ("gradle/gradle.properties", NOTHING),
    ("maven/settings.xml", NO_XML_SETTINGS),
    ("npmrc", NOTHING),
    ("pip.conf", NOTHING),
    ("xdg/pip/pip.conf", NOTHING),
    ("yarnrc", NOTHING),
];

/// Returns replacements for settings files that hold secrets, and always for cargo's.
///
/// `etc` is the folder that commands see as `/etc`.
pub(crate) fn masked(home: &Path, etc: &Path) -> Vec<MaskedFile> {
    masked_in(home, Path::new("/"), etc)
}

fn masked_in(home: &Path, root: &Path, etc: &Path) -> Vec<MaskedFile> {
    let mut masked = Vec::new();
    for (folder, patterns) in [(home, IN_HOME), (root, IN_SYSTEM), (etc, IN_ETC)] {
        for (pattern, instead) in patterns {
            for path in fitting(folder, pattern) {
                if contents(&path).is_none_or(|contents| holds_secret(&contents)) {
                    masked.push(MaskedFile { path, contents: (*instead).into() });
                }
            }
        }
    }
    let cargo = home.join(CARGO_SETTINGS);
    if is_file(&cargo) {
        // If its secrets cannot be told apart, show none of it.
        let text = contents(&cargo).and_then(|text| cargo_settings::without_secrets(&text));
        masked.push(MaskedFile { path: cargo, contents: text.unwrap_or_default().into() });
    }
    masked
}

/// Checks whether the file is shown although its folder is not: cargo's settings.
pub(crate) fn is_always_shown(home: &Path, path: &Path) -> bool {
    path == home.join(CARGO_SETTINGS)
}

/// Returns a folder, or all its entries except masked files, which rules by path cannot replace.
pub(crate) fn without(path: PathBuf, masked: &[MaskedFile]) -> Vec<PathBuf> {
    if masked.iter().any(|file| file.path == path) {
        return Vec::new();
    }
    if !masked.iter().any(|file| file.path.starts_with(&path)) {
        return vec![path];
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.flat_map(|entry| without(entry.path(), masked)).collect()
}

/// Returns the paths of files that match a pattern. Links are not followed: they cannot be mount points.
fn fitting(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut matches = vec![folder.to_owned()];
    let mut parts = pattern.split('/').peekable();
    while let Some(part) = parts.next() {
        if part == "*" {
            matches = matches
                .iter()
                .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path())
                .collect();
            continue;
        }
        for path in &mut matches {
            path.push(part);
        }
        // Most tools are not installed: one lookup rules them out.
        let kept = |path: &PathBuf| match parts.peek() {
            Some(_) => fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()),
            None => is_file(path),
        };
        matches.retain(kept);
        if matches.is_empty() {
            break;
        }
    }
    matches
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Returns a file's text; `None` if it cannot be read, is too long, or is not text.
fn contents(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(LENGTH_LIMIT_BYTES + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LENGTH_LIMIT_BYTES).then_some(text)
}

/// Words in the names of settings whose values are secret.
const SECRET_WORDS: [&str; 11] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "_auth",
    "privatekey",
    "private_key",
    "apikey",
    "api_key",
];

/// Checks whether a text looks as if it held a secret. A false positive is harmless: the file is shown empty.
fn holds_secret(text: &str) -> bool {
    let text = without_remarks(text).to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| text.contains(word)) || holds_user_in_url(&text)
}

/// Checks whether a URL in the text names a user who may have a password. The user of `ssh` has none.
fn holds_user_in_url(text: &str) -> bool {
    without_users_in_urls(text).len() < text.len()
}

/// Returns the text without the users and passwords in its URLs.
pub(crate) fn without_users_in_urls(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        kept.push_str(before);
        kept.push_str("://");
        let end = after.find(|character: char| character.is_whitespace() || "/?#\"'<>".contains(character));
        let user = after[..end.unwrap_or(after.len())].rsplit_once('@').map(|(user, _)| user);
        let user = user.filter(|user| !before.ends_with("ssh") || user.contains(':'));
        rest = user.map_or(after, |user| &after[user.len() + 1..]);
    }
    kept + rest
}

/// Strips the comments from XML: default settings files hold examples in them.
fn without_remarks(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn files_with_secrets_are_masked_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (home, root) = (folder.path().join("home"), folder.path().join("root"));
        let token = "//npm.example/:_authToken=abc\n";
        write(&home, ".nvm/versions/node/v1/etc/npmrc", token);
        write(&home, ".nvm/versions/node/v2/etc/npmrc", "prefix=/x\n");
        write(&home, ".pyenv/versions/3/pip.conf", "[global]\nindex-url = https://me:pw@pip.example/\n");
        write(
            &home,
            ".sdkman/candidates/maven/3/conf/settings.xml",
            "<settings><!-- <password>x</password> --></settings>",
        );
        write(
            &home,
            ".sdkman/candidates/maven/4/conf/settings.xml",
            "<settings><password>x</password></settings>",
        );
        write(&home, ".cargo/git/db/a-1/config", "[remote]\nurl = ssh://git@host.example/a\n");
        write(&home, ".volta/hooks.json", &"x".repeat(2 << 20));
        write(&root, "opt/node/etc/npmrc", token);
        write(&root, "etc/npmrc", "prefix=/x\n");
        write(&root, "etc/gitconfig", "[url \"https://me:pw@git.example/\"]\n\tinsteadOf = x:\n");
        fs::create_dir_all(root.join("usr/local/etc")).unwrap();
        std::os::unix::fs::symlink("/opt/node/etc/npmrc", root.join("usr/local/etc/npmrc")).unwrap();
        let masked = masked_in(&home, &root, &root.join("etc"));
        let names: Vec<_> =
            masked.iter().map(|file| file.path.strip_prefix(folder.path()).unwrap()).collect();
        let expected = [
            "home/.nvm/versions/node/v1/etc/npmrc",
            "home/.pyenv/versions/3/pip.conf",
            "home/.sdkman/candidates/maven/4/conf/settings.xml",
            "home/.volta/hooks.json",
            "root/opt/node/etc/npmrc",
            "root/etc/gitconfig",
        ];
        assert_eq!(names, expected.map(Path::new));
        assert_eq!(masked[2].contents, b"<settings/>\n");
    }

    #[test]
    fn cargos_settings_are_shown_without_their_secrets_or_empty() {
        let home = tempfile::tempdir().unwrap();
        let copy = |text: &str| {
            write(home.path(), ".cargo/config.toml", text);
            let masked = masked_in(home.path(), &home.path().join("none"), &home.path().join("none"));
            String::from_utf8(masked.into_iter().next().unwrap().contents).unwrap()
        };
        assert_eq!(
            copy("[registry]\ntoken = \"x\"\n[net]\noffline = true\n"),
            "[net]\noffline = true\n\n[registry]\n"
        );
        assert_eq!(copy("[registry\ntoken = \"x\"\n"), "");
    }

    #[test]
    fn users_in_addresses_are_seen() {
        for text in
            ["https://me:pw@host/x", "x = \"https://token@host\"", "ssh://me:pw@host", "sparse+https://t@h/"]
        {
            assert!(holds_user_in_url(text), "{text}");
        }
        for text in [
            "https://host/@scope",
            "ssh://git@host/x",
            "git@host:x",
            "https://host/a@b",
            "mail me@host",
            "://",
        ] {
            assert!(!holds_user_in_url(text), "{text}");
        }
    }
}
