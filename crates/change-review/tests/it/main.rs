//! Tests of the queue of changes that wait for a person.

mod anchors;
mod choices;
mod queue;
mod section;
mod since;
