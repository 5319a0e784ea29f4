//! The first message on port 443.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use egress::DialLimits;
use insta::assert_snapshot;
use proptest::prelude::*;

use super::fixture::{Network, assert_connected, assert_reset, client_hello, client_hello_in_records};

const LIST: &str = "a.example@127.0.0.1";

/// Sends bytes in pieces, expects a connection, and returns what the server got.
fn pass(pieces: &[&[u8]]) -> Vec<u8> {
    let network = Network::new(&[]);
    let grant = network.grant(LIST);
    let mut command = network.open(&grant, "a.example", 443);
    command.set_nodelay(true).unwrap();
    for piece in pieces {
        command.write_all(piece).unwrap();
    }
    let mut server = network.accept();
    let mut got = vec![0; pieces.iter().map(|piece| piece.len()).sum()];
    server.read_exact(&mut got).unwrap();
    assert_connected(command, server);
    got
}

/// Sends bytes, ends, and returns the receipt.
fn refusal(bytes: &[u8]) -> String {
    let network = Network::new(&[]);
    let grant = network.grant(LIST);
    let mut command = network.open(&grant, "a.example", 443);
    // The other end may be gone before everything is written.
    let _ = command.write_all(bytes);
    let _ = command.shutdown(Shutdown::Write);
    let receipt = network.receipt();
    assert_eq!(network.dialled(), [""; 0], "nothing is dialled before the greeting was checked");
    receipt
}

#[test]
fn a_greeting_that_names_the_server_passes_unchanged() {
    for hello in [client_hello(Some("a.example"), 0), client_hello(Some("A.Example"), 4000)] {
        assert_eq!(pass(&[&hello]), hello);
        let with_data = [hello.as_slice(), b"early data"].concat();
        assert_eq!(pass(&[&with_data]), with_data);
    }
}

#[test]
fn a_greeting_in_pieces_is_put_together() {
    let hello = client_hello(Some("a.example"), 0);
    let bytes: Vec<&[u8]> = hello.chunks(1).collect();
    assert_eq!(pass(&bytes), hello);
    for size in [1, 7, 40] {
        let hello = client_hello_in_records("a.example", size);
        assert_eq!(pass(&[&hello]), hello);
    }
}

#[test]
fn other_greetings_are_refused() {
    let receipts = [
        refusal(&client_hello(Some("evil.example"), 0)),
        refusal(&client_hello_in_records("evil.example", 5)),
        refusal(&client_hello(None, 0)),
        refusal(&client_hello(Some("127.0.0.1"), 0)),
        refusal(&client_hello(Some("a.example"), 0)[..50]),
        refusal(b""),
        refusal(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        refusal(b"SSH-2.0-client\r\n"),
    ];
    assert_snapshot!("greetings", receipts.join("\n"));
    let mut too_large = client_hello_in_records("a.example", 1);
    too_large.truncate(too_large.len() - 1);
    let filler = [22, 3, 1, 0, 0].repeat(4000);
    let receipt = refusal(&[too_large, filler].concat());
    assert!(receipt.contains("TLS greeting"), "{receipt}");
    let receipt = refusal(&client_hello(Some("a.example"), 17_000));
    assert!(receipt.contains("TLS greeting"), "{receipt}");
}

#[test]
fn a_refused_connection_is_reset() {
    let network = Network::new(&[]);
    let grant = network.grant(LIST);
    let mut command = network.open(&grant, "a.example", 443);
    command.write_all(&client_hello(Some("evil.example"), 0)).unwrap();
    assert_reset(command);
    assert!(network.receipt().contains("names evil.example"));
}

#[test]
fn a_client_that_says_nothing_is_refused() {
    let mut limits = DialLimits::default();
    limits.greeting = Duration::from_millis(20);
    let network = Network::with(&[], limits, None);
    let grant = network.grant(LIST);
    let command = network.open(&grant, "a.example", 443);
    assert_snapshot!(network.receipt(), @"connect a.example:443 · no TLS greeting came in time");
    assert_reset(command);
}

#[test]
fn a_client_that_drips_bytes_has_one_deadline() {
    let mut limits = DialLimits::default();
    limits.greeting = Duration::from_millis(100);
    let network = Network::with(&[], limits, None);
    let grant = network.grant(LIST);
    let mut command = network.open(&grant, "a.example", 443);
    let hello = client_hello(Some("a.example"), 0);
    // One byte for each wait: a deadline for each read would never pass.
    let dripped = hello.iter().take(hello.len() - 1).cycle().find_map(|byte| {
        let sent = command.write_all(&[*byte]);
        let refusal = network.receipts.recv_timeout(Duration::from_millis(5)).ok();
        refusal.or_else(|| sent.err().map(|_| network.receipts.recv().unwrap()))
    });
    let why = dripped.unwrap().why;
    assert!(why.contains("in time") || why.contains("does not"), "{why}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_cut_of_a_greeting_gives_the_same(cuts in prop::collection::vec(1_usize..60, 1..8)) {
        let hello = client_hello(Some("a.example"), 100);
        let mut rest = hello.as_slice();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(pass(&pieces), hello);
    }

    #[test]
    fn no_other_bytes_pass(mut bytes in prop::collection::vec(any::<u8>(), 0..300), is_record: bool) {
        if is_record {
            bytes.splice(0..0, [22, 3, 1, 0, 200, 1, 0, 0]);
        }
        let receipt = refusal(&bytes);
        prop_assert!(receipt.starts_with("connect a.example:443 · "), "{}", receipt);
    }

    #[test]
    fn a_greeting_with_a_changed_byte_names_the_server_or_is_refused(at in 0_usize..100, byte: u8) {
        let mut hello = client_hello(Some("b.example"), 0);
        let at = at.min(hello.len() - 1);
        hello[at] = byte;
        // Only the byte that makes it the allowed name can help.
        prop_assume!(!hello.windows(9).any(|window| window == b"a.example"));
        let receipt = refusal(&hello);
        prop_assert!(receipt.starts_with("connect a.example:443 · "), "{}", receipt);
    }
}
