//! Bodies that may have the same damage as the tag lines.

use crate::{
    RefusalKind, RepairKind, RepairSet,
    repair::{
        entity,
        tag_line::{NO_BREAK, SMART_PUNCTUATION},
    },
};

/// Checks the lines of a body for the damage that its tag, or the rest of the paste, has.
///
/// A body is in doubt if it holds the damaged form and no raw form that the damage would have changed.
pub(crate) fn about(lines: &[&str], suspected: RepairSet) -> Option<RefusalKind> {
    if suspected.contains(RepairKind::Entity) && hold_entities_only(lines) {
        Some(RefusalKind::EntitiesInBody)
    } else if suspected.contains(RepairKind::SmartQuotes) && hold_curly_punctuation_only(lines) {
        Some(RefusalKind::SmartPunctuationInBody)
    } else if suspected.contains(RepairKind::MdEscape) && hold_escapes_only(lines) {
        Some(RefusalKind::EscapesInBody)
    } else if suspected.contains(RepairKind::Nbsp) && hold_no_break_spaces(lines) {
        Some(RefusalKind::NbspInBody)
    } else {
        None
    }
}

fn hold(lines: &[&str], characters: &[char]) -> bool {
    lines.iter().any(|line| line.contains(characters))
}

fn hold_entities_only(lines: &[&str]) -> bool {
    let entities: usize = lines.iter().map(|line| entity::entities(line).count()).sum();
    let ampersands: usize = lines.iter().map(|line| line.matches('&').count()).sum();
    // A raw `&`, `<`, `>` or quote would have been escaped with the rest, so any of them clears the body.
    entities > 0 && ampersands == entities && !hold(lines, &['<', '>', '"'])
}

fn hold_curly_punctuation_only(lines: &[&str]) -> bool {
    hold(lines, &SMART_PUNCTUATION) && !hold(lines, &['"', '\''])
}

fn hold_escapes_only(lines: &[&str]) -> bool {
    let mut has_escapes = false;
    for line in lines {
        let mut before = None;
        for c in line.chars() {
            if matches!(c, '_' | '*' | '[' | ']') {
                if before != Some('\\') {
                    return false;
                }
                has_escapes = true;
            }
            before = Some(c);
        }
    }
    has_escapes
}

fn hold_no_break_spaces(lines: &[&str]) -> bool {
    let is_indented_with = |line: &&str| line[..line.len() - line.trim_start().len()].contains(NO_BREAK);
    hold(lines, &NO_BREAK) && (!hold(lines, &[' ']) || lines.iter().any(is_indented_with))
}
