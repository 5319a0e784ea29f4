//! Tests of `content-hash` through its public API.

use content_hash::ContentHash;
use proptest::prelude::*;

#[test]
fn names_of_contents() {
    let contents: [&[u8]; 4] = [b"", b"a", b"a\n", &[0xff, 0x00]];
    let lines = contents.map(|content| format!("{}  {}", ContentHash::of(content), content.escape_ascii()));
    let not_hashes = ["", "00", "zz"].map(|text| text.parse::<ContentHash>().unwrap_err().to_string());
    insta::assert_snapshot!(format!("{}\n{}", lines.join("\n"), not_hashes.join("\n")));
}

proptest! {
    #[test]
    fn bytes_and_readers_have_the_same_name_and_it_survives_as_text(content: Vec<u8>) {
        let hash = ContentHash::of(&content);
        prop_assert_eq!(ContentHash::of_reader(content.as_slice()).unwrap(), hash);
        prop_assert_eq!(hash.to_string().parse(), Ok(hash));
        prop_assert_eq!(hash.to_string().to_uppercase().parse(), Ok(hash));
        prop_assert_eq!(ContentHash::from_bytes(*hash.as_bytes()), hash);
    }
}
