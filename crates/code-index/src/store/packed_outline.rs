//! The stored form of outlines: bytes with each definition and import encoded relative to the previous one.
//!
//! Outlines are a large part of the store. A change of this format needs a new store version.

use crate::outline::{Definition, Import, NAME_BYTES, Outline};
use crate::store::packed::{Unpacking, alike, put_difference, put_number, put_text};

/// The kinds of definitions, by number. Any other kind is stored as text.
const KINDS: [&str; 22] = [
    "function",
    "method",
    "constant",
    "type",
    "struct",
    "variant",
    "class",
    "module",
    "macro",
    "enum",
    "trait",
    "static",
    "variable",
    "interface",
    "field",
    "property",
    "constructor",
    "union",
    "namespace",
    "record",
    "attribute",
    "event",
];
const OTHER_KIND: u8 = 31;
const KIND_BITS: u8 = 0b1_1111;
/// The position of the two bits for the container in the first byte.
const CONTAINER_SHIFT: u8 = 5;
const NO_CONTAINER: u8 = 0;
/// The container named last.
const SAME_CONTAINER: u8 = 1;
const NAMED_CONTAINER: u8 = 2;
/// An earlier definition, by distance.
const DEFINED_CONTAINER: u8 = 3;
/// The largest distance that is searched.
const SEARCHED_BACK: usize = 200;
/// The definition starts and ends on the same line.
const ONE_LINE: u8 = 0x80;
/// The largest value of half a byte: the length of the prefix shared with the previous name, and the length of
/// the rest (at this value a number with the excess follows).
const HALF_BYTE: usize = 15;

/// The kinds of imports, by number. Any other kind is stored as text.
const IMPORT_KINDS: [&str; 3] = ["import", "module", "include"];
const OTHER_IMPORT: u8 = 3;
const IMPORT_BITS: u8 = 0b11;
/// The spelling equals the target.
const SAME_SPELLING: u8 = 0b100;
/// The position of the bits for the distance in lines to the previous import; `FAR_LINE` means that a number
/// follows.
const LINE_SHIFT: u8 = 3;
const FAR_LINE: u8 = 31;
/// The longest shared prefix of two targets in bytes.
const MOST_ALIKE: usize = 255;

/// Packs the definitions of a file.
pub(crate) fn pack_definitions(outline: &Outline) -> Vec<u8> {
    let mut packed = Vec::new();
    let (mut line, mut end) = (0, 0);
    let mut named: Option<&str> = None;
    for (index, one) in outline.definitions.iter().enumerate() {
        let earlier = &outline.definitions[..index];
        let kind = number_of(&KINDS, &one.kind).unwrap_or(OTHER_KIND);
        // Use the nearest definition of that name: unpacking finds the same one by its distance.
        let back = |container: &str| {
            earlier.iter().rev().take(SEARCHED_BACK).position(|definition| definition.name == container)
        };
        let (how, distance) = match one.container.as_deref() {
            None => (NO_CONTAINER, None),
            same if same == named => (SAME_CONTAINER, None),
            Some(container) => match back(container) {
                Some(distance) => (DEFINED_CONTAINER, Some(distance)),
                None => (NAMED_CONTAINER, None),
            },
        };
        let one_line = if one.line_end == one.line_start { ONE_LINE } else { 0 };
        packed.push(kind | how << CONTAINER_SHIFT | one_line);
        let before = earlier.last().map_or("", |definition| &definition.name);
        let shared = alike(before, &one.name, HALF_BYTE);
        let rest = &one.name.as_bytes()[shared..];
        let short = rest.len().min(HALF_BYTE);
        packed.extend(u8::try_from(shared << 4 | short));
        if short == HALF_BYTE {
            put_number(&mut packed, (rest.len() - short) as u64);
        }
        packed.extend_from_slice(rest);
        if kind == OTHER_KIND {
            put_text(&mut packed, &one.kind);
        }
        if how == NAMED_CONTAINER {
            put_text(&mut packed, one.container.as_deref().unwrap_or_default());
        }
        if let Some(distance) = distance {
            put_number(&mut packed, distance as u64);
        }
        // A definition without a container does not end a run of definitions with the same container.
        named = one.container.as_deref().or(named);
        put_difference(&mut packed, i64::from(one.line_start) - line);
        if one_line == 0 {
            put_difference(&mut packed, i64::from(one.line_end) - i64::from(one.line_start));
        }
        let (from, to) = one.signature;
        put_difference(&mut packed, i64::from(from) - end);
        put_difference(&mut packed, i64::from(to) - i64::from(from));
        (line, end) = (i64::from(one.line_start), i64::from(to));
    }
    packed
}

