//! Connections of commands, made outside with a scripted resolver and servers on loopback.

mod addresses;
mod draining;
mod fixture;
mod greeting;
mod many;
mod outward;
mod proxy;
mod relay;
