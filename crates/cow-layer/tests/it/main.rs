//! Tests through the public API. What the kernel would leave in a layer is made by hand here; that a real one leaves
//! just this is tested where layers are mounted, in `sandbox-exec`.

#[cfg(test)]
mod adoption;
#[cfg(test)]
mod conflicts;
#[cfg(test)]
mod discarding;
#[cfg(test)]
mod ground;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod races;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod saved_meanwhile;
#[cfg(test)]
mod stores;
#[cfg(test)]
mod tracer;
