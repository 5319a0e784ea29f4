//! Tests through the public API, on real folders, with a real journal and real commands.

#[cfg(test)]
mod ground;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod steps;
mod undo;
mod undo_properties;
#[cfg(test)]
mod vectors;
