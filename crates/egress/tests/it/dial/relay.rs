//! Bytes both ways, half-closed connections, and ends.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use egress::DialLimits;
use proptest::prelude::*;

use super::fixture::{Network, assert_reset, read_all, read_byte};

const LIST: &str = "a.example:8080@127.0.0.1";

#[test]
fn large_amounts_pass_both_ways_at_once() {
    let network = Network::new(&[]);
    let grant = network.grant(LIST);
    let command = network.open(&grant, "a.example", 8080);
    let server = network.accept();
    let bytes: Vec<u8> = (0..8_000_000_u32).map(|index| (index % 251) as u8).collect();
    thread::scope(|scope| {
        for (mut writer, mut reader) in [(&command, &server), (&server, &command)] {
            let bytes = &bytes;
            scope.spawn(move || {
                writer.write_all(bytes).unwrap();
                writer.shutdown(Shutdown::Write).unwrap();
            });
            scope.spawn(move || {
                let mut got = Vec::new();
                reader.read_to_end(&mut got).unwrap();
                assert!(got == *bytes);
            });
        }
    });
}

#[test]
fn one_way_stays_open_after_the_other_has_ended() {
    let network = Network::new(&[]);
    let grant = network.grant(LIST);
    let mut command = network.open(&grant, "a.example", 8080);
    let mut server = network.accept();
    server.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_byte(&mut command).unwrap(), 0);
    for _ in 0..100 {
        command.write_all(b"still here").unwrap();
        let mut got = [0; 10];
        server.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"still here");
    }
    drop(command);
    assert_eq!(read_byte(&mut server).unwrap(), 0);
}

#[test]
fn a_half_closed_connection_that_is_silent_ends() {
    let mut limits = DialLimits::default();
    limits.half_closed = Duration::from_millis(20);
    let network = Network::with(&[], limits, None);
    let grant = network.grant(LIST);
    let command = network.open(&grant, "a.example", 8080);
    let server = network.accept();
    command.shutdown(Shutdown::Write).unwrap();
    assert_reset(command);
    // The server sees the end of the one way, and then the reset.
    let mut server = server;
    let _ = read_byte(&mut server);
    assert!(read_byte(&mut server).map_or(true, |count| count == 0));
}

#[test]
fn a_reset_on_one_side_is_one_on_the_other() {
    let network = Network::new(&[]);
    let grant = network.grant(LIST);
    let command = network.open(&grant, "a.example", 8080);
    let server = network.accept();
    rustix::net::sockopt::set_socket_linger(&server, Some(Duration::ZERO)).unwrap();
    drop(server);
    assert_reset(command);
}

#[test]
fn the_end_of_a_command_ends_its_connections_and_no_others() {
    let network = Network::new(&[]);
    let (ended, kept) = (network.grant(LIST), network.grant(LIST));
    let mut command = network.open(&ended, "a.example", 8080);
    let mut server = network.accept();
    let other = network.open(&kept, "a.example", 8080);
    let other_server = network.accept();
    drop(ended);
    assert_eq!(read_all(&mut command), b"");
    assert_eq!(read_all(&mut server), b"");
    super::fixture::assert_connected(other, other_server);
    assert!(network.receipts.try_recv().is_err(), "an end is not a refusal");
}

#[test]
fn the_end_of_a_command_ends_a_greeting() {
    let network = Network::new(&[]);
    let grant = network.grant("a.example@127.0.0.1");
    let mut command = network.open(&grant, "a.example", 443);
    command.write_all(&[22, 3]).unwrap();
    drop(grant);
    // Whatever the thread has read by then, the connection ends, and nothing is reported to a command that is gone.
    assert!(read_byte(&mut command).map_or(true, |count| count == 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_pieces_arrive_as_they_were_sent(pieces in prop::collection::vec((any::<bool>(), 1_usize..200_000), 1..6)) {
        let network = Network::new(&[]);
        let grant = network.grant(LIST);
        let mut command = network.open(&grant, "a.example", 8080);
        let mut server = network.accept();
        let mut next = 0_u8;
        for (is_up, length) in pieces {
            let bytes: Vec<u8> = (0..length).map(|_| { next = next.wrapping_add(1); next }).collect();
            let (writer, reader) = if is_up { (&mut command, &mut server) } else { (&mut server, &mut command) };
            let mut got = vec![0; length];
            thread::scope(|scope| {
                scope.spawn(|| writer.write_all(&bytes).unwrap());
                reader.read_exact(&mut got).unwrap();
            });
            prop_assert!(got == bytes);
        }
    }
}
