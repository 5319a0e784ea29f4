//! The resources that clients can read and follow in addition to the tools: outputs, processes, runs and reviews under
//! `agentd://`.

mod calls;
mod desk;
mod followed;
mod follower;
mod listing;
mod name;
mod news;
mod reading;
mod source;
mod text_page;

pub(crate) use calls::unless_cancelled;
pub use desk::SubscriptionDesk;
pub(crate) use desk::{MOST_OF_A_CLIENT, MOST_WATCHED};
pub(crate) use followed::Followed;
pub(crate) use follower::{Follower, ResourceUpdates, accepted, follow_for_newer, follow_for_older};
pub(crate) use listing::{advertise, is_of_workspace, list, templates};
pub use name::{NameError, ResourceName};
pub(crate) use news::News;
pub(crate) use reading::{read, read_page};
pub use source::{Listed, ListedPage, Mark, Watched, WorkspaceResources};
