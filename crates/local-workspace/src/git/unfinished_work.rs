//! Files by which git continues work that was left unfinished, such as a rebase.

use crate::command::effect::Effect;

/// The lists of steps of a rebase, with the lines that only move commits.
const REBASE_STEPS: [&str; 23] = [
    "pick",
    "p",
    "reword",
    "r",
    "edit",
    "e",
    "squash",
    "s",
    "fixup",
    "f",
    "drop",
    "d",
    "label",
    "l",
    "reset",
    "t",
    "merge",
    "m",
    "noop",
    "break",
    "b",
    "update-ref",
    "u",
];

/// Returns whether the list of steps that an effect leaves holds no command.
pub(crate) fn only_moves_commits(effect: &Effect) -> bool {
    let Some(text) = effect.text_after().and_then(|text| std::str::from_utf8(text).ok()) else {
        return false;
    };
    text.lines().map(str::trim_start).all(|line| {
        let first = line.split_ascii_whitespace().next().unwrap_or_default();
        line.is_empty() || line.starts_with('#') || REBASE_STEPS.contains(&first)
    })
}

/// The strategies of a merge that git has itself.
const STRATEGIES: [&str; 6] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// Returns whether the strategy of a rebase that an effect leaves is one of git's own: git runs any other as a program, and
/// `x/../y` is one in the working tree.
pub(crate) fn names_own_strategy(effect: &Effect) -> bool {
    let text = effect.text_after().and_then(|text| std::str::from_utf8(text).ok());
    text.is_some_and(|text| STRATEGIES.contains(&text.trim_end()))
}

/// Returns whether the options of a cherry-pick or revert that an effect leaves name no other strategy.
pub(crate) fn options_name_own_strategies(effect: &Effect) -> bool {
    let Some(text) = effect.text_after().and_then(|text| std::str::from_utf8(text).ok()) else {
        return false;
    };
    let text = text.to_ascii_lowercase();
    // Whatever the word is a part of: no way of writing the setting slips through.
    text.match_indices("strategy").all(|(at, word)| {
        let rest = &text[at + word.len()..];
        let value = rest.lines().next().and_then(|line| line.trim_start().strip_prefix('='));
        rest.starts_with("-option") || value.is_some_and(|value| STRATEGIES.contains(&value.trim()))
    })
}

/// The options of `git apply` that `git am` keeps.
const APPLY_OPTIONS: [&str; 9] = [
    "-C",
    "-p",
    "--whitespace=",
    "--directory=",
    "--exclude=",
    "--include=",
    "--ignore-whitespace",
    "--ignore-space-change",
    "--reject",
];

/// Returns whether the options for unfinished patches that an effect leaves are those that `git am` keeps: another one writes
/// an index to any path.
pub(crate) fn applies_plainly(effect: &Effect) -> bool {
    let text = effect.text_after().and_then(|text| std::str::from_utf8(text).ok());
    let is_kept = |word: &str| {
        let option = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
        option.is_some_and(|option| APPLY_OPTIONS.iter().any(|one| option.starts_with(one)))
    };
    text.is_some_and(|text| text.split_whitespace().all(is_kept))
}
