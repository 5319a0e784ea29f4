//! Tests of the index through its public interface. That its answers are those of a search without it is tested where both
//! are, in `local-workspace`.

#[cfg(test)]
mod feed;
#[cfg(test)]
mod ground;
#[cfg(test)]
mod list;
