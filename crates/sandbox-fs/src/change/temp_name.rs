//! Names of temporary files.

const PREFIX: &[u8] = b".agentd-tmp-";
const KEPT_PREFIX: &[u8] = b".agentd-kept-";
const RANDOM_DIGITS: usize = 32;

/// A name that nobody can guess, so that nothing can be waiting under it.
pub(crate) fn new_temp_name() -> Vec<u8> {
    with_random(PREFIX)
}

/// A name for somebody's version that has no other place. Unlike temporary files it is listed and stays.
pub(crate) fn new_kept_name() -> Vec<u8> {
    with_random(KEPT_PREFIX)
}

fn with_random(prefix: &[u8]) -> Vec<u8> {
    let mut name = prefix.to_vec();
    name.extend_from_slice(uuid::Uuid::new_v4().simple().to_string().as_bytes());
    name
}

/// Whether `name` is one that this crate gives to its temporary files: `.agentd-tmp-` and 32 hexadecimal digits.
///
/// Walks leave such files out, and nothing else is written under such a name. After a crash one may be left behind;
/// [`FileRoot::sweep_leftovers`](crate::FileRoot::sweep_leftovers) deals with it.
pub fn is_temp_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|random| {
        random.len() == RANDOM_DIGITS && random.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
