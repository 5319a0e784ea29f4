//! A search for one name, spelled as code spells it.

use crate::outline::Definition;
use crate::words;

/// What may stand around a name that is copied from prose.
const MARKS: [char; 3] = ['`', '"', '\''];

/// The name that a search asks for, if it asks for nothing else: `read_file`, `Reader::read_file`, `reader.read_file()`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AskedName<'q> {
    name: &'q str,
    /// What stands before it: a type, a module.
    within: Option<&'q str>,
}

impl<'q> AskedName<'q> {
    pub(crate) fn of(query: &'q str) -> Option<AskedName<'q>> {
        let bare = query.trim().trim_matches(MARKS);
        let bare = bare.strip_suffix("()").unwrap_or(bare);
        let mut names = words::names(bare);
        let first = names.next()?;
        let mut asked = AskedName { name: first, within: None };
        let mut length = first.len();
        for name in names {
            asked = AskedName { name, within: Some(asked.name) };
            length += name.len();
        }
        // Between the names of a path there is nothing but what joins them.
        let joined = bare.split("::").flat_map(|part| part.split(['.', '#']));
        let is_path = bare.starts_with(first) && joined.map(str::len).sum::<usize>() == length;
        is_path.then_some(asked)
    }

    /// The word by which definitions of the name are stored.
    pub(crate) fn word(&self) -> Option<String> {
        let (mut folded, mut whole) = (String::new(), None);
        words::words_of_name(self.name, &mut folded, &mut |word| {
            whole.get_or_insert_with(|| word.to_owned());
        });
        whole
    }

    /// The definitions of the name, in a file of this path.
    pub(crate) fn definitions(&self, path: &str, definitions: &[Definition]) -> Vec<Definition> {
        let is_module =
            |within: &str| path.rsplit('/').take(2).any(|part| part.split('.').next() == Some(within));
        let is_within = |definition: &Definition| match (self.within, definition.container.as_deref()) {
            (None, _) => true,
            (Some(within), Some(container)) => within == container,
            (Some(within), None) => is_module(within),
        };
        let is_asked = |definition: &&Definition| definition.name == self.name && is_within(definition);
        definitions.iter().filter(is_asked).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_alone_is_asked_for() {
        let asked = |query| AskedName::of(query).map(|asked| (asked.within, asked.name));
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
            assert_eq!(asked(query), expected, "{query}");
        }
    }
}
