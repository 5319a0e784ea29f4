//! Git commands for advice, quoted for a shell.

use local_workspace::OtherCheckout;

/// Returns the command that checks out a branch or a commit in a working tree, whose path is `.` for that of the workspace.
pub(crate) fn checkout_command(tree: &str, name: &str) -> String {
    git_command(tree, &format!("checkout {}", shell_word(name)))
}

fn git_command(tree: &str, command: &str) -> String {
    let tree = if tree == "." { String::new() } else { format!("-C {} ", shell_word(tree)) };
    format!("git {tree}{command}")
}

/// Returns the sentence on the way back from the checkout of another branch or commit; `None` if the former one is not kept.
pub(crate) fn way_back(checkout: &OtherCheckout) -> Option<String> {
    let former = checkout.former.as_ref()?;
    if checkout.is_rebased {
        let command = git_command(&checkout.tree, "rebase --abort");
        return Some(format!("`{command}` returns to the previous checkout"));
    }
    let command = checkout_command(&checkout.tree, former);
    let taken = checkout
        .taken_by
        .as_ref()
        .map(|tree| format!("after the checkout of another branch in `{tree}`, which has `{former}` now, "));
    let taken = taken.unwrap_or_default();
    Some(format!(
        "{taken}`{command}` returns to the previous checkout (where git refuses it, commit or stash your changes first)"
    ))
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
    fn the_way_back_is_one_that_git_accepts() {
        let text = |more: &serde_json::Value| {
            let mut checkout = serde_json::json!({ "former": "main", "tree": "wt" });
            checkout.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            way_back(&serde_json::from_value(checkout).unwrap())
        };
        let plain = text(&serde_json::json!({})).unwrap();
        assert!(plain.starts_with("`git -C wt checkout main` returns"), "{plain}");
        assert!(plain.contains("commit or stash your changes first"), "{plain}");
        let taken = text(&serde_json::json!({ "takenBy": "../other" })).unwrap();
        assert!(taken.contains("another branch in `../other`, which has `main` now, `git -C wt"), "{taken}");
        let rebased = text(&serde_json::json!({ "isRebased": true })).unwrap();
        assert_eq!(rebased, "`git -C wt rebase --abort` returns to the previous checkout");
        assert_eq!(text(&serde_json::json!({ "former": null })), None);
    }

    #[test]
    fn names_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(checkout_command(".", "feature/x"), "git checkout feature/x");
        assert_eq!(checkout_command("my tree", "a$(b)"), "git -C 'my tree' checkout 'a$(b)'");
        assert_eq!(checkout_command(".", "it's"), r"git checkout 'it'\''s'");
    }
}
