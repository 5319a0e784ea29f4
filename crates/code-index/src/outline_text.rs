//! Outlines as they are stored: lines of fields with tabs between them.

use crate::outline::{Definition, Import, Outline};

/// Writes the definitions of a file.
pub(crate) fn write_definitions(outline: &Outline) -> String {
    let mut text = String::new();
    for one in &outline.definitions {
        let (from, to) = one.signature;
        let container = one.container.as_deref().unwrap_or_default();
        let fields = [&one.name, &one.kind, container].map(clean);
        text.push_str(&fields.join("\t"));
        text.push_str(&format!(
            "\t{}\t{}\t{from}\t{}\n",
            one.line_start,
            one.line_end - one.line_start,
            to - from
        ));
    }
    text
}

/// Reads the definitions of a file; a line that is none is passed over.
pub(crate) fn read_definitions(text: &str) -> Vec<Definition> {
    text.lines().filter_map(read_definition).collect()
}

fn read_definition(line: &str) -> Option<Definition> {
    let mut fields = line.split('\t');
    let (name, kind, container) = (fields.next()?, fields.next()?, fields.next()?);
    let mut number = || fields.next().and_then(|field| field.parse::<u32>().ok());
    let (line_start, more_lines, from, length) = (number()?, number()?, number()?, number()?);
    Some(Definition {
        name: name.to_owned(),
        kind: kind.to_owned(),
        line_start,
        line_end: line_start.checked_add(more_lines)?,
        signature: (from, from.checked_add(length)?),
        container: (!container.is_empty()).then(|| container.to_owned()),
    })
}

/// Writes the imports of a file.
pub(crate) fn write_imports(imports: &[Import]) -> String {
    let mut text = String::new();
    for one in imports {
        let fields = [&one.kind, &one.target, &one.spelled].map(|field| clean(field));
        text.push_str(&format!("{}\t{}\n", one.line, fields.join("\t")));
    }
    text
}

/// Reads the imports of a file; a line that is none is passed over.
pub(crate) fn read_imports(text: &str) -> Vec<Import> {
    let read = |line: &str| {
        let mut fields = line.splitn(4, '\t');
        let line = fields.next()?.parse().ok()?;
        let mut text = || fields.next().map(str::to_owned);
        Some(Import { line, kind: text()?, target: text()?, spelled: text()? })
    };
    text.lines().filter_map(read).collect()
}

/// What separates fields and lines cannot stand in them.
fn clean(field: &str) -> String {
    field.split(['\t', '\n', '\r']).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let definition = Definition {
            name: "open".into(),
            kind: "method".into(),
            line_start: 3,
            line_end: 9,
            signature: (10, 40),
            container: Some("Store".into()),
        };
        let alone = Definition { container: None, name: "größe".into(), ..definition.clone() };
        let outline = Outline { definitions: vec![definition, alone], ..Outline::default() };
        assert_eq!(read_definitions(&write_definitions(&outline)), outline.definitions);
        let import =
            Import { line: 1, kind: "import".into(), target: "a::b".into(), spelled: "use a::b".into() };
        assert_eq!(read_imports(&write_imports(std::slice::from_ref(&import))), [import]);
        assert_eq!(read_definitions("nonsense\n\t\t\n"), []);
    }
}
