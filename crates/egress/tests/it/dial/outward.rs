//! A list as the network of sandboxed commands: names, connections and receipts.

use std::os::fd::OwnedFd;

use egress::{AllowedNetwork, Network};
use sandbox_exec::{NetworkPolicy, Outward};

use super::fixture::{Network as Outside, assert_connected, assert_reset, read_all};

#[test]
fn names_are_those_of_the_list() {
    let network = Outside::new(&[]);
    let list = "a.example,*.cdn.example,git.example:22@10.0.0.5".parse().unwrap();
    let allowed = AllowedNetwork::new(list, network.dialer.clone());
    let names: Vec<String> =
        allowed.names().iter().map(|name| format!("{} {:?}", name.pattern, name.ports)).collect();
    insta::assert_snapshot!(names.join("\n"), @"
    a.example [443, 80]
    git.example [22]
    *.cdn.example [443, 80]
    ");
    assert!(matches!(Network::Off.policy(), NetworkPolicy::Off));
    assert!(matches!(Network::On.policy(), NetworkPolicy::Host));
    let names = Network::Names("a.example".parse().unwrap()).policy();
    assert!(matches!(names, NetworkPolicy::Named(names) if names.names().len() == 1));
}

#[test]
fn a_carrier_makes_connections_and_counts_refusals() {
    let network = Outside::new(&[&["93.184.215.14"]]);
    let list = "a.example:8080,b.example:8080".parse().unwrap();
    let allowed = AllowedNetwork::new(list, network.dialer.clone());
    let mut carrier = allowed.begin();
    let mut open = |name: &str, port| {
        let (command, accepted) = network.pair();
        carrier.carry(name, port, OwnedFd::from(accepted));
        command
    };
    assert_connected(open("a.example", 8080), network.accept());
    // The name and the port come from inside the sandbox, and are judged again.
    for _ in 0..3 {
        assert_reset(open("evil.example", 443));
    }
    assert_reset(open("a.example", 22));
    let mut nameless = open("not a name", 443);
    assert!(read_all(&mut nameless).is_empty());
    let refusals: Vec<String> = carrier.refusals().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(refusals.join("\n"), @"
    connect evil.example:443 · not on the allow-list · --network allow=evil.example · 3 times
    connect a.example:22 · not on the allow-list · --network allow=a.example:22
    ");
    let mut other = allowed.begin();
    assert!(other.refusals().is_empty(), "receipts are a command's own");
    let many = (0..100).map(|index| format!("x{index}.example"));
    for name in many {
        let (command, accepted) = network.pair();
        other.carry(&name, 443, OwnedFd::from(accepted));
        assert_reset(command);
    }
    assert_eq!(other.refusals().len(), 20);
}
