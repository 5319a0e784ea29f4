//! Names of temporary files.

const PREFIX: &[u8] = b".agentd-tmp-";
const KEPT_PREFIX: &[u8] = b".agentd-kept-";
const RANDOM_DIGITS: usize = 32;

/// Returns a random name, so that no other program can have created a file under it in advance.
pub(crate) fn new_temp_name() -> Vec<u8> {
    with_random(PREFIX)
}

/// Returns a random name for another program's version that could not be restored. Such files are listed and
/// never swept.
pub(crate) fn new_kept_name() -> Vec<u8> {
    with_random(KEPT_PREFIX)
}

fn with_random(prefix: &[u8]) -> Vec<u8> {
    let mut name = prefix.to_vec();
    name.extend_from_slice(uuid::Uuid::new_v4().simple().to_string().as_bytes());
    name
}

/// Returns true for a name of this crate's temporary files: `.agentd-tmp-` and 32 hexadecimal digits.
///
/// Walks leave such files out, and writing to such a name is refused. A crash may leave one for
/// [`FileRoot::sweep_leftovers`](crate::FileRoot::sweep_leftovers).
pub fn is_temp_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|random| {
        random.len() == RANDOM_DIGITS && random.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
