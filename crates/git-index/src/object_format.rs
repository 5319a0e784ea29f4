/// The hash function of a repository's object names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectFormat {
    /// Names of 20 bytes: the default.
    #[default]
    Sha1,
    /// Names of 32 bytes, with `extensions.objectFormat = sha256`.
    Sha256,
}

impl ObjectFormat {
    pub(crate) fn name_bytes(self) -> usize {
        match self {
            ObjectFormat::Sha1 => 20,
            ObjectFormat::Sha256 => 32,
        }
    }
}
