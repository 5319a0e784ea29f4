//! Properties of any text.

use std::sync::Arc;

use proptest::prelude::*;
use secret_placeholders::{MemoryStore, Secrets, StreamMask};

use crate::corpus::recipes;

/// Fields with escapes, and other spellings of their values, some of which overlap.
const SPELLINGS: [&str; 5] = [
    "{\"password\": \"kX7q\\u0026zWm2Lr9aa\"}",
    "kX7q&zWm2Lr9aa",
    "{\"password\": \"aaRt8w\\\\\\\"zWm2%2540\"}",
    "aaRt8w\\\"zWm2%40",
    "aaRt8w\"zWm2@",
];

/// A text of ordinary pieces, secrets, texts like placeholders, and line ends.
fn any_text() -> impl Strategy<Value = String> {
    let lines: Vec<String> = recipes().iter().map(|recipe| recipe.line()).collect();
    let piece = prop_oneof![
        "\\PC{0,20}",
        "[ -~]{0,40}",
        proptest::sample::select(lines),
        proptest::sample::select(&SPELLINGS[..]).prop_map(str::to_owned),
        "⟦?secret:[a-z-]{0,12}:[0-9]{0,3}⟧?",
        "(password|secret|api_key|token) ?[=:] ?[\"']?[A-Za-z0-9+/_-]{0,40}[\"']?",
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("-----END PRIVATE KEY-----".to_owned()),
        Just("⟦secret:npm-token:1⟧".to_owned()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_masked_text_is_restored_byte_for_byte_and_keeps_its_lines(texts in proptest::collection::vec(any_text(), 1..4)) {
        let secrets = Secrets::open(MemoryStore::default()).unwrap();
        for text in &texts {
            let masked = secrets.mask(text).into_owned();
            prop_assert_eq!(secrets.restore(&masked).unwrap(), text.as_str());
            prop_assert_eq!(masked.matches('\n').count(), text.matches('\n').count());
            // A placeholder may have replaced the boundary of a key, so that more now looks like a secret.
            let rest = secrets.mask_rest(&masked).into_owned();
            prop_assert_eq!(secrets.restore(&rest).unwrap(), text.as_str());
        }
    }

    #[test]
    fn lines_are_restored_one_by_one(text in any_text()) {
        let secrets = Secrets::open(MemoryStore::default()).unwrap();
        let masked = secrets.mask(&text).into_owned();
        for (masked, line) in masked.split('\n').zip(text.split('\n')) {
            prop_assert_eq!(secrets.restore(masked).unwrap(), line);
        }
    }

    #[test]
    fn a_stream_shows_nothing_that_the_whole_text_hides(text in any_text(), cuts in proptest::collection::vec(0.0..1.0, 0..5)) {
        let secrets = Arc::new(Secrets::open(MemoryStore::default()).unwrap());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut: &f64| (cut * text.len() as f64) as usize).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut stream = StreamMask::new(&secrets);
        let mut visible: String = cuts.windows(2).map(|cut| stream.push(&text.as_bytes()[cut[0]..cut[1]])).collect();
        visible.push_str(&stream.finish());
        prop_assert_eq!(secrets.restore(&visible).unwrap(), text);
    }
}
