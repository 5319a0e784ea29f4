//! Indexes as git writes them, and as an attacker would.

#[cfg(test)]
mod crafted;
#[cfg(test)]
mod from_git;
