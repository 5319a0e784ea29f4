#![doc = include_str!("../README.md")]

mod choice;
mod cut_line;
mod draw;
mod event;
mod line_editor;
mod marks;
mod opened;
mod order;
mod palette;
mod rows;
mod view;

pub use cut_line::{CutLine, cut_line};
pub use event::{Event, Key, OpenedProposal, Request};
pub use marks::marked_text;
pub use order::Order;
pub use palette::Palette;
pub use view::ReviewView;
