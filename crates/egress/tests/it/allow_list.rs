//! Allow-lists: parsing, matching and display.

use egress::{
    AllowEntry, AllowItem, AllowList, HostName, MOST_ENTRIES, NameFault, NamePattern, NetworkChoice, Ports,
    Refusal,
};
use insta::assert_snapshot;
use proptest::prelude::*;

fn name(text: &str) -> HostName {
    text.parse().unwrap()
}

fn list(text: &str) -> AllowList {
    text.parse().unwrap()
}

#[test]
fn an_entry_allows_its_names_at_its_ports() {
    let list = list("registry.example, *.cdn.example,git.example:22,int.example:8443@10.0.0.5");
    let is_allowed = |host: &str, port| list.find(&name(host), port).is_some();
    for (host, port) in [
        ("registry.example", 443),
        ("registry.example", 80),
        ("REGISTRY.example.", 443),
        ("a.cdn.example", 443),
        ("a.b.cdn.example", 80),
        ("git.example", 22),
        ("int.example", 8443),
    ] {
        assert!(is_allowed(host, port), "{host}:{port}");
    }
    for (host, port) in [
        ("registry.example", 22),
        ("sub.registry.example", 443),
        ("evilregistry.example", 443),
        ("registry.example.evil.example", 443),
        ("cdn.example", 443),
        ("evilcdn.example", 443),
        ("git.example", 443),
        ("int.example", 443),
        ("example", 443),
    ] {
        assert!(!is_allowed(host, port), "{host}:{port}");
    }
    assert!(list.has_name(&name("git.example")));
    assert!(!list.has_name(&name("cdn.example")));
}

#[test]
fn the_narrowest_entry_says_where_to_dial() {
    let list = list(
        "*.corp.example@10.0.0.1,*.eu.corp.example@10.0.0.2,git.eu.corp.example,git.eu.corp.example:443@10.0.0.3",
    );
    let address = |host: &str, port| list.find(&name(host), port).map(|entry| entry.address);
    assert_eq!(address("a.corp.example", 443), Some(Some("10.0.0.1".parse().unwrap())));
    assert_eq!(address("a.eu.corp.example", 443), Some(Some("10.0.0.2".parse().unwrap())));
    assert_eq!(address("git.eu.corp.example", 443), Some(Some("10.0.0.3".parse().unwrap())));
    assert_eq!(address("git.eu.corp.example", 80), Some(None));
    assert_eq!(address("git.eu.corp.example", 22), None);
}

#[test]
fn a_list_is_displayed_sorted_and_each_entry_once() {
    let text =
        "b.example, a.example:22,b.example,*.c.example@[FD00::5],host:443,d.example@::ffff:10.0.0.1,nas.";
    assert_snapshot!(
        list(text),
        @"a.example:22,b.example,d.example@10.0.0.1,host:443,nas.,*.c.example@[fd00::5]"
    );
    let choice: NetworkChoice = "allow=npm,a.example,Pip".parse().unwrap();
    assert_snapshot!(choice, @"allow=npm,a.example,pip");
    let NetworkChoice::Allow(items) = choice else { panic!("a list") };
    assert_eq!(items[2], AllowItem::Preset("pip".into()));
}

#[test]
fn every_fault_has_its_position_and_advice() {
    let long_label = format!("{}.example", "a".repeat(64));
    let long = format!("{}example", "abcdefg.".repeat(31));
    assert_eq!(long.len(), 255);
    let texts = [
        "",
        "a.example,,b.example",
        "a.example, ",
        "https://a.example",
        "a.example/path",
        "a..example",
        ".example.org",
        "-a.example",
        "bücher.example",
        "a.example,ö.example:70000",
        "a b.example",
        "10.0.0.5",
        "0x7f.1",
        "fd00::5",
        "[fd00::5]:443",
        "localhost:3000",
        "x.localhost",
        "*",
        "*.example",
        "a.*.example",
        "*a.corp.example",
        "a.example:",
        "a.example:0",
        "a.example:70000",
        "a.example:+443",
        "a.example:https",
        "a.example@",
        "a.example@b.example",
        "a.example@10.0.0.5:443",
        "a.example@0.0.0.0",
        "a.example@[ff02::1]",
        "a.example@10.0.0.1,a.example@10.0.0.2",
        "npm",
        &long_label,
        &long,
    ];
    let errors: Vec<String> = texts
        .iter()
        .map(|text| format!("{text:.30} → {}", text.parse::<AllowList>().expect_err(text)))
        .collect();
    insta::assert_snapshot!("faults", errors.join("\n"));
    assert_snapshot!("allow".parse::<NetworkChoice>().unwrap_err(), @"give on, off or allow=NAME[:PORT][@ADDRESS],…");
}

#[test]
fn a_list_is_bounded() {
    let text =
        |count: usize| (0..count).map(|index| format!("h{index}.example")).collect::<Vec<_>>().join(",");
    assert_eq!(list(&text(MOST_ENTRIES)).entries().len(), MOST_ENTRIES);
    let error = text(MOST_ENTRIES + 1).parse::<AllowList>().unwrap_err();
    assert_snapshot!(error, @"entry 257, column 3219: a list has at most 256 entries");
    let longest = format!("{}abc", "abcd.".repeat(50));
    assert_eq!(longest.len(), 253);
    assert!(longest.parse::<HostName>().is_ok());
    assert!(format!("{longest}.").parse::<HostName>().is_ok(), "the dot at the end does not count");
    assert_eq!(format!("{longest}d").parse::<HostName>(), Err(NameFault::TooLong));
}

