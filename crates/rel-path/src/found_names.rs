//! Entries that are found while a program runs.

use std::fmt::Debug;
use std::sync::OnceLock;

use crate::path::RelPath;
use crate::protected_name::{NameRule, ProtectedName};

/// A path in one folder that other programs obey because of settings outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundName {
    /// The path from the root of the folder; everything below it counts as well.
    pub path: RelPath,
    /// Its list.
    pub rule: NameRule,
    /// The reason as a clause: the program that obeys the path, and its effect.
    pub reason: String,
    /// True if the path counts below every folder, and not only from the root.
    pub is_at_any_depth: bool,
}

/// A source of paths that other programs obey.
pub trait NameSource: Debug + Send + Sync {
    /// Returns the current paths; none if nothing can have changed since the last call. It is called before each change, so the
    /// usual answer has to be cheap.
    fn look(&self) -> Vec<FoundName>;
}

/// A list of found entries that only grows: neither a source nor a clone can remove an entry or relax its rule.
#[derive(Debug)]
pub(crate) struct FoundNames {
    source: Box<dyn NameSource>,
    first: OnceLock<Box<Node>>,
}

#[derive(Debug)]
struct Node {
    name: ProtectedName,
    next: OnceLock<Box<Node>>,
}

impl FoundNames {
    pub(crate) fn new(source: impl NameSource + 'static) -> FoundNames {
        let names = FoundNames { source: Box::new(source), first: OnceLock::new() };
        names.look_again();
        names
    }

    pub(crate) fn look_again(&self) {
        for name in self.source.look() {
            self.add(ProtectedName::from_found(name));
        }
    }

    fn add(&self, name: ProtectedName) {
        // An equal path with another rule is a separate entry: the stricter one decides.
        let is_same = |other: &ProtectedName| {
            other.folded == name.folded && other.rule == name.rule && other.is_exact == name.is_exact
        };
        if name.folded.is_empty() || self.iter().any(is_same) {
            return;
        }
        let mut node = Box::new(Node { name, next: OnceLock::new() });
        let mut end = &self.first;
        loop {
            match end.get() {
                Some(taken) => end = &taken.next,
                // Another thread may append first.
                None => match end.set(node) {
                    Ok(()) => return,
                    Err(returned) => node = returned,
                },
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ProtectedName> {
        std::iter::successors(self.first.get(), |node| node.next.get()).map(|node| &node.name)
    }
}

/// Lists are equal if they currently hold the same entries.
impl PartialEq for FoundNames {
    fn eq(&self, other: &FoundNames) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for FoundNames {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the same paths on every call.
    #[derive(Debug)]
    struct Same(Vec<FoundName>);

    impl NameSource for Same {
        fn look(&self) -> Vec<FoundName> {
            self.0.clone()
        }
    }

    fn name(path: &str, rule: NameRule, is_at_any_depth: bool) -> FoundName {
        FoundName {
            path: RelPath::parse(path).unwrap(),
            rule,
            reason: "a tool reads it".into(),
            is_at_any_depth,
        }
    }

    fn names<const N: usize>(names: [&FoundName; N]) -> FoundNames {
        FoundNames::new(Same(names.map(FoundName::clone).to_vec()))
    }

    #[test]
    fn an_entry_is_kept_once_and_differs_by_path_rule_and_depth() {
        let one = name("a/b", NameRule::Reported, false);
        let others = [
            name("a/c", NameRule::Reported, false),
            name("a/b", NameRule::Never, false),
            name("a/b", NameRule::Reported, true),
        ];
        for other in others {
            let both = names([&one, &other]);
            both.look_again();
            let patterns: Vec<_> = both.iter().map(ProtectedName::pattern).collect();
            assert_eq!(patterns.len(), 2, "{other:?}: {patterns:?}");
        }
    }

    #[test]
    fn the_root_is_not_an_entry() {
        // It would match every path.
        let root = FoundName { path: RelPath::root(), ..name("a", NameRule::Never, false) };
        assert_eq!(names([&root]).iter().count(), 0);
    }

    #[test]
    fn lists_are_equal_if_they_hold_the_same_entries() {
        let (one, other) = (name("a", NameRule::Never, false), name("b", NameRule::Never, false));
        assert_eq!(names([&one]), names([&one, &one]));
        assert_ne!(names([&one]), names([&other]));
        assert_ne!(names([&one]), names([&one, &other]));
    }
}
