//! The rules for files that list other files, which git removes by these names.

/// The beginning of a list of packs.
const PACK_LIST: &[u8] = b"MIDX";

/// The bytes before its table of chunks.
const HEADER_BYTES: usize = 12;

/// The bytes of an entry of that table: a name and an offset.
const CHUNK_BYTES: usize = 12;

/// The chunk with the names of the packs.
const PACK_NAMES: &[u8] = b"PNAM";

/// Returns whether git reads a file of a repository's folder as a list of packs (`multi-pack-index`) or of tables of
/// references (`tables.list`), by the names on the way to it.
pub fn is_file_list<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let (mut folder, mut name): (&[u8], &[u8]) = (b"", b"");
    for next in names {
        (folder, name) = (name, next);
    }
    let is = |text: &[u8], wanted: &str| text.eq_ignore_ascii_case(wanted.as_bytes());
    let is_layer = name.get(name.len().saturating_sub(5)..).is_some_and(|end| is(end, ".midx"));
    is(folder, "pack") && is(name, "multi-pack-index")
        || is(folder, "multi-pack-index.d") && is_layer
        || is(folder, "reftable") && is(name, "tables.list")
}

/// Returns whether all files in such a list are next to it.
///
/// Git removes packs that the list makes superfluous, and tables that it has joined, by these names, and accepts `../../x`.
/// A list of packs that git would not have written is refused.
pub fn lists_sibling_files(content: &[u8]) -> bool {
    if content.starts_with(PACK_LIST) {
        lists_sibling_packs(content).unwrap_or(false)
    } else {
        !content.contains(&b'/')
    }
}

fn lists_sibling_packs(content: &[u8]) -> Option<bool> {
    let chunks = usize::from(*content.get(6)?);
    let packs = u32::from_be_bytes(content.get(8..HEADER_BYTES)?.try_into().ok()?);
    let table = content.get(HEADER_BYTES..)?.get(..(chunks + 1) * CHUNK_BYTES)?;
    let mut table = table.chunks_exact(CHUNK_BYTES).peekable();
    let offset = |entry: &[u8]| usize::try_from(u64::from_be_bytes(entry[4..].try_into().ok()?)).ok();
    let mut names = None;
    while let Some(entry) = table.next() {
        if entry.starts_with(PACK_NAMES)
            && names.replace(content.get(offset(entry)?..offset(table.peek()?)?)?).is_some()
        {
            return None;
        }
    }
    let names = names?;
    // Each name is entirely in this chunk: a version of git without this check would read on after it.
    let ends = names.iter().filter(|byte| **byte == 0).count();
    Some(ends >= usize::try_from(packs).ok()? && !names.contains(&b'/'))
}
