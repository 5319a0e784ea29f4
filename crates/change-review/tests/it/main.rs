//! Tests of the queue of changes that wait for a person.

mod anchors;
mod choices;
mod file_classes;
mod queue;
mod reading_order;
mod section;
mod since;
