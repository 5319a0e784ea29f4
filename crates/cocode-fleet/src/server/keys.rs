//! Keys of users.

use std::fmt;
use std::str::FromStr;

use nkeys::{KeyPair, KeyPairType};

/// The public key of a user of the server: `U…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserKey(String);

/// A text that is not the public key, or the seed, of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the NKey of a user")]
pub struct KeyError;

impl UserKey {
    /// Makes a new pair of keys: the public one for the server, and the seed, which is a secret of the user.
    #[must_use]
    pub fn generate() -> (UserKey, String) {
        let pair = KeyPair::new_user();
        let seed = pair.seed().expect("a new pair has its seed");
        (UserKey(pair.public_key()), seed)
    }

    /// Returns the public key of a seed.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if it is not the seed of a user.
    pub fn of_seed(seed: &str) -> Result<UserKey, KeyError> {
        let pair = KeyPair::from_seed(seed).map_err(|_| KeyError)?;
        pair.public_key().parse()
    }
}

impl FromStr for UserKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<UserKey, KeyError> {
        let pair = KeyPair::from_public_key(text).map_err(|_| KeyError)?;
        if pair.key_pair_type() == KeyPairType::User { Ok(UserKey(text.to_owned())) } else { Err(KeyError) }
    }
}

impl fmt::Display for UserKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