#[test]
fn a_refusal_names_the_option_that_allows_it() {
    let lines = [
        Refusal::of_name(&name("a.example"), 443),
        Refusal::of_name(&name("a.example"), 8080),
        Refusal::of_name(&name("nas"), 80),
        Refusal::of_lookup(&name("a.example")),
    ];
    assert_snapshot!(lines.map(|line| line.to_string()).join("\n"), @"
    connect a.example:443 · not on the allow-list · --network allow=a.example
    connect a.example:8080 · not on the allow-list · --network allow=a.example:8080
    connect nas:80 · not on the allow-list · --network allow=nas:80
    look up a.example · not on the allow-list · --network allow=a.example
    ");
    for line in lines_options() {
        assert!(line.parse::<NetworkChoice>().is_ok(), "{line}");
    }
}

fn lines_options() -> impl Iterator<Item = String> {
    [("a.example", 443), ("a.example", 8080), ("nas", 80)].into_iter().map(|(host, port)| {
        let allow = Refusal::of_name(&name(host), port).allow.unwrap();
        allow.strip_prefix("--network ").unwrap().to_owned()
    })
}

fn any_name() -> impl Strategy<Value = HostName> {
    "([a-z0-9_]([a-z0-9_-]{0,8}[a-z0-9_])?\\.){0,3}[a-z]([a-z0-9-]{0,8}[a-z0-9])?"
        .prop_filter_map("not the machine itself", |text| text.parse().ok())
}

fn any_entry() -> impl Strategy<Value = AllowEntry> {
    let ports = prop_oneof![Just(Ports::Usual), (1..=u16::MAX).prop_map(Ports::One)];
    let address = prop_oneof![
        Just(None),
        any::<[u8; 4]>().prop_map(|[_, a, b, c]| Some([10, a, b, c].into())),
        any::<[u16; 7]>().prop_map(|[a, b, c, d, e, f, g]| Some([0xfd00, a, b, c, d, e, f, g].into())),
    ];
    (any_name(), any::<bool>(), ports, address).prop_map(|(name, is_wildcard, ports, address)| {
        let can_be_wildcard = name.as_str().contains('.');
        let names = if is_wildcard && can_be_wildcard {
            NamePattern::Subdomains(name)
        } else {
            NamePattern::Exact(name)
        };
        AllowEntry { names, ports, address }
    })
}

proptest! {
    #[test]
    fn a_displayed_list_parses_to_the_same(entries in prop::collection::vec(any_entry(), 1..12)) {
        if let Ok(list) = AllowList::new(entries) {
            prop_assert_eq!(list.to_string().parse::<AllowList>(), Ok(list));
        }
    }

    #[test]
    fn no_text_panics_and_errors_point_into_it(text in "(allow=|,|a\\.example|ö|:|@|\\*\\.|[0-9]|\\[|\\]|\\PC){0,20}") {
        if let Err(error) = text.parse::<AllowList>()
            && let Some((entry, column)) = error.position
        {
            prop_assert!(entry >= 1 && entry <= 1 + text.matches(',').count(), "{error}");
            prop_assert!(column >= 1 && column <= 1 + text.chars().count(), "{error}");
        }
    }

    #[test]
    fn what_is_allowed_is_named_by_an_entry(entries in prop::collection::vec(any_entry(), 1..8), other in any_name(), port: u16) {
        // The model: every name of the list at its own ports, and the labels of a name compared one by one.
        let Ok(list) = AllowList::new(entries) else { return Ok(()) };
        let labels = |name: &HostName| name.as_str().split('.').map(str::to_owned).collect::<Vec<_>>();
        for candidate in [other.clone(), format!("a.{other}").parse().unwrap()] {
            let expected = list.entries().iter().any(|entry| {
                let is_port = match entry.ports {
                    Ports::Usual => port == 443 || port == 80,
                    Ports::One(one) => port == one,
                };
                is_port && match &entry.names {
                    NamePattern::Exact(name) => labels(name) == labels(&candidate),
                    NamePattern::Subdomains(name) => {
                        let (own, below) = (labels(name), labels(&candidate));
                        below.len() > own.len() && below.ends_with(&own)
                    }
                }
            });
            prop_assert_eq!(list.find(&candidate, port).is_some(), expected);
        }
    }

    #[test]
    fn a_wildcard_allows_subdomains(suffix in "[a-z]{1,5}\\.[a-z]{1,5}", labels in "([a-z]{1,3}\\.){0,3}", glued in "[a-z]{0,3}") {
        let Ok(list) = format!("*.{suffix}").parse::<AllowList>() else { return Ok(()) };
        let host = format!("{labels}{glued}{suffix}");
        let expected = !labels.is_empty() && glued.is_empty();
        // Labels that repeat the suffix are subdomains as well.
        let is_subdomain = host.ends_with(&format!(".{suffix}"));
        prop_assert_eq!(list.find(&name(&host), 443).is_some(), is_subdomain);
        prop_assert!(!expected || is_subdomain);
    }
}
