//! Git commands for advice, quoted for a shell.

/// Returns the command that checks out a branch or a commit in a working tree, whose path is `.` for that of the workspace.
pub(crate) fn checkout_command(tree: &str, name: &str) -> String {
    let tree = if tree == "." { String::new() } else { format!("-C {} ", shell_word(tree)) };
    format!("git {tree}checkout {}", shell_word(name))
}

/// Returns a word quoted for a shell.
fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-+@".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(checkout_command(".", "feature/x"), "git checkout feature/x");
        assert_eq!(checkout_command("my tree", "a$(b)"), "git -C 'my tree' checkout 'a$(b)'");
        assert_eq!(checkout_command(".", "it's"), r"git checkout 'it'\''s'");
    }
}
