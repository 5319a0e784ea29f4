//! Tests through the public API, on real folders, with a real journal and real commands.

#[cfg(test)]
mod ground;
#[cfg(test)]
mod power_loss;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod vectors;
