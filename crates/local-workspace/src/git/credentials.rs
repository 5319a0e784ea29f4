//! Credentials in git's own files, which are masked before a tool reads them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;
use rel_path::{ProtectedNames, RelPath};

use crate::name_probe::surely_lacks;

/// The user's part of an address, and the headers that some tools put tokens into.
static CREDENTIALS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)(://)[^/\s"]+@|(extraheader[ \t]*=[ \t]*)[^\r\n]+"#).expect("the pattern is valid")
});

static GIT_FOLDER: LazyLock<ProtectedNames> = LazyLock::new(|| ProtectedNames::new([".git"]));

/// Checks whether a canonical path is in a repository's own folder.
pub(crate) fn may_be_in(path: &RelPath) -> bool {
    !surely_lacks(path.as_bytes(), b"git") && GIT_FOLDER.protects(path)
}

/// Masks credentials. Line numbers stay the same.
pub(crate) fn mask(text: &[u8]) -> Cow<'_, [u8]> {
    CREDENTIALS.replace_all(text, |captures: &regex::bytes::Captures<'_>| {
        match (captures.get(1), captures.get(2)) {
            (Some(_), _) => b"://***@".to_vec(),
            (None, header) => [header.map_or(&b""[..], |header| header.as_bytes()), b"***"].concat(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked_and_nothing_else() {
        let masked = |text: &str| String::from_utf8(mask(text.as_bytes()).into_owned()).unwrap();
        assert_eq!(masked("url = https://me:s3cret@host/x.git\n"), "url = https://***@host/x.git\n");
        assert_eq!(masked("url = https://ghp_token@host/x\r\n"), "url = https://***@host/x\r\n");
        assert_eq!(
            masked("extraheader = AUTHORIZATION: basic eHg6\n\tx = y\n"),
            "extraheader = ***\n\tx = y\n"
        );
        let plain = "[remote \"o\"]\n\turl = git@host:me/x.git\n\turl = https://host/a@b\n";
        assert_eq!(masked(plain), plain);
    }
}
