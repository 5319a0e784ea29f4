//! The components of a path.

/// The components of a [`RelPath`](crate::RelPath), from the root downwards, `..` steps included.
#[derive(Clone, Debug)]
pub struct Components<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Components<'a> {
    /// `bytes` are those of a parsed path: no empty component, and no bytes for the root.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Components { rest: (!bytes.is_empty()).then_some(bytes) }
    }
}

impl<'a> Iterator for Components<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        match rest.iter().position(|byte| *byte == b'/') {
            Some(slash) => {
                self.rest = Some(&rest[slash + 1..]);
                Some(&rest[..slash])
            }
            None => {
                self.rest = None;
                Some(rest)
            }
        }
    }
}

impl DoubleEndedIterator for Components<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let rest = self.rest?;
        match rest.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => {
                self.rest = Some(&rest[..slash]);
                Some(&rest[slash + 1..])
            }
            None => {
                self.rest = None;
                Some(rest)
            }
        }
    }
}
