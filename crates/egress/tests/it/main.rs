//! Tests of `egress` through its public API.

#[cfg(test)]
mod addresses;
#[cfg(test)]
mod allow_list;
#[cfg(test)]
mod dial;
#[cfg(test)]
mod presets;
