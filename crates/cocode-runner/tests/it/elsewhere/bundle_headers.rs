use cocode_runner::{BundleHeader, BundleHeaderError};
use proptest::prelude::*;

const ONE: &str = "1111111111111111111111111111111111111111";

fn read(text: &str) -> Result<(BundleHeader, u64), BundleHeaderError> {
    BundleHeader::read(&mut text.as_bytes())
}

#[test]
fn each_fault_has_an_error_of_its_own() {
    let long = "2".repeat(64);
    let many: String = std::iter::repeat_n(format!("-{ONE}\n"), 65).collect();
    let texts = [
        "".to_owned(),
        "PACK".into(),
        format!("# v3 git bundle\n@object-format=sha1\n{ONE} HEAD\n\n"),
        format!("# v2 git bundle\n{ONE} HEAD\n"),
        format!("# v2 git bundle\n{ONE} HEAD"),
        "# v2 git bundle\n\n".into(),
        "# v2 git bundle\n123 HEAD\n\n".into(),
        format!("# v2 git bundle\n{} HEAD\n\n", ONE.replace('1', "A")),
        format!("# v2 git bundle\n-{ONE}\n{long} HEAD\n\n"),
        format!("# v3 git bundle\n@object-format=sha256\n{ONE} HEAD\n\n"),
        format!("# v3 git bundle\n@filter=blob:none\n{long} HEAD\n\n"),
        format!("# v2 git bundle\n{long} HEAD\n\n"),
        format!("# v2 git bundle\n{ONE}\n\n"),
        format!("# v2 git bundle\n{ONE} \n\n"),
        format!("# v2 git bundle\n{ONE} a b\n\n"),
        format!("# v2 git bundle\n{ONE} HEAD\n-{ONE}\n\n"),
        format!("# v2 git bundle\n{ONE} HEAD\n{ONE} refs/heads/main\n\n"),
        format!("# v2 git bundle\n{many}{ONE} HEAD\n\n"),
        format!("# v2 git bundle\n-{ONE} {}\n{ONE} HEAD\n\n", "x".repeat(17 << 10)),
    ];
    let errors: Vec<String> = texts.iter().map(|text| read(text).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn the_limits_are_exact() {
    let with = |count: usize| BundleHeader {
        prerequisites: vec![ONE.to_owned(); count],
        tip: ONE.to_owned(),
        reference: "HEAD".into(),
    };
    assert!(with(64).render().is_ok());
    assert_eq!(with(65).render(), Err(BundleHeaderError::TooManyPrerequisites { limit: 64 }));
    let of_bytes = |bytes: usize| {
        let rest = format!("{ONE} HEAD\n\n");
        let start = format!("# v2 git bundle\n-{ONE} ");
        format!("{start}{}\n{rest}", "x".repeat(bytes - start.len() - rest.len() - 1))
    };
    assert_eq!(read(&of_bytes(16 << 10)).unwrap().1, 16 << 10);
    assert_eq!(read(&of_bytes((16 << 10) + 1)), Err(BundleHeaderError::TooLong { limit_bytes: 16 << 10 }));
}

#[test]
fn a_field_with_a_line_break_is_not_rendered() {
    let header = |tip: &str, reference: &str| BundleHeader {
        prerequisites: Vec::new(),
        tip: tip.to_owned(),
        reference: reference.to_owned(),
    };
    for reference in ["a\n", "a\n\nPACK", "", "a b"] {
        assert!(header(ONE, reference).render().is_err(), "{reference:?}");
    }
    assert!(header(&format!("{ONE} x\n{ONE}"), "HEAD").render().is_err());
    assert!(header(ONE, "HEAD").render().is_ok());
}

proptest! {
    #[test]
    fn a_rendered_header_reads_back(
        (tip, prerequisites) in prop_oneof![Just(40_usize), Just(64)].prop_flat_map(|digits| {
            let name = || prop::string::string_regex(&format!("[0-9a-f]{{{digits}}}")).unwrap();
            (name(), prop::collection::vec(name(), 0..=64))
        }),
        reference in "(HEAD|refs/[a-zA-Z0-9äß/_.-]{1,80})",
        pack in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let header = BundleHeader { prerequisites, tip, reference };
        let text = header.render().unwrap();
        let bytes = [text.as_bytes(), &pack].concat();
        let mut reader = bytes.as_slice();
        prop_assert_eq!(BundleHeader::read(&mut reader), Ok((header, text.len() as u64)));
        prop_assert_eq!(reader, pack.as_slice());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        start in prop_oneof![
            Just(&b""[..]),
            Just(&b"# v2 git bundle\n"[..]),
            Just(&b"# v3 git bundle\n"[..]),
            Just(&b"# v3 git bundle\n@object-format=sha256\n"[..]),
        ],
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let bytes = [start, &bytes].concat();
        let _ = BundleHeader::read(&mut bytes.as_slice());
    }

    #[test]
    fn damaged_headers_are_read_as_they_render_or_refused(
        index in 0_usize..200, byte in any::<u8>()
    ) {
        let two = ONE.replace('1', "2");
        let mut bytes = format!("# v2 git bundle\n-{ONE}\n{two} refs/heads/main\n\nPACK").into_bytes();
        let index = index % bytes.len();
        bytes[index] = byte;
        if let Ok((header, length)) = BundleHeader::read(&mut bytes.as_slice()) {
            let text = header.render().unwrap();
            // A comment is left out.
            prop_assert!(text.len() as u64 <= length);
        }
    }
}
