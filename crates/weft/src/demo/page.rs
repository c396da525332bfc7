//! Demo-specific HTTP interface of the page: ticks, link switches and settings of the
//! call.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use weft_server::axum::extract::{Path, State};
use weft_server::axum::http::StatusCode;
use weft_server::axum::response::sse::{Event, KeepAlive, Sse};
use weft_server::axum::response::{IntoResponse, Response};
use weft_server::axum::routing::{get, post};
use weft_server::axum::{Json, Router};

use super::figures::Tick;
use super::ride::{LinkName, Override, UnknownName};
use super::settings::Setting;

/// Ticks kept for later visitors: a minute of plots.
const HISTORY: usize = 240;

/// Events queued for a slow page before it is disconnected: twice the history.
const WAITING: usize = 2 * HISTORY;

/// Shared state of the demo and its page.
#[derive(Clone)]
pub struct PageState {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    history: VecDeque<String>,
    visitors: BTreeMap<VisitorId, Sender<Message>>,
    /// Number of visitors so far.
    came: VisitorId,
    /// Visitors who have switched a link, by link.
    holds: BTreeMap<LinkName, VisitorId>,
    actions: Vec<PageAction>,
    /// Number of encoders that are too slow, and the newest report of one.
    slow: usize,
    report: Slow,
}

/// Number of a visitor, from one.
type VisitorId = u64;

/// Action of a person on the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageAction {
    /// Switch of a link.
    Link(LinkName, Override),
    /// Setting of the weft call.
    Set(Setting),
    /// Restart, with all measurements at zero.
    Restart,
}

/// Whether this machine is fast enough for its cameras.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
struct Slow {
    /// Share of missed pictures, 0 to 1; `None` if the machine is fast enough.
    missed: Option<f64>,
    /// Picture size to use for a restart of the demo.
    smaller: Option<&'static str>,
}

/// Message to a page.
#[derive(Clone, Debug)]
enum Message {
    Tick(String),
    /// Number of the visitor, after the earlier ticks.
    Visitor(VisitorId),
    /// The machine is too slow, or fast enough again.
    Slow(Slow),
}

