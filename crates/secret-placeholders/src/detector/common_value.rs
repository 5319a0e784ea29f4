//! Values that are common in code and never secret: alphabets, hashes of nothing, UUIDs of examples, technical words
//! with digits in them.

use super::text::is_ordinary;

/// The share of characters, in quarters, that directly precede or follow their predecessor in an alphabet.
const LEAST_QUARTERS: usize = 3;

/// The hashes of no bytes (MD5, SHA-1, SHA-256 in both notations), of git's empty file and tree.
const OF_NOTHING: [&str; 6] = [
    "d41d8cd98f00b204e9800998ecf8427e",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
];

/// The UUIDs of examples in documentation, and those of the name spaces of RFC 9562.
const OF_EXAMPLES: [&str; 9] = [
    "123e4567-e89b-12d3-a456-426614174000",
    "123e4567-e89b-12d3-a456-426655440000",
    "550e8400-e29b-41d4-a716-446655440000",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
    "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
    "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
];

/// Words of technology that have digits in them.
const TECHNICAL: [&str; 39] = [
    "x86_64",
    "aarch64",
    "amd64",
    "arm64",
    "armv7",
    "base32",
    "base58",
    "base64",
    "blake2",
    "blake3",
    "crc32",
    "ed25519",
    "fp16",
    "fp32",
    "i18n",
    "i386",
    "i686",
    "int16",
    "int32",
    "int64",
    "ipv4",
    "ipv6",
    "k8s",
    "l10n",
    "linux-gnu",
    "linux-musl",
    "log4j",
    "md5",
    "oauth2",
    "secp256k1",
    "sha1",
    "sha256",
    "sha512",
    "uint8",
    "utf16",
    "utf8mb4",
    "utf8",
    "x509",
    "x86",
];

/// The maximum number of digits in a name with separated words, and the longest such name that is common.
const MOST_NAME_DIGITS: usize = 2;
const MOST_NAME_BYTES: usize = 24;

/// Checks for a value that also occurs in unrelated code.
pub(crate) fn is_common(value: &str) -> bool {
    OF_NOTHING.iter().chain(&OF_EXAMPLES).any(|one| one.eq_ignore_ascii_case(value))
        || is_alphabet(value)
        || is_technical(value)
}

/// Checks for consecutive characters, ascending or descending: `0123456789abcdef`, `ABC…xyz0123456789+/`.
fn is_alphabet(value: &str) -> bool {
    let bytes = value.as_bytes();
    let follows = |pair: &&[u8]| {
        let (one, other) = (pair[0], pair[1]);
        one.abs_diff(other) == 1 || (one.min(other), one.max(other)) == (b'0', b'9')
    };
    let following = bytes.windows(2).filter(follows).count();
    bytes.len() > 1 && following * 4 >= (bytes.len() - 1) * LEAST_QUARTERS
}

/// Checks for technical words with digits: `x86_64-linux-gnu`, `sha256sum`, `k8s_role2`.
fn is_technical(value: &str) -> bool {
    if value.len() > MOST_NAME_BYTES || value.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    let mut rest = value.to_owned();
    for word in TECHNICAL {
        rest = rest.replace(word, "");
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_name = value.contains('_') && digits <= MOST_NAME_DIGITS;
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let has_letters = rest.bytes().any(|byte| byte.is_ascii_alphabetic());
    rest.len() < value.len() && (!has_letters || is_ordinary(&rest))
        || is_name && is_ordinary(&letters(value))
}

#[cfg(test)]
mod tests {
    use super::is_common;

    #[test]
    fn alphabets_hashes_of_nothing_and_technical_words_are_common() {
        for value in [
            "0123456789abcdef",
            "0123456789ABCDEF",
            "fedcba9876543210",
            "abcdefghijklmnopqrstuvwxyz0123456789",
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            "1234567890abcdef",
            "1234567890123456",
            "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
            "x86_64-linux-gnu",
            "sha256sum",
            "utf8mb4_bin",
            "k8s_role2",
            "123E4567-e89b-12d3-a456-426614174000",
            "550e8400-e29b-41d4-a716-446655440000",
        ] {
            assert!(is_common(value), "{value}");
        }
        // The control: values that generators and people make.
        for value in [
            "k7QzWm2Rt9x",
            "hunter2hunter2",
            "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "kqzv_wm2x9",
            "sha256kqzvxw",
            "P@ssw0rd(1)",
            "123e4567-e89b-12d3-a456-426614174001",
            "xqvtzkwpbnrmhgfd",
            "abcdeQ7xZk2",
        ] {
            assert!(!is_common(value), "{value}");
        }
    }
}
