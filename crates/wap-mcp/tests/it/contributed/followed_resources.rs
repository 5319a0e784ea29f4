//! Resources of a contribution that clients follow.

use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};
use wap_mcp::{Contribution, ResourceChanges};

use super::client::{Client, config, newer};

/// The most resources that a client follows.
const MOST_OF_A_CLIENT: usize = 64;

/// A shelf of books that change, and a plate that does not.
struct Shelf {
    changes: Option<ResourceChanges>,
}

impl Contribution for Shelf {
    fn resources(&self) -> Vec<Resource> {
        vec![Resource::new("shelf://plate", "the plate")]
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate::new("shelf://books/{number}", "a book")]
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        self.changes.as_ref()
    }

    fn can_change(&self, uri: &str) -> bool {
        uri.strip_prefix("shelf://books/").is_some_and(|number| number.parse::<u32>().is_ok())
    }
}

fn shelf() -> (Shelf, ResourceChanges) {
    let changes = ResourceChanges::default();
    (Shelf { changes: Some(changes.clone()) }, changes)
}

fn book(number: usize) -> String {
    format!("shelf://books/{number}")
}

async fn ask(client: &mut Client, method: &str, uri: &str) -> Value {
    client.ask(method, json!({ "uri": uri })).await.message
}

async fn subscribe(client: &mut Client, uri: &str) {
    let answer = ask(client, "resources/subscribe", uri).await;
    assert_eq!(answer["result"], json!({}), "{uri}: {answer}");
}

/// Waits for the next notification, and returns the name of the resource that it is about.
async fn updated(client: &mut Client) -> String {
    let message = client.read().await;
    assert_eq!(message["method"], "notifications/resources/updated", "{message}");
    message["params"]["uri"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_follower_is_notified_until_it_unsubscribes() {
    let (shelf, changes) = shelf();
    let mut client = Client::older(&config(shelf)).await;
    assert_eq!(client.capabilities["resources"]["subscribe"], true);
    for number in [1, 2] {
        subscribe(&mut client, &book(number)).await;
    }
    for number in [1, 2, 1] {
        changes.report(&book(number));
        assert_eq!(updated(&mut client).await, book(number));
    }
    let answer = ask(&mut client, "resources/unsubscribe", &book(1)).await;
    assert_eq!(answer["result"], json!({}));
    // The second report is the control: it would arrive after the first one.
    changes.report(&book(1));
    changes.report(&book(2));
    assert_eq!(updated(&mut client).await, book(2));
}

#[tokio::test]
async fn only_the_followers_of_a_resource_are_notified() {
    let (shelf, changes) = shelf();
    let config = config(shelf);
    let (mut one, mut other) = (Client::older(&config).await, Client::older(&config).await);
    subscribe(&mut one, &book(1)).await;
    subscribe(&mut other, &book(2)).await;
    changes.report(&book(1));
    changes.report(&book(3));
    changes.report(&book(2));
    assert_eq!(updated(&mut one).await, book(1));
    assert_eq!(updated(&mut other).await, book(2));
}

#[tokio::test]
async fn a_name_that_cannot_be_followed_is_refused() {
    let (shelf, _) = shelf();
    let mut client = Client::older(&config(shelf)).await;
    for uri in ["shelf://plate", "shelf://books/seven", "shelf://", "agentd://run/1", "agentd://books/1", ""]
    {
        let refused = ask(&mut client, "resources/subscribe", uri).await;
        assert_eq!(refused["error"]["code"], -32002, "{uri}: {refused}");
        assert_eq!(refused["error"]["data"]["uri"], uri);
    }
    subscribe(&mut client, &book(7)).await;
}

#[tokio::test]
async fn names_of_followed_resources_have_a_bounded_length() {
    let (shelf, _) = shelf();
    let mut client = Client::older(&config(shelf)).await;
    let longest = format!("shelf://books/{:0>1$}", 7, 4_096 - "shelf://books/".len());
    subscribe(&mut client, &longest).await;
    let refused = ask(&mut client, "resources/subscribe", &format!("{longest}7")).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
}

#[tokio::test]
async fn a_client_follows_a_bounded_number() {
    let (shelf, _) = shelf();
    let config = config(shelf);
    let mut client = Client::older(&config).await;
    for number in 0..MOST_OF_A_CLIENT {
        subscribe(&mut client, &book(number)).await;
    }
    let refused = ask(&mut client, "resources/subscribe", &book(MOST_OF_A_CLIENT)).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    // Each client has its own limit, and unsubscribing frees space.
    subscribe(&mut Client::older(&config).await, &book(MOST_OF_A_CLIENT)).await;
    ask(&mut client, "resources/unsubscribe", &book(0)).await;
    subscribe(&mut client, &book(MOST_OF_A_CLIENT)).await;
}

#[tokio::test]
async fn a_contribution_without_changes_offers_no_subscriptions() {
    let mut client = Client::older(&config(Shelf { changes: None })).await;
    assert_eq!(client.capabilities["resources"], json!({}));
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(ask(&mut client, method, &book(1)).await["error"]["code"], -32601);
    }
    let params = json!({ "notifications": { "resourceSubscriptions": [book(1)] } });
    let refused = client.ask_newer("subscriptions/listen", params, json!({})).await;
    assert_eq!(refused.message["error"]["code"], -32601, "{}", refused.message);
}

#[tokio::test]
async fn a_subscription_of_the_newer_era_names_its_resources() {
    let (shelf, changes) = shelf();
    let mut client = Client::connect(&config(shelf));
    let wanted = [book(1), "shelf://plate".to_owned(), "agentd://run/1".to_owned(), book(2)];
    let params = json!({ "notifications": { "resourceSubscriptions": wanted } });
    client.send("subscriptions/listen", newer(params, json!({}))).await;
    let acknowledged = client.read().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "resourceSubscriptions": [book(1), book(2)] })
    );
    // Each was acknowledged before the server polled it, and so is updated once.
    for number in [1, 2] {
        assert_eq!(updated(&mut client).await, book(number));
    }
    changes.report(&book(3));
    changes.report(&book(2));
    assert_eq!(updated(&mut client).await, book(2));
}
