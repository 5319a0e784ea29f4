//! The levels of confinement in the words of a fleet.

use cocode_fleet::Confinement;
use sandbox_exec::Level;

/// Returns a level as hosts and tasks name it.
#[must_use]
pub fn fleet_confinement(level: Level) -> Confinement {
    match level {
        Level::Full => Confinement::Full,
        Level::Namespaces => Confinement::Namespaces,
        Level::Landlock => Confinement::Landlock,
        Level::Process => Confinement::Process,
        Level::None => Confinement::None,
    }
}