/// Unpacks the definitions of a file, up to the first invalid one.
pub(crate) fn definitions(packed: &[u8]) -> Vec<Definition> {
    let mut definitions: Vec<Definition> = Vec::new();
    let mut walk = Walk::new(packed);
    let mut named: Option<String> = None;
    while let Some(one) = walk.next() {
        let container = match one.container {
            Container::None => None,
            Container::Same => named.clone(),
            Container::Named(name) => Some(name.to_owned()),
            Container::Defined(distance) => {
                let earlier = definitions.iter().rev().nth(distance);
                earlier.map(|definition| definition.name.clone())
            }
        };
        if container.is_some() {
            named.clone_from(&container);
        }
        definitions.push(Definition {
            name: walk.name.clone(),
            kind: one.kind.to_owned(),
            line_start: one.line_start,
            line_end: one.line_end,
            signature: one.signature,
            container,
        });
    }
    definitions
}

/// Returns the names of the definitions of a file, in their order.
pub(crate) fn defined_names(packed: &[u8]) -> Vec<String> {
    let mut walk = Walk::new(packed);
    std::iter::from_fn(|| walk.next().map(|_| ()).map(|()| walk.name.clone())).collect()
}

/// Returns true if a file defines a name.
pub(crate) fn defines(packed: &[u8], name: &str) -> bool {
    let mut walk = Walk::new(packed);
    while walk.next().is_some() {
        if walk.name == name {
            return true;
        }
    }
    false
}

/// An iterator over packed definitions.
struct Walk<'b> {
    unpacking: Unpacking<'b>,
    /// The name of the last definition.
    name: String,
    line: i64,
    end: i64,
}

/// A definition without its name.
struct Unnamed<'b> {
    kind: &'b str,
    container: Container<'b>,
    line_start: u32,
    line_end: u32,
    signature: (u32, u32),
}

enum Container<'b> {
    None,
    Same,
    Named(&'b str),
    Defined(usize),
}

impl<'b> Walk<'b> {
    fn new(packed: &'b [u8]) -> Walk<'b> {
        Walk { unpacking: Unpacking::new(packed), name: String::new(), line: 0, end: 0 }
    }

    fn next(&mut self) -> Option<Unnamed<'b>> {
        let head = self.unpacking.byte()?;
        let lengths = usize::from(self.unpacking.byte()?);
        let (shared, mut length) = (lengths >> 4, lengths & HALF_BYTE);
        if length == HALF_BYTE {
            length = length.checked_add(self.unpacking.number()?.try_into().ok()?)?;
        }
        let rest = self.unpacking.text_of(length)?;
        // Longer names are never written. Without this bound a few bytes could expand to long texts.
        if length > NAME_BYTES || (shared | length) == 0 || !self.name.is_char_boundary(shared) {
            return None;
        }
        self.name.truncate(shared);
        self.name.push_str(rest);
        let kind = match head & KIND_BITS {
            OTHER_KIND => self.unpacking.text()?,
            number => KINDS.get(usize::from(number))?,
        };
        let container = match head >> CONTAINER_SHIFT & 0b11 {
            NO_CONTAINER => Container::None,
            SAME_CONTAINER => Container::Same,
            NAMED_CONTAINER => {
                Container::Named(self.unpacking.text().filter(|name| name.len() <= NAME_BYTES)?)
            }
            _ => Container::Defined(self.unpacking.number()?.try_into().ok()?),
        };
        self.line = self.line.checked_add(self.unpacking.difference()?)?;
        let more = if head & ONE_LINE == 0 { self.unpacking.difference()? } else { 0 };
        let from = self.end.checked_add(self.unpacking.difference()?)?;
        self.end = from.checked_add(self.unpacking.difference()?)?;
        Some(Unnamed {
            kind,
            container,
            line_start: self.line.try_into().ok()?,
            line_end: self.line.checked_add(more)?.try_into().ok()?,
            signature: (from.try_into().ok()?, self.end.try_into().ok()?),
        })
    }
}

