//! The delay of a link: a relay in the host's namespace, for kernels without `netem`. It delays bytes, not packets: each byte, and
//! each new connection, arrives later by a time that may change while the relay runs.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// The time after which a connection over a cut link is given up.
const CONNECTING: Duration = Duration::from_secs(10);

/// A relay; its threads end with the process.
#[derive(Debug)]
pub(crate) struct Relay {
    micros: Arc<AtomicU64>,
}

impl Relay {
    /// Listens at `here` in a network namespace, and passes what comes on to `there`.
    pub(crate) fn start(namespace: PathBuf, here: SocketAddr, there: SocketAddr) -> Relay {
        let micros = Arc::new(AtomicU64::new(0));
        let delay = Arc::clone(&micros);
        let (ready, is_ready) = channel();
        thread::spawn(move || {
            // A socket belongs to the namespace of the thread that makes it, and a thread starts in its parent's namespace.
            let file = File::open(namespace).unwrap();
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            let listener = TcpListener::bind(here).unwrap();
            ready.send(()).unwrap();
            for client in listener.incoming().map_while(Result::ok) {
                let delay = Arc::clone(&delay);
                thread::spawn(move || connect(client, there, &delay));
            }
        });
        is_ready.recv().expect("the relay listens");
        Relay { micros }
    }

    /// Sets the delay of bytes, in each direction.
    pub(crate) fn set(&self, delay: Duration) {
        self.micros.store(u64::try_from(delay.as_micros()).unwrap(), Ordering::Relaxed);
    }
}

fn now_and(delay: &AtomicU64) -> Instant {
    Instant::now() + Duration::from_micros(delay.load(Ordering::Relaxed))
}

fn connect(client: TcpStream, there: SocketAddr, delay: &Arc<AtomicU64>) {
    // A handshake is there and back.
    sleep_until(now_and(delay) + Duration::from_micros(delay.load(Ordering::Relaxed)));
    let Ok(server) = TcpStream::connect_timeout(&there, CONNECTING) else { return };
    for socket in [&client, &server] {
        let _ = socket.set_nodelay(true);
    }
    let copies = (client.try_clone(), server.try_clone());
    let (Ok(from_client), Ok(from_server)) = copies else { return };
    let up = Arc::clone(delay);
    thread::spawn(move || pass(from_client, server, &up));
    pass(from_server, client, delay);
}

/// Passes bytes on until one of the ends is closed.
fn pass(mut from: TcpStream, to: TcpStream, delay: &AtomicU64) {
    let (sender, pieces) = channel::<(Instant, Vec<u8>)>();
    let (source, writer) = (from.try_clone(), thread::spawn(move || write(&pieces, to)));
    read(&mut from, &sender, delay);
    drop(sender);
    let _ = writer.join();
    if let Ok(source) = source {
        let _ = source.shutdown(Shutdown::Both);
    }
}

fn read(from: &mut TcpStream, sender: &Sender<(Instant, Vec<u8>)>, delay: &AtomicU64) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if sender.send((now_and(delay), buffer[..length].to_vec())).is_err() {
            return;
        }
    }
}

fn write(pieces: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream) {
    for (time, piece) in pieces {
        sleep_until(time);
        if to.write_all(&piece).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

fn sleep_until(time: Instant) {
    thread::sleep(time.saturating_duration_since(Instant::now()));
}
