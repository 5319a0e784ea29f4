//! Runs every check on the inputs that once broke a promise, and on random bytes.

use std::fs;
use std::path::Path;

use fuzz_checks::CHECKS;
use proptest::prelude::*;

#[test]
fn checks_by_name() {
    let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    assert!(names.is_sorted());
    insta::assert_snapshot!(names.join("\n"));
}

#[test]
fn no_input_that_once_broke_a_promise_breaks_it_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz");
    for folder in fs::read_dir(&root).unwrap().map(Result::unwrap) {
        let name = folder.file_name().into_string().unwrap();
        let check = CHECKS.iter().find(|check| check.name == name);
        let check = check.unwrap_or_else(|| panic!("fixtures/fuzz/{name} has no check"));
        for input in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            println!("{name} {}", input.file_name().display());
            (check.run)(&fs::read(input.path()).unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn no_random_bytes_break_a_promise(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for check in CHECKS {
            (check.run)(&bytes);
        }
    }

    #[test]
    fn no_random_text_breaks_a_promise(text in "[\\[\\]A-Z_/=\" \n\r`<>*@+-]{0,200}") {
        for check in CHECKS {
            (check.run)(text.as_bytes());
        }
    }
}
