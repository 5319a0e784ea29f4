//! Outlines as they are stored: lines of fields with tabs between them.
//!
//! They are half of what is stored, so what is said over and over is said shortly.

use crate::outline::{Definition, Import, Outline};

/// Stands for a container that is that of the line before.
const SAME: &str = "=";
/// The kind of most imports, which is left away.
const PLAIN_KIND: &str = "import";

/// Writes the definitions of a file.
pub(crate) fn write_definitions(outline: &Outline) -> String {
    let mut text = String::new();
    let mut before = None;
    for one in &outline.definitions {
        let (from, to) = one.signature;
        let is_same = one.container.is_some() && before == Some(&one.container);
        let container = if is_same { SAME } else { one.container.as_deref().unwrap_or_default() };
        before = Some(&one.container);
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
    let mut found: Vec<Definition> = Vec::new();
    for line in text.lines() {
        let Some(mut definition) = read_definition(line) else { continue };
        if definition.container.as_deref() == Some(SAME) {
            definition.container = found.last().and_then(|before| before.container.clone());
        }
        found.push(definition);
    }
    found
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
        let kind = if one.kind == PLAIN_KIND { "" } else { &one.kind };
        let spelled = if one.spelled == one.target { "" } else { &one.spelled };
        let fields = [kind, &one.target, spelled].map(clean);
        text.push_str(&format!("{}\t{}\n", one.line, fields.join("\t")));
    }
    text
}

/// Reads the imports of a file; a line that is none is passed over.
pub(crate) fn read_imports(text: &str) -> Vec<Import> {
    let read = |line: &str| {
        let mut fields = line.splitn(4, '\t');
        let line = fields.next()?.parse().ok()?;
        let (kind, target, spelled) = (fields.next()?, fields.next()?, fields.next()?);
        let or =
            |field: &str, other: &str| if field.is_empty() { other.to_owned() } else { field.to_owned() };
        Some(Import {
            line,
            kind: or(kind, PLAIN_KIND),
            target: target.to_owned(),
            spelled: or(spelled, target),
        })
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
        let definitions = vec![alone.clone(), definition.clone(), definition, alone];
        let outline = Outline { definitions, ..Outline::default() };
        assert_eq!(read_definitions(&write_definitions(&outline)), outline.definitions);
        let import =
            Import { line: 1, kind: "import".into(), target: "a::b".into(), spelled: "use a::b".into() };
        let imports = [Import { kind: "module".into(), spelled: "a::b".into(), ..import.clone() }, import];
        assert_eq!(read_imports(&write_imports(&imports)), imports);
        assert_eq!(read_definitions("nonsense\n\t\t\n"), []);
    }
}
