//! Passwords in addresses: `https://user:password@host`.
//!
//! The rules of the library name five schemes, and take neither `/` nor `@` in a password, nor an address without a user or a host.

mod example;

use std::ops::Range;

use memchr::memmem;

pub(crate) use crate::addresses::example::{is_example, is_template};
use crate::detector::{Span, reads_like_words};

/// The kind of the placeholders.
const KIND: &str = "address-password";

/// The characters between a scheme and the rest, plain and escaped in JSON.
const SEPARATORS: [&str; 2] = ["://", ":\\/\\/"];

/// The address of a server that follows the password in a Go data source name.
const SERVERS: [&str; 2] = ["@tcp(", "@unix("];

/// The maximum length of the user and password before the address.
const MOST_NAME_BYTES: usize = 256;

/// The shortest password; `u:p@` is an example.
const LEAST_BYTES: usize = 4;

/// The shortest token that stands for a user.
const LEAST_TOKEN_BYTES: usize = 16;

/// The shortest token of hexadecimal digits that stands for a user without a password.
const LEAST_DIGITS: usize = 32;

/// The passwords for which the user is the token.
const OF_TOKENS: [&str; 2] = ["", "x-oauth-basic"];

/// Adds the passwords in the addresses of a text.
pub(crate) fn find(text: &str, hits: &mut Vec<Span>) {
    find_counted(text, hits);
    find_in_names(text, hits);
}

/// Adds the passwords, and returns how many bytes after the schemes were examined.
fn find_counted(text: &str, hits: &mut Vec<Span>) -> usize {
    let bytes = text.as_bytes();
    let mut looked_at = 0;
    let [mut plain, mut escaped] = SEPARATORS.map(|separator| memmem::find_iter(bytes, separator).peekable());
    let separators = std::iter::from_fn(|| {
        let is_plain = match (plain.peek(), escaped.peek()) {
            (Some(one), Some(other)) => one < other,
            (one, _) => one.is_some(),
        };
        if is_plain {
            plain.next().map(|at| (at, SEPARATORS[0]))
        } else {
            escaped.next().map(|at| (at, SEPARATORS[1]))
        }
    });
    let mut separators = separators.peekable();
    while let Some((at, separator)) = separators.next() {
        let start = at + separator.len();
        // A comma starts a separate address.
        let limit = separators.peek().map_or(bytes.len(), |(next, _)| *next).max(start);
        let end = bytes[start..limit].iter().position(u8::is_ascii_whitespace);
        let end = end.map_or(limit, |length| start + length);
        looked_at += end - start;
        // Properties files write `https\://`.
        let scheme = bytes[..at].strip_suffix(b"\\").unwrap_or(&bytes[..at]);
        if !scheme.last().is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        if let Some(secret) = secret(&text[start..end], is_repository(scheme)) {
            hits.push(Span { range: start + secret.start..start + secret.end, kind: KIND.into() });
        }
    }
    looked_at
}

/// Adds the passwords in the data source names of Go: `user:password@tcp(host)/name`.
fn find_in_names(text: &str, hits: &mut Vec<Span>) {
    for server in SERVERS {
        let mut before = 0;
        for end in memmem::find_iter(text.as_bytes(), server) {
            let from = text.ceil_char_boundary(end.saturating_sub(MOST_NAME_BYTES).max(before));
            before = end;
            let is_between = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
            let start = end - text[from..end].rsplit(is_between).next().map_or(0, str::len);
            let name = &text[start..end];
            let Some(user) = name.find(':').filter(|user| *user > 0) else { continue };
            let value = &name[user + 1..];
            if is_password(value) && !name.contains("://") {
                hits.push(Span { range: start + user + 1..end, kind: KIND.into() });
            }
        }
    }
}

/// Checks whether a text ends with a repository scheme, whose paths may contain `@`: `ssh://host:group/name@v1`.
fn is_repository(text: &[u8]) -> bool {
    [&b"ssh"[..], b"git"].iter().any(|scheme| text.ends_with(scheme))
}

fn is_password(value: &str) -> bool {
    value.len() >= LEAST_BYTES && !is_example(value)
}

