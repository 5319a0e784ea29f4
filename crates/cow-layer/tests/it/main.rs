//! Tests through the public API. They imitate the marks that the kernel leaves in a layer; tests in
//! `sandbox-exec` mount real ones and prove that the marks are the same.

#[cfg(test)]
mod adoption;
#[cfg(test)]
mod conflicts;
#[cfg(test)]
mod discarding;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hard_links;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod left_in_layer;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod races;
#[cfg(test)]
mod rendered;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod saved_meanwhile;
#[cfg(test)]
mod stores;
#[cfg(test)]
mod tracer;
