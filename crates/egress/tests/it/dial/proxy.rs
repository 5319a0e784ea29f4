//! Connections through the user's proxy.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use egress::{DialLimits, Dialer, Grant, ProxyError};
use insta::assert_snapshot;

use super::fixture::{Network, assert_connected, assert_reset, proxy};

const PROXY: &str = "http://user:p%40ss@127.0.0.1:3128/";

fn network(answers: &[&[&str]], exempt: &str) -> Network {
    let variables = [("HTTPS_PROXY", PROXY), ("NO_PROXY", exempt)];
    Network::with(answers, DialLimits::default(), proxy(&variables).unwrap())
}

/// Reads a request of CONNECT, as the proxy.
fn request(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_connection_goes_through_the_proxy_by_name() {
    let network = network(&[&["93.184.215.14"]], "");
    let grant = network.grant("git.example:22");
    let command = network.open(&grant, "git.example", 22);
    let mut proxy = network.accept();
    assert_snapshot!(request(&proxy), @"
    CONNECT git.example:22 HTTP/1.1
    Host: git.example:22
    Proxy-Authorization: Basic dXNlcjpwQHNz
    ");
    assert_eq!(network.dialled(), ["127.0.0.1:3128"]);
    // What follows the answer is the server's, even in one piece with it.
    proxy.write_all(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nSSH-2.0-").unwrap();
    let mut banner = [0; 8];
    std::io::Read::read_exact(&mut &command, &mut banner).unwrap();
    assert_eq!(&banner, b"SSH-2.0-");
    assert_connected(command, proxy);
}

#[test]
fn an_answer_in_pieces_is_put_together() {
    let network = network(&[], "");
    let grant = network.grant("git.example:22");
    let command = network.open(&grant, "git.example", 22);
    let mut proxy = network.accept();
    request(&proxy);
    proxy.set_nodelay(true).unwrap();
    for byte in b"HTTP/1.0 200 OK\r\n\r\n" {
        proxy.write_all(&[*byte]).unwrap();
    }
    assert_connected(command, proxy);
}

#[test]
fn answers_that_do_not_connect_are_reported() {
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "X-Header: value\r\n".repeat(50).repeat(20));
    let receipts = [
        "HTTP/1.1 403 Forbidden\r\n\r\n",
        "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "SSH-2.0-proxy\r\n\r\n",
        "HTTP/1.1 2",
        endless.as_str(),
    ]
    .map(|answer| {
        let network = network(&[], "");
        let grant = network.grant("git.example:22");
        let command = network.open(&grant, "git.example", 22);
        let mut proxy = network.accept();
        request(&proxy);
        // The dialer may have given up before everything is written.
        let _ = proxy.write_all(answer.as_bytes());
        let _ = proxy.shutdown(std::net::Shutdown::Write);
        let receipt = network.receipt();
        assert_reset(command);
        receipt
    });
    assert_snapshot!(receipts.join("\n"), @"
    connect git.example:22 · the proxy answers with status 403
    connect git.example:22 · the proxy answers with status 407
    connect git.example:22 · the proxy answers with status 100
    connect git.example:22 · the proxy's answer is not HTTP
    connect git.example:22 · the proxy does not answer: unexpected end of file
    connect git.example:22 · the proxy's answer is not HTTP
    ");
}

#[test]
fn a_name_that_leads_to_metadata_is_refused_before_the_proxy_is_asked() {
    for address in
        ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200", "127.0.0.1"]
    {
        let network = network(&[&[address]], "");
        let grant = network.grant("*.cdn.example:80");
        assert_reset(network.open(&grant, "x.cdn.example", 80));
        assert!(network.receipt().contains("the name leads to"), "{address}");
        assert_eq!(network.dialled(), [""; 0]);
    }
}

#[test]
fn a_name_that_only_the_proxy_resolves_is_left_to_it() {
    let network = network(&[], "");
    let grant = network.grant("git.example:22");
    let command = network.open(&grant, "git.example", 22);
    let mut proxy = network.accept();
    request(&proxy);
    proxy.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    assert_connected(command, proxy);
}

#[test]
fn exempt_names_and_entries_with_an_address_go_direct() {
    let public: &[&str] = &["93.184.215.14"];
    let network = network(&[public; 4], "other.example, .corp.example,git.example:22 x.example:80");
    let grant = network.grant("git.example:22,a.corp.example:22,x.example:22,int.example:22@10.0.0.5");
    for (name, address) in [
        ("git.example", "93.184.215.14:22"),
        ("a.corp.example", "93.184.215.14:22"),
        ("int.example", "10.0.0.5:22"),
    ] {
        assert_connected(network.open(&grant, name, 22), network.accept());
        assert_eq!(network.dialled().pop().as_deref(), Some(address));
    }
    let _command = network.open(&grant, "x.example", 22);
    assert!(request(&network.accept()).contains("CONNECT x.example:22"));
    let everything = proxy(&[("https_proxy", PROXY), ("no_proxy", "*")]).unwrap();
    let direct = Network::with(&[public], DialLimits::default(), everything);
    let grant = direct.grant("git.example:22");
    assert_connected(direct.open(&grant, "git.example", 22), direct.accept());
    assert_eq!(direct.dialled(), ["93.184.215.14:22"]);
}

#[test]
fn a_proxy_that_cannot_be_used_refuses_what_would_go_through_it() {
    for address in ["https://proxy.example:443", "socks5://127.0.0.1:1080"] {
        assert_eq!(proxy(&[("HTTPS_PROXY", address)]), Err(ProxyError::Scheme), "{address}");
    }
    for address in
        ["http://", "http://:80", "http://proxy.example:port", "proxy.example:70000", "http://a b:80"]
    {
        assert_eq!(proxy(&[("HTTPS_PROXY", address)]), Err(ProxyError::Address), "{address}");
    }
    assert_eq!(proxy(&[]), Ok(None));
    assert_eq!(proxy(&[("HTTPS_PROXY", "")]), Ok(None));
    for address in ["proxy.example", "proxy.example:8080", "HTTP://u@proxy.example", "http://[::1]:3128"] {
        assert!(proxy(&[("HTTPS_PROXY", address)]).unwrap().is_some(), "{address}");
    }
    let mut network = Network::new(&[&["93.184.215.14"]]);
    network.dialer = Dialer::new(DialLimits::default(), network.script.clone(), Err(ProxyError::Scheme));
    let grant: Grant = network.grant("git.example:22,int.example:22@127.0.0.1");
    assert_reset(network.open(&grant, "git.example", 22));
    assert_snapshot!(network.receipt(), @"connect git.example:22 · the proxy of HTTPS_PROXY cannot be used: only http:// proxies are supported");
    assert_connected(network.open(&grant, "int.example", 22), network.accept());
}

#[test]
fn no_text_shows_a_password() {
    let proxy = proxy(&[("HTTPS_PROXY", PROXY)]).unwrap().unwrap();
    assert!(!format!("{proxy:?}").contains("dXNl"));
    let wrong = super::fixture::proxy(&[("HTTPS_PROXY", "https://user:secret@proxy.example")]).unwrap_err();
    assert!(!wrong.to_string().contains("secret"));
}
