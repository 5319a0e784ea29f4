//! A search for a single name, spelled as in code.

use crate::outline::Definition;
use crate::words;

/// Quotes around a name that is copied from prose.
const MARKS: [char; 3] = ['`', '"', '\''];

/// The name that a query consists of: `read_file`, `Reader::read_file`, `reader.read_file()`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueriedName<'q> {
    name: &'q str,
    /// The qualifier before the name: a type or a module.
    within: Option<&'q str>,
}

impl<'q> QueriedName<'q> {
    pub(crate) fn of(query: &'q str) -> Option<QueriedName<'q>> {
        let bare = query.trim().trim_matches(MARKS);
        let bare = bare.strip_suffix("()").unwrap_or(bare);
        let mut names = words::names(bare);
        let first = names.next()?;
        let mut queried = QueriedName { name: first, within: None };
        let mut length = first.len();
        for name in names {
            queried = QueriedName { name, within: Some(queried.name) };
            length += name.len();
        }
        // Only separators may separate the names of a path.
        let joined = bare.split("::").flat_map(|part| part.split(['.', '#']));
        let is_path = bare.starts_with(first) && joined.map(str::len).sum::<usize>() == length;
        is_path.then_some(queried)
    }

    /// Returns the word under which definitions of the name are stored.
    pub(crate) fn word(&self) -> Option<String> {
        let (mut folded, mut whole) = (String::new(), None);
        words::words_of_name(self.name, &mut folded, &mut |word| {
            whole.get_or_insert_with(|| word.to_owned());
        });
        whole
    }

    /// Returns the definitions of the name among those of the file `path`.
    pub(crate) fn definitions(&self, path: &str, definitions: &[Definition]) -> Vec<Definition> {
        let is_module =
            |within: &str| path.rsplit('/').take(2).any(|part| part.split('.').next() == Some(within));
        let is_within = |definition: &Definition| match (self.within, definition.container.as_deref()) {
            (None, _) => true,
            (Some(within), Some(container)) => within == container,
            (Some(within), None) => is_module(within),
        };
        let is_queried = |definition: &&Definition| definition.name == self.name && is_within(definition);
        definitions.iter().filter(is_queried).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_query_of_one_name_is_a_name() {
        let queried = |query| QueriedName::of(query).map(|queried| (queried.within, queried.name));
        for (query, expected) in [
            ("read_file", Some((None, "read_file"))),
            (" `read_file()` ", Some((None, "read_file"))),
            ("Reader::read_file", Some((Some("Reader"), "read_file"))),
            ("io.Reader.read", Some((Some("Reader"), "read"))),
            ("__init__", Some((None, "__init__"))),
            ("read file", None),
            ("a, b", None),
            ("a:b", None),
            ("where is read_file", None),
            (".hidden", None),
            ("read_file(x)", None),
            ("", None),
        ] {
            assert_eq!(queried(query), expected, "{query}");
        }
    }
}
