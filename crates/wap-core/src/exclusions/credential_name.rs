//! Names of files that usually hold credentials, which are only shown on request.

/// Names, folded to lower case.
const NAMES: [&str; 20] = [
    ".aws-credentials",
    ".boto",
    ".dockercfg",
    ".dockerconfigjson",
    ".envrc",
    ".my.cnf",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".s3cfg",
    ".vault-token",
    ".htpasswd",
    ".git-credentials",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.yml",
    "secrets.yaml",
];

/// Endings of names. A file named `env` is just as often a script, or settings without a secret.
const ENDINGS: [&str; 10] =
    [".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx"];

/// The prefix of the names of files with settings of one environment.
const ENVIRONMENT: &str = ".env.";

/// Prefixes of the names of keys.
const KEYS: [&str; 4] = ["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"];

/// Endings of code and documents, which may be about such keys. A key in one of them is masked like in any other file.
const ABOUT_KEYS: [&str; 32] = [
    ".adoc", ".c", ".cc", ".cpp", ".cs", ".ex", ".exs", ".go", ".h", ".hpp", ".hs", ".html", ".java", ".js",
    ".jsx", ".kt", ".lua", ".md", ".mjs", ".ml", ".php", ".pl", ".py", ".rb", ".rs", ".rst", ".scala", ".sh",
    ".swift", ".ts", ".tsx", ".zig",
];

/// Endings of names of files without a credential: examples and public keys.
const HARMLESS: [&str; 6] = [".example", ".sample", ".template", ".dist", ".defaults", ".pub"];

/// Names and endings of files that also exist without a credential in them: settings of package managers, certificates, public keyrings.
const IF_KEYED: [&str; 3] = [".npmrc", ".pem", ".gpg.key"];

/// Endings of the names of copies, which editors and people leave next to a file.
const COPIES: [&str; 9] = ["~", "#", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".swo"];

/// Checks whether the file at a path usually holds credentials, by its name.
#[must_use]
pub fn usually_holds_credentials(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let original = original(&name);
    // Vim puts a dot in front of its copy, and Emacs a hash.
    is_of_credentials(original)
        || original.len() < name.len() && original.strip_prefix(['.', '#']).is_some_and(is_of_credentials)
}

/// Returns the name of the original of a copy; the name itself if it is not a copy.
fn original(name: &str) -> &str {
    let mut name = name;
    while let Some(shorter) = COPIES.iter().find_map(|ending| name.strip_suffix(ending)) {
        name = shorter;
    }
    name
}

fn is_of_credentials(name: &str) -> bool {
    let is_named = NAMES.contains(&name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name.starts_with(ENVIRONMENT)
        || KEYS.iter().any(|start| name.starts_with(start))
            && !ABOUT_KEYS.iter().any(|ending| name.ends_with(ending));
    is_named && !HARMLESS.iter().any(|ending| name.ends_with(ending))
}

/// Checks whether only the content shows if such a file holds a secret.
#[must_use]
pub fn holds_credentials_if_keyed(path: &str) -> bool {
    let path = path.to_lowercase();
    IF_KEYED.iter().any(|ending| original(&path).ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_recognised_and_code_about_them_is_not() {
        for path in [
            ".env",
            "deploy/.ENV.production",
            "certs/server.key",
            "home/id_rsa.old",
            "a/credentials.json",
            ".env~",
            "a/..env.swp",
            "a/#.netrc#",
            "server.key.bak",
            "secrets.yaml.orig~",
            "id_rsa_work",
            "id_rsa-2",
            "keys/id_ed25519.txt",
            "ID_RSA.PEM",
            "id_ecdsa.key",
            "id_dsa.rs.key",
            ".env.rs",
            "prod.env",
            "deploy/Prod.Env.bak",
            "a.env~",
            ".dockercfg",
            ".aws-credentials",
            "AuthKey_AB12.p8",
            "putty.ppk",
        ] {
            assert!(usually_holds_credentials(path), "{path}");
        }
        for path in [
            ".env.example",
            "id_rsa.pub",
            "env.py",
            "src/credentials.rs",
            "keys.md",
            "key",
            "identity.rs",
            "~",
            ".env.example~",
            "prod.env.example",
            "env",
            "environment",
            "env/activate",
            "a.p8.md",
            "src/id_rsa_parser.rs",
            "id_ed25519_test.go",
            "docs/id_rsa.md",
            "Id_Dsa.Java~",
        ] {
            assert!(!usually_holds_credentials(path), "{path}");
        }
    }
}