impl PageState {
    pub fn new() -> PageState {
        PageState {
            inner: Arc::default(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .expect("nothing panics while it holds the state")
    }

    pub fn publish(&self, tick: &Tick) {
        let Ok(text) = serde_json::to_string(tick) else {
            return;
        };
        let mut inner = self.lock();
        if inner.history.len() == HISTORY {
            inner.history.pop_front();
        }
        inner.history.push_back(text.clone());
        inner.send(&Message::Tick(text));
    }

    /// Reports an encoder that misses so many pictures that the measurements
    /// describe the machine; a smaller size, if there is one, helps.
    pub fn tell_slow(&self, missed: f64, smaller: Option<&'static str>) {
        let mut inner = self.lock();
        inner.slow += 1;
        inner.report = Slow {
            missed: Some(missed),
            smaller,
        };
        let report = inner.report;
        inner.send(&Message::Slow(report));
    }

    /// Reports that a slow encoder keeps up again.
    pub fn tell_fast(&self) {
        let mut inner = self.lock();
        inner.slow = inner.slow.saturating_sub(1);
        if inner.slow == 0 {
            inner.report = Slow::default();
            inner.send(&Message::Slow(Slow::default()));
        }
    }

    pub fn is_watched(&self) -> bool {
        !self.lock().visitors.is_empty()
    }

    /// Returns the actions since the last call.
    pub fn take_actions(&self) -> Vec<PageAction> {
        std::mem::take(&mut self.lock().actions)
    }

    /// Registers a visitor. The first one sees the demo from its start; further
    /// ones see what the others see.
    fn listen(&self) -> Visit {
        let (sender, receiver) = channel(WAITING);
        let mut inner = self.lock();
        if inner.visitors.is_empty() {
            inner.restart();
        }
        for past in &inner.history {
            let _ = sender.try_send(Message::Tick(past.clone()));
        }
        inner.came += 1;
        let id = inner.came;
        let _ = sender.try_send(Message::Visitor(id));
        if inner.slow > 0 {
            let _ = sender.try_send(Message::Slow(inner.report));
        }
        inner.visitors.insert(id, sender);
        Visit {
            id,
            page_state: self.clone(),
            receiver,
        }
    }

    /// Switches a link. A visitor's switch is undone when the visitor leaves; a switch
    /// without a visitor remains.
    fn switch(&self, name: LinkName, to: Override, visitor: Option<VisitorId>) -> Response {
        let mut inner = self.lock();
        if visitor.is_some_and(|id| !inner.visitors.contains_key(&id)) {
            return problem(
                StatusCode::CONFLICT,
                "This page's connection has just ended.",
                "Try again in a moment.",
            );
        }
        match visitor {
            Some(id) if to != Override::Auto => inner.holds.insert(name, id),
            _ => inner.holds.remove(&name),
        };
        inner.actions.push(PageAction::Link(name, to));
        StatusCode::NO_CONTENT.into_response()
    }
}

impl Inner {
    /// Sends a message to all visitors, and forgets disconnected ones.
    fn send(&mut self, message: &Message) {
        self.visitors
            .retain(|_, visitor| visitor.try_send(message.clone()).is_ok());
    }

    fn restart(&mut self) {
        self.history.clear();
        self.holds.clear();
        self.actions.push(PageAction::Restart);
    }

    fn leave(&mut self, id: VisitorId) {
        self.visitors.remove(&id);
        let actions = &mut self.actions;
        self.holds.retain(|link, holder| {
            let stays = *holder != id;
            if !stays {
                actions.push(PageAction::Link(*link, Override::Auto));
            }
            stays
        });
    }
}

/// Open page, until it is closed.
struct Visit {
    id: VisitorId,
    page_state: PageState,
    receiver: Receiver<Message>,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.page_state.lock().leave(self.id);
    }
}

impl futures_core::Stream for Visit {
    type Item = Result<Event, Infallible>;
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.receiver.poll_recv(context);
        next.map(|message| message.map(|message| Ok(message.event())))
    }
}

impl Message {
    fn event(self) -> Event {
        match self {
            Message::Tick(text) => Event::default().event("tick").data(text),
            Message::Visitor(id) => {
                let text = serde_json::json!({ "id": id }).to_string();
                Event::default().event("visitor").data(text)
            }
            Message::Slow(report) => {
                let text = serde_json::json!(report).to_string();
                Event::default().event("slow").data(text)
            }
        }
    }
}

/// Routes under `/api`.
pub fn router(page_state: &PageState) -> Router {
    Router::new()
        .route("/api/demo/events", get(events))
        .route("/api/demo/links/{name}", post(switch))
        .route("/api/demo/settings/{name}", post(set))
        .route("/api/demo/restart", post(restart))
        .with_state(page_state.clone())
        .merge(crate::serve::mode("demo"))
}

async fn events(State(page_state): State<PageState>) -> impl IntoResponse {
    Sse::new(page_state.listen()).keep_alive(KeepAlive::default())
}

#[derive(Deserialize)]
struct Switch {
    state: String,
    /// Visitor number of the requesting page, from the event `visitor`.
    visitor: Option<VisitorId>,
}

async fn switch(
    State(page_state): State<PageState>,
    Path(name): Path<String>,
    Json(switch): Json<Switch>,
) -> Response {
    let read = || Ok((name.parse()?, switch.state.parse()?));
    match read() {
        Ok((name, to)) => page_state.switch(name, to, switch.visitor),
        Err(error) => unknown(&error),
    }
}

#[derive(Deserialize)]
struct Choice {
    value: String,
}

