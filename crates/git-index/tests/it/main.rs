//! Indexes as git writes them, and as an attacker would.

#[cfg(test)]
mod cached_trees;
#[cfg(test)]
mod crafted;
#[cfg(test)]
mod file_lists;
#[cfg(test)]
mod from_git;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod names_of_git;
#[cfg(test)]
mod object_files;
mod objects;
#[cfg(test)]
mod own_files;
#[cfg(test)]
mod reference_files;
mod reference_tables;
#[cfg(test)]
mod references;
#[cfg(test)]
mod same_entries;
#[cfg(test)]
mod unfinished_work;
