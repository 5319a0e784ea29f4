//! Properties of strict parsing that hold for any text.

use proptest::prelude::*;
use tagproto::{Block, Decoder, Item, parse, render_block, render_reply};

use crate::fixture::texts::{any_block, any_text};

fn blocks(items: Vec<Item<'_>>) -> Vec<Block<'_>> {
    let block = |item| match item {
        Item::Block(block) => block.value,
        Item::Error(error) => panic!("{error}"),
    };
    items.into_iter().map(block).collect()
}

/// Checks the spans and lines of a list of items.
pub(crate) fn positions_are_sound(text: &str, items: &[Item<'_>]) {
    let mut last_end = 0;
    for item in items {
        let (span, lines) = match item {
            Item::Block(block) => (block.span, block.lines),
            Item::Error(error) => (error.span, error.lines),
        };
        assert!(last_end <= span.start && span.start < span.end, "items follow one another");
        assert!(text.get(span.range()).is_some(), "spans lie on character boundaries");
        let line_of = |at: usize| {
            u32::try_from(text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()).unwrap() + 1
        };
        assert_eq!(lines.first, line_of(span.start));
        assert_eq!(lines.last, line_of(span.end - 1));
        last_end = span.end;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn any_cut_gives_the_same_items(text in any_text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut decoder = Decoder::new();
        let mut items = Vec::new();
        for cut in cuts.windows(2) {
            items.extend(decoder.push(&text[cut[0]..cut[1]]));
        }
        items.extend(decoder.finish());
        prop_assert_eq!(items, parse(&text));
    }

    #[test]
    fn one_character_at_a_time_gives_the_same_items(text in any_text()) {
        let mut decoder = Decoder::new();
        let mut items = Vec::new();
        for (at, c) in text.char_indices() {
            items.extend(decoder.push(&text[at..at + c.len_utf8()]));
        }
        items.extend(decoder.finish());
        prop_assert_eq!(items, parse(&text));
    }

    #[test]
    fn every_item_has_its_position(text in any_text()) {
        positions_are_sound(&text, &parse(&text));
    }

    #[test]
    fn rendered_blocks_read_back_as_they_were(written in prop::collection::vec(any_block(), 0..5)) {
        let text = render_reply(&written).unwrap();
        prop_assert_eq!(blocks(parse(&text)), written);
    }

    #[test]
    fn read_blocks_can_be_rendered_and_read_again(text in any_text()) {
        for item in parse(&text) {
            let Item::Block(block) = item else { continue };
            // A body line may end with a second carriage return, which no text can represent, since reading drops one.
            let Ok(text) = render_block(&block.value) else { continue };
            prop_assert_eq!(blocks(parse(&text)), vec![block.value]);
        }
    }

    #[test]
    fn a_carriage_return_before_each_line_end_changes_no_block(written in prop::collection::vec(any_block(), 0..4)) {
        let text = render_reply(&written).unwrap().replace('\n', "\r\n");
        prop_assert_eq!(blocks(parse(&text)), written);
    }
}
