//! Showing messages of a fleet about agents.

use fleet_runner::FleetObserver;
use serde::Serialize;

use super::{View, json_line};
use crate::views::progress::one_line;
use crate::views::terminal_text::visible;

impl FleetObserver for View {
    fn queued(&self, agent: &str) {
        self.say(agent, "queued");
    }

    fn say(&self, agent: &str, text: &str) {
        #[derive(Serialize)]
        struct Said<'a> {
            event: &'static str,
            agent: &'a str,
            text: &'a str,
        }
        if self.console.json {
            return json_line(self.console, &Said { event: "fleet", agent, text });
        }
        match &self.live {
            Some(live) => {
                if let Some(line) = live.lock().iter().find(|(name, _)| name.as_str() == agent) {
                    line.1.bar.set_message(one_line(text));
                }
            }
            None => self.console.progress(&format!("{agent}: {text}")),
        }
    }

    fn connection(&self, problem: Option<&str>) {
        let text = match problem {
            None => "connected to the fleet".to_owned(),
            Some(why) => format!("the fleet cannot be reached, tasks wait here: {why}"),
        };
        match &self.live {
            Some(live) => {
                let _ = live.lines.println(visible(&text));
            }
            None => self.console.notice(&text),
        }
    }
}
