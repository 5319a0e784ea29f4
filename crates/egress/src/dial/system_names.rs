//! The addresses of a name, from the machine's hosts file and its resolver.
//!
//! A resolver tries a name with the suffixes of its search list. A command chooses names that match a wildcard, and would
//! reach hosts of the user's own network by these. So a name with a dot is looked up without suffixes; only a name of one
//! label, which a user has to allow explicitly, is looked up with them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{IpAddr, ToSocketAddrs};

/// The hosts file of every Unix.
const HOSTS_FILE: &str = "/etc/hosts";

/// The most bytes of the hosts file that are read.
const MOST_BYTES: u64 = 16 << 20;

/// Returns the addresses of a name.
pub(super) fn addresses(name: &str) -> io::Result<Vec<IpAddr>> {
    let hosts = File::open(HOSTS_FILE).map(|file| BufReader::new(file.take(MOST_BYTES)));
    addresses_by(name, hosts.ok(), |query| {
        Ok((query, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    })
}

fn addresses_by(
    name: &str,
    hosts: Option<impl BufRead>,
    look_up: impl FnOnce(&str) -> io::Result<Vec<IpAddr>>,
) -> io::Result<Vec<IpAddr>> {
    if !name.contains('.') || name.ends_with('.') {
        return look_up(name);
    }
    // The system's look-up finds no name with a dot at its end in the hosts file.
    let listed = hosts.map(|hosts| listed(name, hosts)).unwrap_or_default();
    if !listed.is_empty() {
        return Ok(listed);
    }
    look_up(&format!("{name}."))
}

/// Returns the addresses of a name in a hosts file: lines of an address and its names, with comments after `#`.
fn listed(name: &str, hosts: impl BufRead) -> Vec<IpAddr> {
    let lines = hosts.split(b'\n').map_while(Result::ok);
    let address_of = |line: Vec<u8>| {
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        let address: IpAddr = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    };
    lines.filter_map(address_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: &str = "# Names\n127.0.0.1 localhost\n10.0.0.5\tNexus.corp.test nexus # x.corp.test\n::1 nexus.corp.test\nbad a.corp.test";

    /// A resolver with a search list that finds any name with a suffix of it, as glibc does.
    fn with_suffixes(query: &str) -> io::Result<Vec<IpAddr>> {
        match query.strip_suffix('.') {
            None => Ok(vec![IpAddr::from([10, 1, 2, 3])]),
            Some("registry.example") => Ok(vec![IpAddr::from([93, 184, 216, 34])]),
            Some(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn resolved(name: &str) -> Vec<String> {
        let addresses = addresses_by(name, Some(HOSTS.as_bytes()), with_suffixes);
        addresses.unwrap_or_default().iter().map(IpAddr::to_string).collect()
    }

    #[test]
    fn no_suffix_of_the_search_list_leads_a_name_with_a_dot_elsewhere() {
        assert!(resolved("secret-data.cdn.example").is_empty());
        // The controls: the same resolver finds the name itself, and a name of one label by the list.
        assert_eq!(resolved("registry.example"), ["93.184.216.34"]);
        assert_eq!(resolved("registry"), ["10.1.2.3"]);
    }

    #[test]
    fn the_hosts_file_counts_all_the_same() {
        assert_eq!(resolved("nexus.corp.test"), ["10.0.0.5", "::1"]);
        for name in ["x.corp.test", "a.corp.test", "corp.test"] {
            assert!(resolved(name).is_empty(), "{name}");
        }
        let missing: Option<&[u8]> = None;
        let addresses = addresses_by("registry.example", missing, with_suffixes).unwrap();
        assert_eq!(addresses, [IpAddr::from([93, 184, 216, 34])]);
    }
}
