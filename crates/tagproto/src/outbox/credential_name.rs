//! Names of files that usually hold credentials, which are never shown without being asked.

/// Names, folded to lower case.
const NAMES: [&str; 14] = [
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.yml",
    "secrets.yaml",
];

/// Endings of names.
const ENDINGS: [&str; 7] = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"];

/// Starts of names.
const STARTS: [&str; 5] = [".env.", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"];

/// Checks whether the file at a path usually holds credentials.
pub(super) fn usually_holds_credentials(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    NAMES.contains(&name.as_str())
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_recognised_and_code_about_them_is_not() {
        for path in
            [".env", "deploy/.ENV.production", "certs/server.key", "home/id_rsa.old", "a/credentials.json"]
        {
            assert!(usually_holds_credentials(path), "{path}");
        }
        for path in ["env.py", "src/credentials.rs", "keys.md", "key", "identity.rs"] {
            assert!(!usually_holds_credentials(path), "{path}");
        }
    }
}
