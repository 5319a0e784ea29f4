//! The environment of a command: reduced to a short list.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The user of the machine, from whom a command's environment is derived.
#[derive(Clone, Debug)]
pub struct User {
    /// The login name, for `USER`.
    pub name: String,
    /// The home folder, absolute. It is hidden from commands where the machine allows it.
    pub home: PathBuf,
    /// The user's `PATH`; only folders that a command can see are kept.
    pub search_path: OsString,
    /// The value of `LANG`.
    pub language: OsString,
}

/// Folders that end every `PATH`.
const SYSTEM_SEARCH_PATH: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Makes the base environment of every command, without the policy's and the request's variables.
///
/// `is_visible` reports whether a folder of the user's `PATH` exists for the command.
pub(crate) fn base_environment(
    user: &User,
    home: &Path,
    temporary: &Path,
    is_visible: impl Fn(&Path) -> bool,
) -> BTreeMap<OsString, OsString> {
    let pairs: [(&str, OsString); 11] = [
        ("PATH", search_path(user, is_visible)),
        ("HOME", home.as_os_str().to_owned()),
        ("LANG", if user.language.is_empty() { "C.UTF-8".into() } else { user.language.clone() }),
        ("TERM", "dumb".into()),
        ("TMPDIR", temporary.as_os_str().to_owned()),
        ("USER", user.name.clone().into()),
        ("CI", "true".into()),
        ("NO_COLOR", "1".into()),
        ("PAGER", "cat".into()),
        ("GIT_PAGER", "cat".into()),
        ("GIT_EDITOR", "true".into()),
    ];
    pairs.into_iter().map(|(name, value)| (OsString::from(name), value)).collect()
}

/// Variables by which programs find trusted certificates. Lists are separated by colons.
const CERTIFICATES: [&str; 15] = [
    "AWS_CA_BUNDLE",
    "BUNDLE_SSL_CA_CERT",
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "HTTPLIB2_CA_CERTS",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "npm_config_cafile",
];

/// Returns the variables of this process that name certificates.
pub(crate) fn certificate_variables() -> BTreeMap<OsString, OsString> {
    CERTIFICATES.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).collect()
}

/// Returns the variables of which a command can see all files.
pub(crate) fn visible_certificates(
    variables: &BTreeMap<OsString, OsString>,
    is_visible: impl Fn(&Path) -> bool,
) -> BTreeMap<OsString, OsString> {
    let are_visible = |value: &OsString| std::env::split_paths(value).all(|path| is_visible(&path));
    variables
        .iter()
        .filter(|(_, value)| are_visible(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn search_path(user: &User, is_visible: impl Fn(&Path) -> bool) -> OsString {
    let mut folders: Vec<PathBuf> = Vec::new();
    let system = SYSTEM_SEARCH_PATH.iter().map(PathBuf::from);
    for folder in std::env::split_paths(&user.search_path).filter(|folder| is_visible(folder)).chain(system) {
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).expect("folders split at colons hold no colon")
}
