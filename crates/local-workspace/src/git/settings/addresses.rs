//! Names of remotes and addresses of other machines, in settings that determine the locations that git fetches
//! from and pushes to.

use std::collections::BTreeSet;

use crate::git::settings::text::Setting;

/// The names of the remotes whose address git obeys.
///
/// Git ignores all settings of a remote whose name begins with a slash, and takes the name for the path of a
/// repository.
pub(super) fn remotes(settings: &[Setting]) -> BTreeSet<&str> {
    // An empty address clears the previous ones.
    let is_address = |setting: &&Setting| {
        setting.key == "url" && setting.value.as_deref().is_some_and(|url| !url.is_empty())
    };
    let names = settings.iter().filter(is_address).filter_map(|setting| setting.name_in("remote"));
    names.filter(|name| is_remote_name(name)).collect()
}

/// Returns whether every program that reads git settings takes this for the name of a remote, never for a path or an
/// address.
pub(super) fn is_remote_name(name: &str) -> bool {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.chars().all(is_plain);
    !name.starts_with('-') && name.split('/').all(is_part)
}

/// Checks whether an address names another machine and no helper program.
///
/// A folder of this machine is not one: git runs the hooks of the target of a push, as the user, and a target in the
/// workspace may go unnoticed.
pub(super) fn is_plain_address(address: &str) -> bool {
    let Some(address) = with_plain_host(address) else { return false };
    let has_plain_characters = address.chars().all(|character| {
        character.is_alphanumeric()
            || matches!(character, '.' | '/' | ':' | '@' | '-' | '_' | '~' | '+' | '%' | '?' | '=')
    });
    // A part with a minus would be an option of a program, and git decodes it before. With dots, `git clone` finds a
    // folder of this machine through one that is named like a host.
    let lower = address.to_ascii_lowercase();
    let is_bad_part = |part: &str| part.starts_with('-') || part.starts_with("%2d") || part == "..";
    let has_control = lower.contains("%0") || lower.contains("%1") || lower.contains("%7f");
    let schemes = ["https://", "http://", "ssh://", "git://"];
    let names_machine = match address.split_once("://") {
        Some(_) => schemes.iter().any(|scheme| address.starts_with(scheme)),
        // `host:path`; with a slash before the colon it is a path.
        None => address.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/')),
    };
    // Two colons follow the name of a helper, such as `ext`, which runs the rest.
    has_plain_characters
        && names_machine
        && !address.contains("::")
        && !address.is_empty()
        && !has_control
        && !lower.split(['/', '@', ':']).any(is_bad_part)
}

/// Returns an address with a bracketed IPv6 host replaced by a name; `None` if brackets are anywhere else.
fn with_plain_host(address: &str) -> Option<String> {
    let Some((before, rest)) = address.split_once('[') else { return Some(address.to_owned()) };
    let (host, after) = rest.split_once(']')?;
    let is_at_host = before.is_empty() || before.ends_with("://") || before.ends_with('@');
    let is_number = host.contains(':')
        && host.chars().all(|character| character.is_ascii_hexdigit() || matches!(character, ':' | '.'));
    let is_whole = after.is_empty() || after.starts_with([':', '/']);
    (is_at_host && is_number && is_whole).then(|| format!("{before}host{after}"))
}

#[cfg(test)]
mod tests {
    use super::{is_plain_address, is_remote_name};

    #[test]
    fn names_of_remotes_are_no_paths_and_no_addresses() {
        for name in ["origin", "my-fork", "team/origin", "a.b_c", "v1..2"] {
            assert!(is_remote_name(name), "{name}");
        }
        for name in [
            "",
            "/",
            "/srv/r.git",
            "-x",
            ".",
            "..",
            "./r",
            "../r",
            "a/../r",
            "a//b",
            "a/",
            "r#up",
            "r;x",
            "ext::sh",
            "h:r",
            "a b",
            "a\"b",
            "r\u{e9}",
        ] {
            assert!(!is_remote_name(name), "{name}");
        }
    }

    #[test]
    fn addresses_of_other_machines_are_plain() {
        for address in [
            "https://h/x.git",
            "https://h:8080/x?a=b",
            "https://me%40corp.org@h/a%20b-c",
            "ssh://git@[2001:db8::1]/x.git",
            "ssh://git@[2001:db8::1]:22/x.git",
            "http://[::1]",
            "[::1]:x.git",
            "git@[::ffff:1.2.3.4]:x.git",
        ] {
            assert!(is_plain_address(address), "{address}");
        }
        for address in [
            "",
            "::1",
            "ext::[::1]",
            "[ext::sh]:x",
            "a[::1]:x",
            "ssh://[-oProxyCommand=x]/x",
            "ssh://[::1]x/y",
            "https://h/[::1]",
            "ssh://[::1]/[::2]",
            "[::1",
            "h:../../r.git",
            "h:x/../../r.git",
            "https://h/../x",
            "ssh://%2DoProxyCommand=x/y",
            "https://u%0a@h/x",
        ] {
            assert!(!is_plain_address(address), "{address}");
        }
    }
}
