//! Tests through the public API. What cannot be had on a machine is asserted against the launcher's own report.

#[cfg(test)]
mod blocked;
#[cfg(test)]
mod case_kind;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod containment;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod exec_attacks;
#[cfg(test)]
mod exec_report;
#[cfg(test)]
mod forced;
#[cfg(test)]
mod ground;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod layer;
#[cfg(test)]
mod layer_scripts;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod output;
#[cfg(test)]
mod own_ids;
#[cfg(test)]
mod phrases;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod reserve;
#[cfg(test)]
mod spawner;
#[cfg(test)]
mod special_cases;
#[cfg(test)]
mod survivors;
#[cfg(test)]
mod toolchains;
#[cfg(test)]
mod tree_image;
#[cfg(test)]
#[path = "../tricks/mod.rs"]
mod tricks;
#[cfg(test)]
mod user_limits;
