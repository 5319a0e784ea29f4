//! Resources to read and to watch.

use std::sync::Arc;

use test_support::Caller;
use wap_core::ConversationId;
use wap_mcp::{ResourceName, Watched, WorkspaceResources};
use workspace_mcp::ServedResources;

use crate::{SECRET, Site, write};

fn resources(site: &Site) -> ServedResources {
    ServedResources::new(Arc::clone(&site.workspace), site.paths.clone(), site.rules.clone())
}

#[test]
fn runs_and_proposals_are_listed_and_read_without_secrets() {
    let site = Site::new();
    site.write("a.txt", &format!("token = {SECRET}\n"));
    let caller = Caller::once();
    site.propose(&caller, &[write("b.txt", &format!("token = {SECRET}\n"))]);
    let served = resources(&site);
    let listed = served.list(&caller.call(), None).unwrap().resources;
    let names: Vec<_> = listed.iter().map(|listed| &listed.name).collect();
    assert!(matches!(names.as_slice(), [ResourceName::Review(1), ResourceName::Run(_)]), "{listed:?}");
    for name in names {
        let text = served.text(&caller.call(), name).unwrap().unwrap();
        assert!(text.contains(".txt") && !text.contains(SECRET), "{name:?}: {text}");
        site.is_not_named_in(&text);
    }
    assert!(!format!("{listed:?}").contains(SECRET), "{listed:?}");
    assert_eq!(served.text(&caller.call(), &ResourceName::Review(9)).unwrap(), None);
}

#[test]
fn a_mark_changes_with_its_resource() {
    let site = Site::new();
    let caller = Caller::once();
    let served = resources(&site);
    let watched = [ResourceName::Review(1), ResourceName::Review(2)].map(|name| Watched {
        conversation: ConversationId(caller.call().origin.conversation.0.clone()),
        name,
    });
    let marks =
        || -> Vec<_> { served.marks(&caller.call(), &watched).into_iter().map(Result::unwrap).collect() };
    assert_eq!(marks(), [None, None]);
    site.propose(&caller, &[write("b.txt", "b\n")]);
    let first = marks();
    assert!(first[0].is_some() && first[1].is_none(), "{first:?}");
    assert_eq!(served.last_change().unwrap(), None);
    site.write("a.txt", "a\n");
    assert_eq!(marks(), first);
    assert!(served.last_change().unwrap().is_some());
}