async fn set(
    State(page_state): State<PageState>,
    Path(name): Path<String>,
    Json(choice): Json<Choice>,
) -> Response {
    match Setting::parse(&name, &choice.value) {
        Ok(setting) => {
            page_state.lock().actions.push(PageAction::Set(setting));
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => unknown(&error),
    }
}

async fn restart(State(page_state): State<PageState>) -> StatusCode {
    page_state.lock().restart();
    StatusCode::NO_CONTENT
}

fn unknown(error: &UnknownName) -> Response {
    let said = format!("'{}' is not known here", error.given);
    problem(
        StatusCode::NOT_FOUND,
        &said,
        &format!("write {}", error.expected),
    )
}

fn problem(status: StatusCode, error: &str, remedy: &str) -> Response {
    let problem = serde_json::json!({ "error": error, "remedy": remedy });
    (status, Json(problem)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions_of(page_state: &PageState) -> Vec<PageAction> {
        page_state.take_actions()
    }

    const CUT_WIFI: PageAction = PageAction::Link(LinkName::Wifi, Override::Cut);
    const LET_WIFI_GO: PageAction = PageAction::Link(LinkName::Wifi, Override::Auto);

    #[test]
    fn only_the_first_page_restarts_the_call() {
        let page_state = PageState::new();
        let first = page_state.listen();
        assert_eq!(actions_of(&page_state), [PageAction::Restart]);
        let second = page_state.listen();
        assert_eq!(actions_of(&page_state), []);
        drop((first, second));
        let _third = page_state.listen();
        assert_eq!(actions_of(&page_state), [PageAction::Restart]);
    }

    #[test]
    fn a_cut_ends_with_its_author() {
        let page_state = PageState::new();
        let (one, other) = (page_state.listen(), page_state.listen());
        page_state.take_actions();
        page_state.switch(LinkName::Wifi, Override::Cut, Some(one.id));
        drop(other);
        assert_eq!(actions_of(&page_state), [CUT_WIFI]);
        drop(one);
        assert_eq!(actions_of(&page_state), [LET_WIFI_GO]);
    }

    #[test]
    fn the_last_change_of_a_link_wins() {
        let page_state = PageState::new();
        let (one, other) = (page_state.listen(), page_state.listen());
        page_state.switch(LinkName::Wifi, Override::Cut, Some(one.id));
        page_state.switch(LinkName::Wifi, Override::Cut, Some(other.id));
        page_state.take_actions();
        drop(one);
        assert_eq!(actions_of(&page_state), []);
        page_state.switch(LinkName::Wifi, Override::Auto, Some(other.id));
        page_state.take_actions();
        drop(other);
        assert_eq!(
            actions_of(&page_state),
            [],
            "there is nothing left to let go"
        );
    }

    #[test]
    fn every_page_hears_that_the_machine_is_too_slow_and_that_it_has_recovered() {
        let page_state = PageState::new();
        let mut first = page_state.listen();
        page_state.tell_slow(0.2, Some("360p"));
        let mut late = page_state.listen();
        let told = |visit: &mut Visit| -> Vec<Slow> {
            let told = std::iter::from_fn(|| visit.receiver.try_recv().ok());
            let slow = told.filter_map(|message| match message {
                Message::Slow(report) => Some(report),
                _ => None,
            });
            slow.collect()
        };
        let slow = Slow {
            missed: Some(0.2),
            smaller: Some("360p"),
        };
        assert_eq!(told(&mut first), [slow]);
        assert_eq!(told(&mut late), [slow]);
        // With two slow encoders, both must catch up.
        page_state.tell_slow(0.3, Some("360p"));
        page_state.tell_fast();
        assert_eq!(told(&mut first).len(), 1);
        page_state.tell_fast();
        assert_eq!(told(&mut first), [Slow::default()]);
        assert_eq!(told(&mut page_state.listen()), []);
    }

    #[test]
    fn a_participant_that_left_cuts_nothing() {
        let page_state = PageState::new();
        let id = page_state.listen().id;
        page_state.take_actions();
        let refusal = page_state.switch(LinkName::Lte, Override::Cut, Some(id));
        assert_eq!(refusal.status(), StatusCode::CONFLICT);
        assert_eq!(actions_of(&page_state), []);
    }
}
