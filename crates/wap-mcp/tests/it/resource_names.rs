//! The names of resources.

use proptest::prelude::*;
use wap_mcp::{NameError, ResourceName};

fn resource_name() -> impl Strategy<Value = ResourceName> {
    let word = "[A-Za-z0-9_-]{1,10}(\\.[a-z0-9_-]{1,5})?";
    prop_oneof![
        word.prop_map(ResourceName::Output),
        word.prop_map(ResourceName::Process),
        (1..=u64::MAX).prop_map(ResourceName::Run),
        (1..=u64::MAX).prop_map(ResourceName::Review),
    ]
}

proptest! {
    #[test]
    fn a_name_is_read_as_it_was_written(name in resource_name(), line in 1..=u64::MAX) {
        prop_assert_eq!(name.to_string().parse::<ResourceName>(), Ok(name.clone()));
        prop_assert_eq!(ResourceName::parse_page(&format!("{name}?line={line}")), Ok((name, line)));
    }

    #[test]
    fn every_accepted_name_has_only_one_spelling(uri in "(agentd://(output|process|run|review)/)?[ -~\u{80}-\u{ff}]{0,12}") {
        if let Ok(name) = uri.parse::<ResourceName>() {
            prop_assert_eq!(name.to_string(), uri);
        }
    }

    #[test]
    fn no_name_holds_a_way_upwards(before in "[a-z/]{0,5}", after in "[a-z/]{0,5}") {
        let uri = format!("agentd://output/{before}..{after}");
        prop_assert_eq!(uri.parse::<ResourceName>(), Err(NameError::InvalidName));
    }
}

#[test]
fn refusals_describe_the_form_of_a_name() {
    let errors = ["file:///a", "agentd://output/a b", "agentd://run/x", "agentd://run/1?line=0"];
    let texts = errors.map(|uri| format!("{uri}: {}", ResourceName::parse_page(uri).unwrap_err()));
    insta::assert_snapshot!(texts.join("\n"), @r"
    file:///a: a resource is agentd://output/, agentd://process/, agentd://run/ or agentd://review/ and a name
    agentd://output/a b: the name of a resource has letters, digits, '.', '_' and '-', and no '..'
    agentd://run/x: runs and reviews are named by their numbers
    agentd://run/1?line=0: after '?' comes line= and the number of the first line
    ");
}
