//! Tests of the index through its public interface. Tests in `local-workspace` compare its answers with those
//! of a search without it.

#[cfg(test)]
mod feed;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod folder_watch;
#[cfg(test)]
mod git_ignores;
#[cfg(test)]
mod list;
#[cfg(test)]
mod load;
#[cfg(test)]
mod rendered;
