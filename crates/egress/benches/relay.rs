//! Bytes through a relayed connection and through a direct one, on loopback.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use divan::Bencher;
use divan::counter::BytesCount;
use egress::{DialLimits, Dialer, Grant, Outside, ResolveError};

/// Bytes of one sample.
const BYTES: u64 = 512 << 20;

fn main() {
    divan::main();
}

/// Connects to one server, whatever address is requested.
struct Here(SocketAddr);

impl Outside for Here {
    fn resolve(&self, _name: &str, _deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        Err(ResolveError::Unresolved)
    }

    fn connect(&self, _address: SocketAddr, _deadline: Instant) -> io::Result<TcpStream> {
        TcpStream::connect(self.0)
    }
}

/// A server that sends bytes over every connection.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || send(&mut stream));
        }
    });
    address
}

fn send(stream: &mut TcpStream) -> io::Result<()> {
    let chunk = vec![7; 64 * 1024];
    let mut left = BYTES;
    while left > 0 {
        stream.write_all(&chunk)?;
        left = left.saturating_sub(chunk.len() as u64);
    }
    Ok(())
}

fn drain(mut stream: TcpStream) {
    let mut chunk = vec![0; 64 * 1024];
    let mut left = BYTES;
    while left > 0 {
        let count = stream.read(&mut chunk).expect("a connection that is up");
        if count == 0 {
            return;
        }
        left = left.saturating_sub(count as u64);
    }
}

#[divan::bench(sample_count = 8, sample_size = 1)]
fn direct(bencher: Bencher<'_, '_>) {
    let address = server();
    bencher.counter(BytesCount::new(BYTES)).bench_local(|| {
        drain(TcpStream::connect(address).expect("a server"));
    });
}

#[divan::bench(sample_count = 8, sample_size = 1)]
fn relayed(bencher: Bencher<'_, '_>) {
    let dialer = Dialer::new(DialLimits::default(), Here(server()), Ok(None));
    let list = Arc::new("a.example:8080@127.0.0.1".parse().expect("a list"));
    let grant = Grant::new(&dialer, list, |_| ());
    let inside = TcpListener::bind("127.0.0.1:0").expect("a free port");
    bencher.counter(BytesCount::new(BYTES)).bench_local(|| {
        let command = TcpStream::connect(inside.local_addr().expect("a bound socket")).expect("a listener");
        let (accepted, _) = inside.accept().expect("a connection");
        grant.carry("a.example".parse().expect("a name"), 8080, OwnedFd::from(accepted));
        drain(command);
    });
}
