//! Tests through the public API, on real folders, with a real journal and real commands.

#[cfg(test)]
mod change;
#[cfg(test)]
mod command;
#[cfg(test)]
#[path = "../../../sandbox-fs/tests/corpus/mod.rs"]
mod corpus;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod read;
#[cfg(test)]
mod recover;
#[cfg(test)]
#[path = "../../../sandbox-exec/tests/tricks/mod.rs"]
mod tricks;
