//! The loopback interface of a command: its own, up, and without the host's servers.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};

use crate::fixture::{stderr, stdout};
use crate::network::{at_level_full, python, run};

/// Serves one connection over each address and protocol, and prints what came back.
const ECHO: &str = r#"
import socket, threading
for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]:
    server = socket.socket(family, socket.SOCK_STREAM)
    server.bind((address, 0))
    server.listen()
    def serve():
        peer, _ = server.accept()
        peer.sendall(peer.recv(9))
        peer.close()
    thread = threading.Thread(target=serve)
    thread.start()
    client = socket.create_connection(server.getsockname()[:2])
    client.sendall(b"stream")
    print(address, client.recv(9).decode())
    thread.join()
    receiver = socket.socket(family, socket.SOCK_DGRAM)
    receiver.bind((address, 0))
    sender = socket.socket(family, socket.SOCK_DGRAM)
    sender.sendto(b"datagram", receiver.getsockname()[:2])
    print(address, receiver.recv(9).decode())
print([name for _, name in socket.if_nameindex()])
print(sorted({result[4][0] for result in socket.getaddrinfo("localhost", 80)}))
"#;

#[test]
fn a_command_reaches_its_own_servers_over_both_loopback_addresses() {
    at_level_full(
        "network::loopback::a_command_reaches_its_own_servers_over_both_loopback_addresses",
        |fixture| {
            let outcome = fixture.run(&python(ECHO));
            let said = stdout(&outcome);
            for line in ["127.0.0.1 stream", "127.0.0.1 datagram", "::1 stream", "::1 datagram", "['lo']"] {
                assert!(said.lines().any(|printed| printed == line), "{line}: {said}{}", stderr(&outcome));
            }
            assert!(said.contains("127.0.0.1"), "localhost has an address: {said}");
        },
    );
}

#[test]
fn a_command_does_not_reach_the_loopback_of_the_host() {
    at_level_full("network::loopback::a_command_does_not_reach_the_loopback_of_the_host", |fixture| {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let datagrams = UdpSocket::bind(listener.local_addr().unwrap()).unwrap();
            listener.set_nonblocking(true).unwrap();
            datagrams.set_nonblocking(true).unwrap();
            let (ip, port) = (listener.local_addr().unwrap().ip(), listener.local_addr().unwrap().port());
            let family = if ip.is_ipv4() { "AF_INET" } else { "AF_INET6" };
            let attempt = python(&format!(
                "import socket\n\
                 socket.socket(socket.{family}, socket.SOCK_DGRAM).sendto(b\"out\", (\"{ip}\", {port}))\n\
                 socket.create_connection((\"{ip}\", {port}))"
            ));
            let outcome = run(fixture, &attempt);
            assert!(!outcome.ending.is_success() && stderr(&outcome).contains("refused"), "{outcome:?}");
            assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
            assert_eq!(datagrams.recv(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock);
            // The control: the same program reaches both where nothing confines it.
            let outside = std::process::Command::new("sh").args(["-c", &attempt]).output().unwrap();
            assert!(outside.status.success(), "{outside:?}");
            assert!(listener.accept().is_ok() && datagrams.recv(&mut [0; 9]).is_ok());
        }
    });
}

#[test]
fn the_host_and_another_command_do_not_see_the_port_of_a_command() {
    at_level_full(
        "network::loopback::the_host_and_another_command_do_not_see_the_port_of_a_command",
        |fixture| {
            let serve = python(
                "import socket\nserver = socket.create_server((\"127.0.0.1\", 0))\n\
             print(server.getsockname()[1], flush=True)\nserver.accept()",
            );
            let command = sandbox_exec::ShellCommand::new(&serve).unwrap();
            let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
            let (sender, port) = std::sync::mpsc::channel();
            let killer = running.killer();
            std::thread::scope(|scope| {
                let server = scope.spawn(move || {
                    let mut said = Vec::new();
                    let mut observer = |_: sandbox_exec::OutputStream, bytes: &[u8]| {
                        said.extend_from_slice(bytes);
                        if said.ends_with(b"\n") {
                            let _ =
                                sender.send(String::from_utf8_lossy(&said).trim().parse::<u16>().unwrap());
                        }
                    };
                    running.wait_with(&mut observer, None)
                });
                let port = port.recv_timeout(crate::fixture::HANG).unwrap();
                let connected = std::net::TcpStream::connect(("127.0.0.1", port));
                assert_eq!(connected.unwrap_err().kind(), ErrorKind::ConnectionRefused);
                // The port is free on the host.
                assert!(TcpListener::bind(("127.0.0.1", port)).is_ok());
                let connect = format!("import socket; socket.create_connection((\"127.0.0.1\", {port}))");
                let other = run(fixture, &python(&connect));
                assert!(!other.ending.is_success() && stderr(&other).contains("refused"), "{other:?}");
                killer.cancel();
                assert_eq!(server.join().unwrap().unwrap().ending, sandbox_exec::Ending::Cancelled);
            });
        },
    );
}

/// Refusals of a command that has sockets: each line is a way to make one, and the words of the refusal.
const REFUSED: &[&str] = &[
    "AF_INET, SOCK_RAW, 1",
    "AF_INET, SOCK_RAW, 255",
    "AF_INET6, SOCK_RAW, 58",
    "AF_INET, 10, 768",
    "AF_INET, SOCK_STREAM, 132",
    "AF_INET, SOCK_STREAM, 262",
    "AF_INET, SOCK_DGRAM, 1",
    "AF_INET, SOCK_SEQPACKET, 0",
    "AF_PACKET, SOCK_RAW, 0",
    "AF_PACKET, SOCK_DGRAM, 0",
    "AF_NETLINK, SOCK_RAW, 4",
    "AF_NETLINK, SOCK_RAW, 9",
    "AF_NETLINK, SOCK_DGRAM, 15",
    "38, SOCK_SEQPACKET, 0",
    "40, SOCK_STREAM, 0",
    "44, SOCK_RAW, 0",
];

#[test]
fn raw_sockets_and_other_families_are_refused() {
    at_level_full("network::loopback::raw_sockets_and_other_families_are_refused", |fixture| {
        let mut text =
            "import ctypes\nfrom socket import *\nlibc = ctypes.CDLL(None, use_errno=True)\n".to_owned();
        for socket in REFUSED {
            // Not through Python's own class, which would add a flag.
            text += &format!("libc.socket({socket}) < 0 and print(ctypes.get_errno())\n");
        }
        // A number with more bits than the kernel reads is the same family.
        text += "syscall = libc.syscall\nsyscall.argtypes = [ctypes.c_long] * 4\n";
        text +=
            &format!("syscall({}, 0x700000011, 3, 0) < 0 and print(ctypes.get_errno())\n", libc::SYS_socket);
        // The control: the sockets that runtimes make.
        for socket in ["AF_INET, SOCK_STREAM, 6", "AF_INET6, SOCK_DGRAM, 17", "AF_NETLINK, SOCK_RAW, 0"] {
            text += &format!("print(libc.socket({socket}) >= 0)\n");
        }
        let outcome = fixture.run(&python(&text));
        let expected = "1\n".repeat(REFUSED.len() + 1) + &"True\n".repeat(3);
        assert_eq!(stdout(&outcome), expected, "{}", stderr(&outcome));
    });
}
