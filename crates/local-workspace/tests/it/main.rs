//! Tests through the public API, on real folders, with a real journal and real commands.

#[cfg(test)]
#[path = "../../../sandbox-fs/tests/corpus/mod.rs"]
mod corpus;
#[cfg(test)]
mod fs_attacks;
#[cfg(test)]
mod ground;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod vectors;
