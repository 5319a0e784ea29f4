//! Properties of paste repair that hold for any text.

use proptest::{collection::vec, prelude::*, sample::select};
use tagproto::{
    Block, Item, ParseErrorKind, RefusalKind, RepairKind, Reply, Strictness, parse, read, render_block,
    render_reply,
};

use crate::{
    fixture::texts::{any_text, block_with_plain_path, plain_block},
    strict::properties::positions_are_sound,
};

/// Checks whether an item is a block with a fault of the model, which strict parsing does not check for.
fn is_fault(item: &Item<'_>) -> bool {
    let Item::Error(error) = item else { return false };
    matches!(error.kind, ParseErrorKind::CitationInBody { .. } | ParseErrorKind::OmittedCode { .. })
}

/// Checks that the items are those of strict parsing, except for faults.
fn same_but_for_faults(repaired: &[Item<'_>], strict: &[Item<'_>]) -> bool {
    let position = |item: &Item<'_>| match item {
        Item::Block(block) => (block.span, block.lines),
        Item::Error(error) => (error.span, error.lines),
    };
    repaired.len() == strict.len()
        && repaired.iter().zip(strict).all(|(repaired, strict)| {
            repaired == strict
                || (is_fault(repaired)
                    && position(repaired) == position(strict)
                    && repaired.kind() == strict.kind())
        })
}

fn is_untouched(reply: &Reply<'_>) -> bool {
    reply.repairs.is_empty() && reply.refused.is_none()
}

/// The repairs and refusals that a reply with clean tag lines and without prose may have.
const IN_CLEAN_BLOCKS: [RepairKind; 2] = [RepairKind::BodyFence, RepairKind::Gutter];
const REFUSED_CLEAN_BLOCKS: [RefusalKind; 7] = [
    RefusalKind::IndentationLost,
    RefusalKind::TabsLost,
    RefusalKind::NbspInBody,
    RefusalKind::GutterIncomplete,
    RefusalKind::CopyLabel,
    RefusalKind::DuplicatePaste,
    RefusalKind::LinkedPath,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_reply_to_which_no_rule_applies_is_read_strictly(text in any_text()) {
        let reply = read(&text, Strictness::Repair);
        if is_untouched(&reply) {
            prop_assert!(same_but_for_faults(&reply.items, &parse(&text)), "{:?}\n{:?}", reply.items, parse(&text));
        }
    }

    #[test]
    fn every_item_of_a_repaired_reply_has_its_position(text in any_text()) {
        positions_are_sound(&text, &read(&text, Strictness::Repair).items);
    }

    #[test]
    fn a_refused_reply_holds_nothing_that_could_be_run(text in any_text()) {
        let reply = read(&text, Strictness::Repair);
        if reply.refused.is_some() {
            prop_assert!(reply.items.is_empty() && reply.repairs.is_empty());
        }
        prop_assert_eq!(read(&text, Strictness::Strict).items, parse(&text));
    }

    #[test]
    fn clean_blocks_are_changed_in_their_bodies_only(written in vec(block_with_plain_path(), 0..5)) {
        let text = render_reply(&written).unwrap();
        let reply = read(&text, Strictness::Repair);
        prop_assert!(reply.repairs.iter().all(|kind| IN_CLEAN_BLOCKS.contains(&kind)), "{:?}", reply.repairs);
        match reply.refused {
            Some(refusal) => prop_assert!(REFUSED_CLEAN_BLOCKS.contains(&refusal.kind), "{}", refusal),
            None => {
                prop_assert_eq!(reply.items.len(), written.len());
                for (item, block) in reply.items.iter().zip(&written) {
                    prop_assert_eq!(item.kind(), block.kind());
                    prop_assert!(!matches!(item, Item::Error(_)) || is_fault(item) || !reply.repairs.is_empty());
                }
            }
        }
        if is_untouched(&reply) {
            prop_assert!(same_but_for_faults(&reply.items, &parse(&text)));
        }
    }

    #[test]
    fn a_damaged_tag_line_gives_the_block_that_was_written(
        block in plain_block(), damage in select(&["bold", "heading", "list", "backtick", "zero_width"][..]),
    ) {
        let kind = block.kind();
        let text = render_block(&block).unwrap();
        let (tag, rest) = text.split_once('\n').unwrap();
        let damaged = match damage {
            "bold" => format!("**{tag}**\n{rest}"),
            "heading" => format!("## {tag}\n{rest}"),
            "list" => format!("- {tag}\n{rest}"),
            "backtick" => format!("`{tag}`\n{rest}"),
            _ => format!("\u{200b}{tag}\n{rest}"),
        };
        let (damaged, clean) = (read(&damaged, Strictness::Repair), read(&text, Strictness::Repair));
        if clean.refused.is_none() && damaged.refused.is_none() {
            prop_assert!(damaged.repairs.iter().any(|kind| kind.name() == damage));
            prop_assert_eq!(damaged.items.len(), 1);
            match (&damaged.items[0], &clean.items[0]) {
                (Item::Block(damaged), Item::Block(clean)) => prop_assert_eq!(&damaged.value, &clean.value),
                (Item::Error(damaged), Item::Error(clean)) => prop_assert_eq!(&damaged.kind, &clean.kind),
                other => prop_assert!(false, "{:?} for {}", other, kind),
            }
        }
    }

    #[test]
    fn a_quoted_reply_gives_the_blocks_that_were_written(written in vec(plain_block(), 1..4)) {
        let text = render_reply(&written).unwrap();
        let quoted: String = text.split_inclusive('\n').map(|line| format!("> {line}")).collect();
        let (quoted, clean) = (read(&quoted, Strictness::Repair), read(&text, Strictness::Repair));
        if quoted.refused.is_none() && clean.refused.is_none() && clean.repairs.is_empty() {
            let values = |reply: &Reply<'_>| -> Vec<Result<Block<'static>, ParseErrorKind>> {
                reply.items.iter().cloned().map(|item| match item.into_owned() {
                    Item::Block(block) => Ok(block.value),
                    Item::Error(error) => Err(error.kind),
                }).collect()
            };
            prop_assert_eq!(values(&quoted), values(&clean));
        }
    }
}
