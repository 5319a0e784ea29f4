//! The tag parser and the repair of pasted replies.

use tagproto::{Decoder, Dialect, Item, Reply, Strictness, parse, read_in, render_block};

/// Checks strict parsing: a reply gives the same result whole and in pieces, every block that can be rendered parses back to
/// itself, and every position is within the text.
///
/// The first byte is the length of the pieces; the rest is the reply, invalid UTF-8 replaced.
pub fn tag_parser(data: &[u8]) {
    let Some((piece_bytes, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let items = parse(&text);
    check_positions(&text, &items);
    let mut decoder = Decoder::new();
    let mut in_pieces = Vec::new();
    for piece in pieces(&text, usize::from(*piece_bytes) + 1) {
        in_pieces.extend(decoder.push(piece));
    }
    in_pieces.extend(decoder.finish());
    assert_eq!(in_pieces, items, "a reply in pieces");
    for item in &items {
        let Item::Block(block) = item else { continue };
        let Ok(rendered) = render_block(&block.value) else { continue };
        let again = parse(&rendered);
        let [Item::Block(again)] = again.as_slice() else { panic!("{rendered:?} parses as {again:?}") };
        assert_eq!(again.value, block.value, "a rendered block");
    }
}

/// Checks the reading of damaged replies in both dialects: bounded, with positions within the text, and without a repair the same
/// as strict parsing.
pub fn tag_repair(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for dialect in [Dialect::CodingAgent, Dialect::Agentd] {
        for strictness in [Strictness::Strict, Strictness::Repair] {
            let reply = read_in(&text, strictness, dialect);
            check_reply(&text, &reply);
            let is_plain =
                dialect == Dialect::CodingAgent && reply.repairs.is_empty() && reply.refused.is_none();
            if is_plain && reply.items.len() <= Reply::MOST_BLOCKS {
                check_unrepaired(&reply.items, &parse(&text));
            }
        }
    }
}

/// Checks that the items of a reply without a repair are those of strict parsing. A block may be an error instead: some damage is
/// reported and not repaired, such as a citation in a body.
fn check_unrepaired(items: &[Item<'_>], strict: &[Item<'_>]) {
    assert_eq!(items.len(), strict.len(), "a reply without a repair has the blocks of strict parsing");
    for (item, strict) in items.iter().zip(strict) {
        let is_reported = matches!(item, Item::Error(_)) && item.span() == strict.span();
        assert!(is_reported || item == strict, "without a repair {strict:?} is {item:?}");
    }
}

/// Checks that a reply is bounded, and that refused replies contain nothing to run.
pub(super) fn check_reply(text: &str, reply: &Reply<'_>) {
    assert!(reply.items.len() <= Reply::MOST_BLOCKS + 1, "{} blocks", reply.items.len());
    assert!(reply.refused.is_none() || reply.items.is_empty(), "a refused reply has nothing to run");
    check_positions(text, &reply.items);
}

fn check_positions(text: &str, items: &[Item<'_>]) {
    let total_lines = text.lines().count();
    let mut last = 0;
    for item in items {
        let range = item.span().range();
        assert!(text.get(range.clone()).is_some(), "{range:?} is outside of the text");
        assert!(range.start >= last, "blocks are in order");
        last = range.start;
        let lines = item.lines();
        assert!(lines.first >= 1 && lines.first <= lines.last, "{lines:?}");
        assert!(lines.last as usize <= total_lines.max(1), "{lines:?} of {total_lines}");
    }
}

fn pieces(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let cut = (bytes..rest.len()).find(|cut| rest.is_char_boundary(*cut)).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(cut);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}
