//! Any text in the languages of the feature `more-languages`.

use std::fs;
use std::path::Path;

use code_index::IndexLimits;
use proptest::prelude::*;
use wap_core::{CodeIndex, ReadAst, ReadImpact};

use crate::fixture::{Fixture, call, search, symbols};

/// One file of each language, with most of its forms.
const FILES: [&str; 10] = [
    "bash/bin/deploy.sh",
    "dart/lib/src/cart.dart",
    "elixir/lib/shop/cart.ex",
    "erlang/src/shop_cart.erl",
    "lua/lua/shop/init.lua",
    "php/src/Shop/Cart.php",
    "powershell/src/Shop.psm1",
    "r/R/money.R",
    "ruby/lib/shop/money.rb",
    "zig/src/cart.zig",
];

/// Pieces that open, close or start something in one of the languages.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "do ",
    "end\n",
    "\"",
    "'",
    "`",
    "<<EOF\n",
    "\n",
    "=",
    ".",
    ",",
    ":",
    "@",
    "$",
    "#",
    "--[[",
    "/*",
    "def ",
    "class ",
    "function ",
    "é",
];

/// A change of a text: the part from `at` of `length` thousandths is replaced.
#[derive(Clone, Debug)]
struct Damage {
    at: usize,
    length: usize,
    piece: usize,
    is_twice: bool,
}

fn damage() -> impl Strategy<Value = Damage> {
    (0..1_000_usize, 0..300_usize, 0..PIECES.len(), any::<bool>())
        .prop_map(|(at, length, piece, is_twice)| Damage { at, length, piece, is_twice })
}

fn fixture_text(path: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/index");
    fs::read_to_string(folder.join(path)).unwrap()
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut text = text.to_owned();
    for damage in damages {
        let start = text.floor_char_boundary(text.len() * damage.at / 1_000);
        let end = text.floor_char_boundary((start + text.len() * damage.length / 1_000).min(text.len()));
        let part = if damage.is_twice { text[start..end].to_owned() } else { String::new() };
        text.replace_range(start..end, &format!("{part}{}{part}", PIECES[damage.piece]));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn ranges_lie_within_a_damaged_file(damages in proptest::collection::vec(damage(), 0..6)) {
        let files = FILES.map(|path| (path, damaged(&fixture_text(path), &damages)));
        let mut fixture = Fixture::new(files.clone());
        // A machine under load may take long for ten small files.
        fixture.limits = IndexLimits { parse_time: std::time::Duration::from_secs(60), ..fixture.limits };
        let index = fixture.index();
        for (path, text) in &files {
            let lines = text.lines().count().max(1) as u64;
            let listed = symbols(&index, path).unwrap();
            for one in &listed.symbols {
                prop_assert!(1 <= one.line_start && one.line_start <= one.line_end, "{path}: {one:?}");
                prop_assert!(one.line_end <= lines, "{path}: {one:?} of {lines}");
                prop_assert!(!one.name.is_empty() && !one.name.contains('\n'), "{path}: {one:?}");
            }
            let tree = call(|call| index.ast(call, &ReadAst { file: (*path).into(), max_nodes: 100_000 }));
            for node in tree.unwrap().nodes {
                prop_assert!(node.line_start <= node.line_end, "{path}: {node:?}");
            }
            call(|call| index.impact(call, &ReadImpact { file: (*path).into(), max_depth: 9 })).unwrap();
        }
    }
}

#[test]
fn a_definition_is_found_by_its_name() {
    let fixture = Fixture::new(FILES.map(|path| (path, fixture_text(path))));
    let index = fixture.index();
    let cases = [
        ("deploy::all", "bash/bin/deploy.sh"),
        ("Shortened", "dart/lib/src/cart.dart"),
        ("Cart.priced", "elixir/lib/shop/cart.ex"),
        ("handle_cast", "erlang/src/shop_cart.erl"),
        ("M.total", "lua/lua/shop/init.lua"),
        ("Counts.counted", "php/src/Shop/Cart.php"),
        ("Select-Cheap", "powershell/src/Shop.psm1"),
        ("Account.deposit", "r/R/money.R"),
        ("Money.double", "ruby/lib/shop/money.rb"),
        ("Line.double", "zig/src/cart.zig"),
    ];
    for (name, path) in cases {
        let hits = search(&index, name).hits;
        assert_eq!(hits[0].path, path, "{name}");
        let listed = symbols(&index, path).unwrap().symbols;
        let last = name.rsplit(['.']).next().unwrap();
        let defined = listed.iter().find(|one| one.name == last).unwrap();
        let (first, end) = (hits[0].line_start, hits[0].line_end);
        assert!(first <= defined.line_start && defined.line_start <= end, "{name}: {hits:?}");
    }
}