/// Packs the imports of a file.
pub(crate) fn pack_imports(imports: &[Import]) -> Vec<u8> {
    let mut packed = Vec::new();
    let (mut line, mut before) = (0, "");
    for one in imports {
        let kind = number_of(&IMPORT_KINDS, &one.kind).unwrap_or(OTHER_IMPORT);
        let same_spelling = if one.spelled == one.target { SAME_SPELLING } else { 0 };
        let further = i64::from(one.line) - line;
        let near = u8::try_from(further).ok().filter(|further| *further < FAR_LINE).unwrap_or(FAR_LINE);
        packed.push(kind | same_spelling | near << LINE_SHIFT);
        if near == FAR_LINE {
            put_difference(&mut packed, further);
        }
        if kind == OTHER_IMPORT {
            put_text(&mut packed, &one.kind);
        }
        put_relative(&mut packed, before, &one.target);
        if same_spelling == 0 {
            put_relative(&mut packed, &one.target, &one.spelled);
        }
        (line, before) = (i64::from(one.line), &one.target);
    }
    packed
}

/// Unpacks the imports of a file, up to the first invalid one.
pub(crate) fn imports(packed: &[u8]) -> Vec<Import> {
    let mut unpacking = Unpacking::new(packed);
    let (mut line, mut before) = (0, String::new());
    std::iter::from_fn(|| {
        let import = import(&mut unpacking, line, &before)?;
        // The next import is encoded relative to this one.
        line = i64::from(import.line);
        before.clone_from(&import.target);
        Some(import)
    })
    .collect()
}

fn import(unpacking: &mut Unpacking<'_>, line: i64, before: &str) -> Option<Import> {
    let head = unpacking.byte()?;
    let further = match head >> LINE_SHIFT {
        FAR_LINE => unpacking.difference()?,
        near => i64::from(near),
    };
    let kind = match head & IMPORT_BITS {
        OTHER_IMPORT => unpacking.text()?,
        number => IMPORT_KINDS.get(usize::from(number))?,
    };
    // Longer targets are never written; resolving one takes time quadratic in its parts.
    let target = text_relative(unpacking, before).filter(|target| target.len() <= NAME_BYTES)?;
    let spelled = if head & SAME_SPELLING == 0 { text_relative(unpacking, &target)? } else { target.clone() };
    Some(Import { line: line.checked_add(further)?.try_into().ok()?, kind: kind.to_owned(), target, spelled })
}

/// Appends a text as its difference from `base`.
fn put_relative(packed: &mut Vec<u8>, base: &str, text: &str) {
    let shared = alike(base, text, MOST_ALIKE);
    packed.extend(u8::try_from(shared));
    put_text(packed, &text[shared..]);
}

fn text_relative(unpacking: &mut Unpacking<'_>, base: &str) -> Option<String> {
    let shared = usize::from(unpacking.byte()?);
    let begin = base.get(..shared)?;
    Some([begin, unpacking.text()?].concat())
}

