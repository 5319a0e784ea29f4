//! Names that a command may connect to, with a scripted carrier outside.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use sandbox_exec::{
    AllowedName, Carrier, Level, NetworkPolicy, Outward, PolicyError, ShellCommand, SpawnError,
};

use crate::fixture::Fixture;

/// Serves what it is given by itself: it sends the name and the port, then everything back.
#[derive(Clone, Debug, Default)]
struct Echo {
    names: Vec<AllowedName>,
    carried: Arc<Mutex<Vec<(String, u16)>>>,
}

impl Outward for Echo {
    fn names(&self) -> Vec<AllowedName> {
        self.names.clone()
    }

    fn begin(&self) -> Box<dyn Carrier> {
        Box::new(self.clone())
    }
}

impl Carrier for Echo {
    fn carry(&mut self, name: &str, port: u16, stream: OwnedFd) {
        self.carried.lock().unwrap().push((name.to_owned(), port));
        let (mut stream, greeting) = (TcpStream::from(stream), format!("{name} {port}\n"));
        std::thread::spawn(move || {
            stream.set_nonblocking(false)?;
            stream.write_all(greeting.as_bytes())?;
            let mut buffer = [0; 1 << 16];
            loop {
                match stream.read(&mut buffer)? {
                    0 => return std::io::Result::Ok(()),
                    length => stream.write_all(&buffer[..length])?,
                }
            }
        });
    }
}

/// Returns a carrier for these names at these ports.
fn echo(names: &[(&str, &[u16])]) -> Echo {
    let allowed =
        |(pattern, ports): &(&str, &[u16])| AllowedName { pattern: (*pattern).into(), ports: ports.to_vec() };
    Echo { names: names.iter().map(allowed).collect(), ..Echo::default() }
}

#[test]
fn names_are_refused_where_connections_cannot_be_kept_to_them() {
    for level in [Level::Landlock, Level::Process, Level::None] {
        let mut fixture = Fixture::at_level(level);
        fixture.policy.network = NetworkPolicy::Named(Arc::new(echo(&[("registry.example", &[443])])));
        let spawned = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap());
        let is_refused = matches!(spawned, Err(SpawnError::Policy(PolicyError::NoNetworkForNames)));
        assert!(is_refused, "{level}: {spawned:?}");
    }
}
