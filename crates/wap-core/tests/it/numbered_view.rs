//! Lines with their numbers.

use proptest::prelude::*;
use wap_core::{numbered_view, push_numbered_view, unnumbered};

/// The view by its definition.
fn view(text: &str, first: u64) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let width = (first + lines.len().saturating_sub(1) as u64).to_string().len();
    lines.iter().zip(first..).map(|(line, number)| format!("{number:>width$}|{line}")).collect()
}

#[test]
fn numbers_that_get_wider_are_aligned() {
    insta::assert_snapshot!(numbered_view("a\n\nü\r\n", 8), @r"
     8|a
     9|
    10|ü
    ");
    assert_eq!(numbered_view("", 1), "");
    assert_eq!(numbered_view("a\nb", 99), " 99|a\n100|b");
    // A number beyond all lines does not fail.
    assert!(numbered_view("a\nb", u64::MAX).starts_with("18446744073709551615|a\n"));
}

proptest! {
    #[test]
    fn every_line_has_its_number(text in "(\\PC{0,3}|\n|\r\n){0,200}", first in prop_oneof![1..2_u64, 1..120_u64, 1..u64::MAX / 2]) {
        prop_assert_eq!(numbered_view(&text, first), view(&text, first));
        let mut appended = "header\n".to_owned();
        push_numbered_view(&mut appended, &text, first);
        prop_assert_eq!(appended, format!("header\n{}", view(&text, first)));
        if !text.is_empty() {
            prop_assert_eq!(unnumbered(&view(&text, first)), Some((first, text)));
        }
    }
}
