//! What the demo's page asks for beside the rooms: ticks, the links' switches
//! and the call's settings.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use serde::Deserialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use weft_server::axum::extract::{Path, State};
use weft_server::axum::http::StatusCode;
use weft_server::axum::response::sse::{Event, KeepAlive, Sse};
use weft_server::axum::response::{IntoResponse, Response};
use weft_server::axum::routing::{get, post};
use weft_server::axum::{Json, Router};

use super::figures::Tick;
use super::ride::{LinkName, Override, UnknownName};
use super::settings::Setting;

/// Ticks kept for a page that is opened later: a minute of plots.
const HISTORY: usize = 240;

/// Between the demo and its page.
#[derive(Clone)]
pub struct Board {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    history: VecDeque<String>,
    listeners: Vec<UnboundedSender<String>>,
    wishes: Vec<Wish>,
}

/// What a person wants of the demo.
#[derive(Clone, Copy, Debug)]
pub enum Wish {
    /// A button of a link.
    Link(LinkName, Override),
    /// A choice about the weft call.
    Set(Setting),
}

impl Board {
    pub fn new() -> Board {
        Board {
            inner: Arc::default(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .expect("nothing panics with the board in hand")
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
        inner.listeners.retain(|l| l.send(text.clone()).is_ok());
    }

    /// What people did on the page since the last time.
    pub fn take_wishes(&self) -> Vec<Wish> {
        std::mem::take(&mut self.lock().wishes)
    }

    /// Notes what a person wants, or says what there is to want.
    fn wish(&self, wish: Result<Wish, UnknownName>) -> Response {
        match wish {
            Ok(wish) => {
                self.lock().wishes.push(wish);
                StatusCode::NO_CONTENT.into_response()
            }
            Err(error) => {
                let problem = serde_json::json!({
                    "error": format!("'{}' is not known here", error.given),
                    "remedy": format!("write {}", error.expected),
                });
                (StatusCode::NOT_FOUND, Json(problem)).into_response()
            }
        }
    }

    fn listen(&self) -> Ticks {
        let (sender, receiver) = unbounded_channel();
        let mut inner = self.lock();
        for past in &inner.history {
            let _ = sender.send(past.clone());
        }
        inner.listeners.push(sender);
        Ticks(receiver)
    }
}

struct Ticks(UnboundedReceiver<String>);

impl futures_core::Stream for Ticks {
    type Item = Result<Event, Infallible>;
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.0.poll_recv(context);
        next.map(|tick| tick.map(|text| Ok(Event::default().event("tick").data(text))))
    }
}

/// The routes under `/api`.
pub fn router(board: &Board) -> Router {
    Router::new()
        .route("/api/demo/events", get(events))
        .route("/api/demo/links/{name}", post(switch))
        .route("/api/demo/settings/{name}", post(set))
        .with_state(board.clone())
        .merge(crate::serve::rooms_mode())
}

async fn events(State(board): State<Board>) -> impl IntoResponse {
    Sse::new(board.listen()).keep_alive(KeepAlive::default())
}

#[derive(Deserialize)]
struct Switch {
    state: String,
}

async fn switch(
    State(board): State<Board>,
    Path(name): Path<String>,
    Json(switch): Json<Switch>,
) -> Response {
    let wish = name
        .parse::<LinkName>()
        .and_then(|n| Ok(Wish::Link(n, switch.state.parse()?)));
    board.wish(wish)
}

#[derive(Deserialize)]
struct Choice {
    value: String,
}

async fn set(
    State(board): State<Board>,
    Path(name): Path<String>,
    Json(choice): Json<Choice>,
) -> Response {
    board.wish(Setting::parse(&name, &choice.value).map(Wish::Set))
}
