//! Names, their addresses, and the addresses that are dialled.

use egress::{Outside, SystemOutside};

use super::fixture::{Network, assert_connected, assert_reset};

const PUBLIC: &str = "93.184.215.14";

#[test]
fn an_allowed_name_is_connected_to_its_address() {
    let network = Network::new(&[&[PUBLIC]]);
    let grant = network.grant("git.example:22");
    let command = network.open(&grant, "Git.Example.", 22);
    assert_connected(command, network.accept());
    assert_eq!(network.dialled(), ["93.184.215.14:22"]);
    assert!(network.receipts.try_recv().is_err(), "nothing was refused");
}

#[test]
fn another_name_or_port_is_refused_and_not_looked_up() {
    let network = Network::new(&[&[PUBLIC]]);
    let grant = network.grant("git.example:22");
    assert_reset(network.open(&grant, "evil.example", 22));
    insta::assert_snapshot!(network.receipt(), @"connect evil.example:22 · not on the allow-list · --network allow=evil.example:22");
    assert_reset(network.open(&grant, "git.example", 25));
    insta::assert_snapshot!(network.receipt(), @"connect git.example:25 · not on the allow-list · --network allow=git.example:25");
    assert!(!grant.resolves(&"evil.example".parse().unwrap()));
    insta::assert_snapshot!(network.receipt(), @"look up evil.example · not on the allow-list · --network allow=evil.example");
    assert!(grant.resolves(&"git.example".parse().unwrap()));
    assert_eq!(network.script.answers.lock().unwrap().len(), 1, "the resolver was asked");
}

#[test]
fn a_name_that_leads_to_a_refused_address_is_not_dialled() {
    let addresses = [
        "127.0.0.1",
        "169.254.169.254",
        "10.0.0.5",
        "192.168.1.1",
        "0.0.0.0",
        "::1",
        "::ffff:127.0.0.1",
        "fd00:ec2::254",
        "fe80::1",
        "224.0.0.1",
    ];
    let answers: Vec<[&str; 1]> = addresses.iter().map(|address| [*address]).collect();
    let answers: Vec<&[&str]> = answers.iter().map(<[&str; 1]>::as_slice).collect();
    let network = Network::new(&answers);
    let grant = network.grant("a.example:8080");
    let mut receipts = Vec::new();
    for _ in addresses {
        assert_reset(network.open(&grant, "a.example", 8080));
        receipts.push(network.receipt());
    }
    insta::assert_snapshot!("refused_addresses", receipts.join("\n"));
    assert_eq!(network.dialled(), [""; 0]);
}

#[test]
fn a_name_that_leads_to_this_machine_by_its_own_address_is_not_dialled() {
    let network = Network::of_machine(PUBLIC, &[&[PUBLIC], &["93.184.215.15"]]);
    let grant = network.grant("a.example:8080");
    assert_reset(network.open(&grant, "a.example", 8080));
    insta::assert_snapshot!(network.receipt(), @"connect a.example:8080 · the name leads to 93.184.215.14, an address of this machine · --network allow=a.example:8080@93.184.215.14");
    assert_eq!(network.dialled(), [""; 0]);
    // The control: the adjacent address is another machine's.
    assert_connected(network.open(&grant, "a.example", 8080), network.accept());
    assert_eq!(network.dialled(), ["93.184.215.15:8080"]);
}

#[test]
fn the_system_tells_its_own_addresses_from_others() {
    let is_own = |address: &str| SystemOutside::default().is_own(address.parse().unwrap());
    assert!(is_own("127.0.0.1"));
    for other in ["93.184.215.14", "192.0.2.1", "2606:4700::1111", "0.0.0.0", "224.0.0.1"] {
        assert!(!is_own(other), "{other}");
    }
    // Every address that another machine could reach this one at.
    let list = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let lines: Vec<&str> = list.lines().map(str::trim).collect();
    let local = lines.windows(2).filter(|pair| pair[1].starts_with("/32 host LOCAL"));
    for address in local.filter_map(|pair| pair[0].strip_prefix("|-- ")) {
        assert!(is_own(address) || address.starts_with("127."), "{address}");
    }
}

#[test]
fn one_refused_address_among_others_refuses_the_name() {
    let network = Network::new(&[&[PUBLIC, "127.0.0.1"]]);
    let grant = network.grant("a.example:8080");
    assert_reset(network.open(&grant, "a.example", 8080));
    insta::assert_snapshot!(network.receipt(), @"connect a.example:8080 · the name leads to 127.0.0.1, a loopback address · --network allow=a.example:8080@127.0.0.1");
    assert_eq!(network.dialled(), [""; 0]);
}

#[test]
fn a_name_that_is_bound_anew_gains_nothing() {
    // The second look-up would be the one of a dialer that checks an address and then dials the name.
    let network = Network::new(&[&[PUBLIC], &["127.0.0.1"]]);
    let grant = network.grant("a.example:8080");
    let command = network.open(&grant, "a.example", 8080);
    assert_connected(command, network.accept());
    assert_eq!(network.dialled(), ["93.184.215.14:8080"]);
    assert_eq!(network.script.answers.lock().unwrap().len(), 1, "one look-up for one connection");
    assert_reset(network.open(&grant, "a.example", 8080));
    assert!(network.receipt().contains("127.0.0.1, a loopback address"));
    assert_eq!(network.dialled().len(), 1);
}

#[test]
fn an_entry_with_an_address_is_dialled_there() {
    let network = Network::new(&[]);
    let grant = network.grant("int.example:8443@127.0.0.1,meta.example:80@169.254.169.254");
    for (name, port, address) in
        [("int.example", 8443, "127.0.0.1:8443"), ("meta.example", 80, "169.254.169.254:80")]
    {
        assert_connected(network.open(&grant, name, port), network.accept());
        assert_eq!(network.dialled().pop().as_deref(), Some(address));
    }
}

#[test]
fn a_name_that_does_not_resolve_is_reported() {
    let network = Network::new(&[]);
    let grant = network.grant("gone.example:8080");
    assert_reset(network.open(&grant, "gone.example", 8080));
    insta::assert_snapshot!(network.receipt(), @"connect gone.example:8080 · the name does not resolve");
}

#[test]
fn a_server_that_is_not_there_is_reported_after_every_address_was_tried() {
    let mut network = Network::new(&[&[PUBLIC, "2606:4700::1111"]]);
    // The port stays the network's while nothing listens.
    network.server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let grant = network.grant("a.example:8080");
    assert_reset(network.open(&grant, "a.example", 8080));
    insta::assert_snapshot!(network.receipt(), @"connect a.example:8080 · [2606:4700::1111]:8080: connection refused");
    assert_eq!(network.dialled().len(), 2);
}