/// Returns the secret in `address`, the text after the scheme up to the next space: the password, or a token used as
/// the user.
fn secret(address: &str, is_repository: bool) -> Option<Range<usize>> {
    let end = (0..address.len()).find(|at| ends_address(address, *at)).unwrap_or(address.len());
    let whole = &address[..end];
    let authority = &whole[..whole.find(['/', '?', '#']).unwrap_or(end)];
    // `${NAME:-default}:password`: split at the second colon.
    let user = match authority.starts_with("${") || authority.starts_with('{') {
        true => authority.find('}')?,
        false => 0,
    };
    // A mail account name contains `@`, too.
    if let Some((name, host)) = authority.split_once('@').filter(|(_, host)| !host.contains('@'))
        && !name[user..].contains(':')
    {
        let has_host = host.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_alone = has_host && !is_digest(&authority[name.len()..]) && is_random_token(name);
        return is_alone.then_some(0..name.len());
    }
    let start = user + authority[user..].find(':')? + 1;
    let value = match authority[start..].rfind('@') {
        Some(at) => start..start + at,
        None => match before_raw_slash(whole, authority, start, is_repository) {
            Some(value) => value,
            None => before_raw_quote(address, end, start)?,
        },
    };
    if begins_with_port(&address[value.clone()]) || is_digest(&address[value.end..]) {
        return None;
    }
    let name = &authority[..start - 1];
    if OF_TOKENS.contains(&&address[value.clone()]) {
        return is_token(name).then_some(0..name.len());
    }
    is_password(&address[value.clone()]).then_some(value)
}

/// Checks for a byte that ends an address in code and prose.
fn ends_address(address: &str, at: usize) -> bool {
    let bytes = address.as_bytes();
    match bytes[at] {
        b'"' | b'\'' | b'`' | b'<' | b'>' => true,
        // Other escapes are part of the address.
        b'\\' => matches!(bytes.get(at + 1), None | Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'`')),
        _ => false,
    }
}

/// Returns the password that begins at `start` and has a raw `/`, if a host follows it. In most addresses without an
/// `@` in the authority, a port and a path are there.
fn before_raw_slash(
    address: &str,
    authority: &str,
    start: usize,
    is_repository: bool,
) -> Option<Range<usize>> {
    let port = &authority[start..];
    let is_missing = port.is_empty() && address[start..].starts_with('/') && start > 1;
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_host_in_brackets = authority.starts_with('[');
    let has_user_only = authority[..start].contains('@');
    if is_missing || is_number || is_host_in_brackets || has_user_only || is_example(port) {
        return None;
    }
    let value = start..start + address[start..].rfind('@')?;
    let is_path =
        is_repository && (authority[..start].contains('.') || is_version(&address[value.end + 1..]));
    (!is_path).then_some(value)
}

/// Returns the password from `start` with a raw quote or `<` at the apparent `end` of the address, if a host follows
/// before the next space.
fn before_raw_quote(address: &str, end: usize, start: usize) -> Option<Range<usize>> {
    let bytes = address.as_bytes();
    if start == end {
        // The string ends there and is concatenated with another.
        return None;
    }
    let length = bytes[end..].iter().position(|byte| *byte == b'@')?;
    let value = start..end + length;
    let is_of_code = |at: usize| {
        let is_quote = matches!(bytes[at], b'"' | b'\'' | b'`' | b'<' | b'>');
        is_quote
            && !bytes[at + 1].is_ascii_alphanumeric()
            && !matches!(bytes[at + 1], b'!' | b'$' | b'%' | b'*' | b'_' | b'@')
    };
    let has_host = bytes.get(value.end + 1).is_some_and(u8::is_ascii_alphanumeric);
    let has_user_only = address[..start].contains('@');
    (has_host && !has_user_only && !(end..value.end).any(is_of_code)).then_some(value)
}

/// Checks for a port number before other text on the line: `http://localhost:3000)[b](mailto:me@host)`.
fn begins_with_port(value: &str) -> bool {
    let rest = value.trim_start_matches(|digit: char| digit.is_ascii_digit());
    rest.len() < value.len()
        && rest.starts_with([')', ']', '|', ',', ';', '"', '\'', '`', '<', '>', '\\', '}'])
}

/// Checks for the digest that follows an image tag.
fn is_digest(rest: &str) -> bool {
    ["@sha256:", "@sha512:"].iter().any(|digest| rest.starts_with(digest))
}

/// Checks for the version of a repository: `v1`, `1.2`, `main`.
fn is_version(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or(text);
    number.starts_with(|digit: char| digit.is_ascii_digit()) || ["main", "master", "HEAD"].contains(&text)
}

/// Checks for a user that is a token: random letters and digits.
fn is_token(user: &str) -> bool {
    let has = |is: fn(&u8) -> bool| user.bytes().any(|byte| is(&byte));
    user.len() >= LEAST_TOKEN_BYTES
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && !user.contains("..")
        && !is_example(user)
}

