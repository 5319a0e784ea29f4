//! Passwords in addresses: `https://user:password@host`.
//!
//! The rules of the library name five schemes, and take neither `/` nor `@` in a password, nor an address without a user or a host.

use std::ops::Range;

use memchr::memmem;

use crate::detector::Span;

/// The kind of the placeholders.
const KIND: &str = "address-password";

/// The characters between a scheme and the rest.
const SIGN: &str = "://";

/// The shortest password; `u:p@` is an example.
const LEAST_BYTES: usize = 4;

/// Parts of passwords that are examples, as the rules of the library have them.
const EXAMPLE_PARTS: [&str; 5] = ["example", "changeme", "password", "your", "test"];

/// Words that stand for a password.
const EXAMPLES: [&str; 10] =
    ["pass", "passwd", "secret", "token", "access_token", "apikey", "api_key", "xxxx", "user", "port"];

/// Adds the passwords in the addresses of a text.
pub(crate) fn find(text: &str, hits: &mut Vec<Span>) {
    find_counted(text, hits);
}

/// Adds the passwords, and returns how many bytes were looked at behind the schemes.
fn find_counted(text: &str, hits: &mut Vec<Span>) -> usize {
    let bytes = text.as_bytes();
    let mut looked_at = 0;
    let mut signs = memmem::find_iter(bytes, SIGN).peekable();
    while let Some(sign) = signs.next() {
        let start = sign + SIGN.len();
        // An address behind a comma is one of its own.
        let limit = signs.peek().copied().unwrap_or(bytes.len()).max(start);
        let end = bytes[start..limit].iter().position(|byte| ends_address(*byte));
        let end = end.map_or(limit, |length| start + length);
        looked_at += end - start;
        if !bytes[..sign].last().is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        if let Some(password) = password(&text[start..end], is_repository(&bytes[..sign])) {
            let range = start + password.start..start + password.end;
            hits.push(Span { range, kind: KIND.into() });
        }
    }
    looked_at
}

/// Checks for a byte that ends an address in code and prose.
fn ends_address(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

/// Checks whether the scheme at the end of a text is one of repositories, whose paths may have `@`: `ssh://host:group/name@v1`.
fn is_repository(text: &[u8]) -> bool {
    [&b"ssh"[..], b"git"].iter().any(|scheme| text.ends_with(scheme))
}

/// Returns the password of an address, which is what stands behind its scheme.
fn password(address: &str, is_repository: bool) -> Option<Range<usize>> {
    let authority = &address[..address.find(['/', '?', '#']).unwrap_or(address.len())];
    // In `${NAME:-default}:password` the second one.
    let user = match authority.starts_with("${") || authority.starts_with('{') {
        true => authority.find('}')?,
        false => 0,
    };
    let start = user + authority[user..].find(':')? + 1;
    let port = &authority[start..];
    let end = match port.rfind('@') {
        Some(at) => start + at,
        // A password with a raw `/`: behind the name of a host there is a number.
        None => {
            let is_host = is_repository
                || port.is_empty() && address[start..].starts_with('/') && start > 1
                || port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty()
                || authority.starts_with('[')
                || is_example(port);
            if is_host {
                return None;
            }
            start + address[start..].rfind('@')?
        }
    };
    let value = &address[start..end];
    let is_digest = ["@sha256:", "@sha512:"].iter().any(|digest| address[end..].starts_with(digest));
    (value.len() >= LEAST_BYTES && !is_digest && !is_example(value)).then_some(start..end)
}

/// Checks for a text that stands for a password: an example, a variable, a field of a template.
fn is_example(value: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_variable =
        value.strip_prefix('$').is_some_and(|name| name.bytes().all(is_upper) || name.bytes().all(is_lower));
    is_variable
        || EXAMPLES.contains(&value.to_ascii_lowercase().as_str())
        || EXAMPLE_PARTS.iter().any(|part| value.contains(part))
        || ["${", "$(", "{", "#{", "%s", "%v", "%(", "%{", "[", "..."]
            .iter()
            .any(|sign| value.starts_with(sign))
        || value.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.')) && !value.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        find(text, &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn the_password_of_any_address_is_found() {
        let password = ["k7Qz", "Wm2Rt9"].concat();
        for form in [
            "https://u:{}@host/x.git",
            "amqp://u:{}@mq:5672/",
            "postgres://:{}@host/db",
            "redis://:{}@h",
            "\"postgres://u:{}@\" + host",
            "postgres://u:{}@",
            "postgres://u:{}@'h'",
            "postgres://u:{}@${HOST}/db",
            "http://${USER:-me}:{}@proxy:3128",
            "git+https://me:{}@host/x",
            "see ftp://u:{}@host, or so",
        ] {
            for value in [&password[..], "k7Qz/Wm2Rt9", "k7Qz@Wm2Rt9", "k7Qz:Wm2Rt9", "k7Qz#Wm2Rt9"] {
                let text = format!("url: {}\nnext\n", form.replace("{}", value));
                assert_eq!(passwords(&text), [value], "{text}");
            }
        }
        let several =
            format!("A=https://u:test@h,https://u:{password}@h2,https://h:80,amqp://u:{password}1@h");
        assert_eq!(passwords(&several), [password.clone(), format!("{password}1")]);
    }

    #[test]
    fn other_addresses_are_left() {
        for text in [
            "https://host:8080/@scope/name",
            "https://host/@user",
            "https://user@host:8080/x@y",
            "https://host?mail=a:b@c",
            "http://[::1]:80/a@b",
            "http://[fe80::1]/a@b",
            "https://u:p@host",
            "https://user:password@host",
            "https://user:pass@host",
            "http://localhost:${PORT}/@vite/client",
            "http://localhost:PORT/@vite/client",
            "https://x-access-token:${TOKEN}@github.com/x",
            "https://x:$TOKEN@github.com/x",
            "https://{user}:{token}@host",
            "https://%s:%s@host",
            "https://<user>:<word>@host",
            "https://me:***@host",
            "git+ssh://git@github.com:user/repo.git@v1",
            "ssh://github.com:group/repo.git@v1",
            "docker://alpine:latest@sha256:0123456789",
            "file:///C:/some/path@x",
            "\"http://\" + user + \":\" + word + \"@host\"",
            "://u:k7QzWm2Rt9@h",
            "https:// u:k7QzWm2Rt9@h",
        ] {
            assert_eq!(passwords(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn no_address_is_looked_at_often() {
        for unit in ["https://u:test", "https://u:k7QzWm2Rt9@", "://", "a://:", "https://u:a/@://"] {
            let text = unit.repeat(2_000);
            let looked_at = find_counted(&text, &mut Vec::new());
            assert!(looked_at <= text.len(), "{unit}: {looked_at}");
        }
    }
}