fn number_of(kinds: &[&str], kind: &str) -> Option<u8> {
    u8::try_from(kinds.iter().position(|other| *other == kind)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn definition(name: &str, kind: &str, container: Option<&str>, line: u32, lines: u32) -> Definition {
        Definition {
            name: name.into(),
            kind: kind.into(),
            line_start: line,
            line_end: line + lines - 1,
            signature: (line * 40, line * 40 + 25),
            container: container.map(str::to_owned),
        }
    }

    fn outline() -> Outline {
        let long = "x".repeat(NAME_BYTES);
        Outline {
            definitions: vec![
                definition("Store", "struct", None, 3, 9),
                definition("open", "method", Some("Store"), 15, 4),
                definition("open_größe", "method", Some("Store"), 20, 1),
                definition("open_grüße", "method", Some("Other"), 20, 1),
                definition(&long, "whatever", Some(&long), 19, 1),
                definition(&long, "constant", Some("Store"), 4_000_000, 900),
                definition("f", "function", None, 1, 1),
                definition("alone", "function", Some("Store"), 2, 1),
            ],
            ..Outline::default()
        }
    }

    fn import(line: u32, kind: &str, target: &str, spelled: &str) -> Import {
        Import { line, kind: kind.into(), target: target.into(), spelled: spelled.into() }
    }

    fn some_imports() -> Vec<Import> {
        let long = "a::".repeat(99);
        vec![
            import(1, "import", "a::b", "use a::b"),
            import(1, "module", "größe", "größe"),
            import(90, "include", "grüße", "grüße as x"),
            import(7, "else", &long, &long),
            import(8, "import", &format!("{long}b"), ""),
        ]
    }

    #[test]
    fn packed_outlines_round_trip() {
        let outline = outline();
        let packed = pack_definitions(&outline);
        assert_eq!(definitions(&packed), outline.definitions);
        let names: Vec<&str> = outline.definitions.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(defined_names(&packed), names);
        assert!(names.iter().all(|name| defines(&packed, name)) && !defines(&packed, "Other"));
        assert_eq!(imports(&pack_imports(&some_imports())), some_imports());
    }

    #[test]
    fn a_cut_or_damaged_byte_ends_the_list() {
        let (outline, listed) = (outline(), some_imports());
        let (packed, packed_imports) = (pack_definitions(&outline), pack_imports(&listed));
        for length in 0..packed.len() {
            assert!(outline.definitions.starts_with(&definitions(&packed[..length])), "{length}");
        }
        for length in 0..packed_imports.len() {
            assert!(listed.starts_with(&imports(&packed_imports[..length])), "{length}");
        }
        for at in 0..packed.len() {
            for byte in [0, 0x0f, 0x7f, 0x80, 0xff] {
                let mut damaged = packed.clone();
                damaged[at] = byte;
                assert!(definitions(&damaged).len() <= packed.len());
                assert!(imports(&damaged).len() <= packed.len());
            }
        }
    }

    #[test]
    fn an_import_target_over_the_limit_is_not_unpacked() {
        let longest = "x".repeat(NAME_BYTES);
        let fits = import(1, "import", &longest, &longest);
        assert_eq!(imports(&pack_imports(std::slice::from_ref(&fits))), [fits]);
        let longer = "x".repeat(NAME_BYTES + 1);
        assert_eq!(imports(&pack_imports(&[import(1, "import", &longer, &longer)])), []);
    }

    #[test]
    fn names_over_the_limit_are_not_unpacked() {
        let long = "x".repeat(NAME_BYTES + 1);
        let outline = Outline { definitions: vec![definition(&long, "type", None, 1, 1)], ..outline() };
        assert_eq!(definitions(&pack_definitions(&outline)), []);
    }

    fn any_definition() -> impl Strategy<Value = Definition> {
        let name = "[a-zA-Zäß_]{1,20}";
        let kind = proptest::sample::select(vec!["function", "struct", "field", "whatever"]);
        let container = proptest::option::of(name);
        let parts = (name, kind, container, 1..u32::MAX / 4, 0..1_000_000_u32, 0..u32::MAX / 4, 0..1_000_u32);
        parts.prop_map(|(name, kind, container, line_start, lines, start, length)| Definition {
            name,
            kind: kind.to_owned(),
            line_start,
            line_end: line_start + lines,
            signature: (start, start + length),
            container,
        })
    }

    fn any_import() -> impl Strategy<Value = Import> {
        let kind = proptest::sample::select(vec!["import", "module", "include", "else"]);
        let parts = (1..u32::MAX / 2, kind, "[a-z:äß]{0,20}", "[a-z :äß]{0,20}");
        parts.prop_map(|(line, kind, target, spelled)| Import {
            line,
            kind: kind.to_owned(),
            target,
            spelled,
        })
    }

    proptest! {
        #[test]
        fn any_outline_round_trips(
            definitions_in in proptest::collection::vec(any_definition(), 0..20),
            imports_in in proptest::collection::vec(any_import(), 0..20),
        ) {
            let outline = Outline { definitions: definitions_in, ..Outline::default() };
            prop_assert_eq!(definitions(&pack_definitions(&outline)), outline.definitions);
            prop_assert_eq!(imports(&pack_imports(&imports_in)), imports_in);
        }

        #[test]
        fn any_bytes_unpack_to_bounded_names(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            // Each definition takes at least two bytes and each import one, so the lists are bounded by the bytes.
            let unpacked = definitions(&bytes);
            prop_assert!(unpacked.len() <= bytes.len());
            prop_assert!(unpacked.iter().all(|one| one.name.len() <= NAME_BYTES + HALF_BYTE));
            let unpacked = imports(&bytes);
            prop_assert!(unpacked.len() <= bytes.len());
            prop_assert!(unpacked.iter().all(|one| one.target.len() <= NAME_BYTES));
        }
    }
}