/// Checks for a token that needs no password to be distinguished from a user name.
fn is_random_token(user: &str) -> bool {
    let is_number =
        user.len() >= LEAST_DIGITS && user.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_token(user) && (is_number || !reads_like_words(user))
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
    fn a_password_is_found_in_each_notation() {
        let secret = ["k7Qz", "Wm2Rt9"].concat();
        let token = ["a1B2c3D4", "e5F6g7H8i9"].concat();
        for (text, value) in [
            (r#"{"url":"https:\/\/deploy:{}@git.host\/x"}"#, &*secret),
            (r#"{"url":"https://u:{}@host/x"}"#, r"k7\u0026Qz\u003cWm"),
            (r"url=https\://svc\:{}@host", &secret),
            ("https://u:{}@host", "k7<Qz"),
            ("https://u:{}@host", "k7>Qz"),
            ("https://u:{}@host/a", "k7'Qz"),
            ("A='https://u:{}@host'", "k7\"Qz"),
            ("https://u:{}@host", "k7\\Qz"),
            ("https://u:{}@host", "k7`Qz"),
            ("ssh://u:{}@host", "k7/Qz"),
            ("git://u:{}@host", "k7/Qz"),
            ("https://u:{}@host", "{k7Qz"),
            ("https://u:{}@host", "[k7Qz"),
            ("https://u:{}@host", "...k7Qz"),
            ("https://u:{}@host", "%(k7Qz"),
            ("https://u:{}@host", "$(k7Qz"),
            ("https://u:{}@host", "Q7xxxxLatest"),
            ("https://u:{}@host", "Fastest-Car-77"),
            ("postgres://u:{}@host", "Q7xxxxLatest"),
            ("smtp://me@corp.io:{}@host:587", &secret),
            ("https://{}:x-oauth-basic@host/x", &token),
            ("https://{}:@host", &token),
            ("https://{}@host/x", &token),
            ("https://{}@host:8443/x", &token),
            ("origin\thttps://{}@github.com/me/x.git (fetch)", "0123456789abcdef0123456789abcdef01234567"),
            (
                "git clone https://{}@dev.azure.com/o/p/_git/x",
                "k7qzwm2rt9xbk7qzwm2rt9xbk7qzwm2rt9xbk7qzwm2rt9xbk7qz",
            ),
            ("https://{}@host", "3b1c4d5e-1234-4abc-9def-0123456789ab"),
            ("dsn := \"svc:{}@tcp(127.0.0.1:3306)/db\"", &secret),
            ("DSN=svc:{}@unix(/run/db.sock)/db", "k7@Qz:Wm"),
        ] {
            let text = text.replace("{}", value);
            assert_eq!(passwords(&text), [value], "{text}");
        }
    }

    #[test]
    fn code_templates_and_addresses_next_to_others_are_left() {
        for text in [
            "https://USER:PASSWORD@HOST",
            "https://User:Password@host",
            "amqp://guest:guest@localhost",
            "https://u:REPLACE_ME@host",
            "https://u:%TOKEN%@host",
            "https://%1$s:%2$s@host",
            "https://u:$env:TOKEN@host",
            "https://u:REDACTED@host",
            "https://u:••••@host",
            "[a](http://localhost:3000)[b](mailto:me@corp.io)",
            "http://h1:8080,me@corp.io",
            "http://localhost:%d/api/@me",
            "git+https://git@github.com:o/r.git@v1",
            "<a href=\"http://localhost:3000\">me@corp.io</a>",
            "{\"a\":\"http://host:3000\",\"b\":\"me@corp.io\"}",
            "{\"a\":\"redis://cache:main\",\"b\":\"me@corp.io\"}",
            "\"http://\"+user+\":\"+word+\"@host\"",
            "\"http://user:\"+word+\"@host\"",
            "`http://host:8080`|`me@corp.io`",
            "http://host:8080\\nmail:me@corp.io",
            "f\"postgresql://{DB_USER}:{DB_PASS}@{HOST}/x\"",
            "`mongodb://${user}:${pass}@h`",
            "mysql://%s:%s@h",
            "postgres://<user>:<pass>@h",
            "https://user:@host",
            "https://some-user-of-a-name:@host",
            "https://some-user-of-a-name@host",
            "ssh://deployment-user-01@host/x",
            "https://ServiceAccountForBuilds2@host",
            "https://${TOKEN_FOR_BUILDS_2}@host",
            "https://x-access-token-1234567890@",
            "docker://0123456789abcdef0123456789abcdef@sha256:0123456789",
            "https://host/0123456789abcdef0123456789abcdef@x",
            "https://cdn.host/npm/a1b2c3d4e5f6g7h8@1.2.3/x.js",
            "fmt.Sprintf(\"%s:%s@tcp(%s)/%s\", a)",
            "user + \":\" + word + \"@tcp(\" + host",
            "user:password@tcp(localhost:3306)/db",
        ] {
            assert_eq!(passwords(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn no_address_is_examined_often() {
        for unit in [
            "https://u:test",
            "https://u:k7QzWm2Rt9@",
            "://",
            "a://:",
            "https://u:a/@://",
            "https:\\/\\/u:a",
            "a://u:\"@",
        ] {
            let text = unit.repeat(2_000);
            let looked_at = find_counted(&text, &mut Vec::new());
            assert!(looked_at <= text.len(), "{unit}: {looked_at}");
        }
    }
}
