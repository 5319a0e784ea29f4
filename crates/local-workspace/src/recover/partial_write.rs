//! Recognises partial writes: the remains of an unsynced file after a crash or a loss of power.

/// The smallest piece that a disk writes as a whole.
const SECTOR_BYTES: usize = 512;

/// Checks whether `now` may be a remainder of `whole`: it stops early, or pieces of it are zeros.
///
/// A version is written under a temporary name, so its file never held anything else.
pub(crate) fn is_partial(now: &[u8], whole: &[u8]) -> bool {
    let is_left = |(now, whole): (&[u8], &[u8])| whole.starts_with(now) || now.iter().all(|byte| *byte == 0);
    now.len() <= whole.len() && now.chunks(SECTOR_BYTES).zip(whole.chunks(SECTOR_BYTES)).all(is_left)
}

#[cfg(test)]
mod tests {
    use super::is_partial;

    #[test]
    fn ends_and_zeros_are_partial_and_other_bytes_are_not() {
        let whole = [vec![b'a'; 700], vec![b'b'; 700]].concat();
        let with = |range: std::ops::Range<usize>, byte: u8| {
            let mut bytes = whole.clone();
            bytes[range].fill(byte);
            bytes
        };
        for partial in [
            vec![],
            whole[..1].to_vec(),
            whole.clone(),
            vec![0; 900],
            with(512..1024, 0),
            with(1024..1400, 0),
        ] {
            assert!(is_partial(&partial, &whole));
        }
        for other in [vec![0; 1401], with(0..1, b'b'), with(600..700, 0), [&whole[..], b"more"].concat()] {
            assert!(!is_partial(&other, &whole));
        }
    }
}
