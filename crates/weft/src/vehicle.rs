//! Local page of `weft join` and `weft call`, with links and switches, for a tablet or
//! phone in the vehicle. The server in this process has no rooms and no media.

pub mod args;
mod pictures;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use weft_endpoint::caller::PeerReport;
use weft_endpoint::sources::feed::Preview;
use weft_endpoint::{LinkUse, Switch, Switches};
use weft_server::axum::extract::Path;
use weft_server::axum::http::StatusCode;
use weft_server::axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use weft_server::axum::response::{IntoResponse, Response};
use weft_server::axum::routing::{get, post};
use weft_server::axum::{Extension, Json, Router};
use weft_server::media_plane::{
    self, Destination, EventSender, Media, MediaError, MediaPlane, Negotiated, Play, Request,
    ResourceId, Stats,
};
use weft_server::{Admitted, Security, Server, ServerConfig, ServerHandle, unguessable};

use crate::exit::Failure;
use crate::serve;
use crate::state::state_folder;
pub use pictures::Pictures;
use pictures::{CameraId, Gallery, jpeg};

/// Constant facts of the call.
pub struct Facts {
    /// Command that runs the call: `join` or `call`.
    pub command: &'static str,
    /// Title of the page, such as the room.
    pub title: String,
    /// Name that the others see.
    pub name: String,
    /// Latest picture of each camera.
    pub previews: Vec<Preview>,
    /// Whether there is a microphone.
    pub microphone: bool,
}

/// Changing state of the call.
#[derive(Default)]
pub struct Figures<'a> {
    /// Time since the call began.
    pub elapsed: Duration,
    /// Connection whose links are shown.
    pub report: Option<&'a PeerReport>,
    /// Ids and names of the others.
    pub others: Vec<(String, String)>,
    /// Whether a moderator has muted us.
    pub muted: bool,
    /// Sources that the user has switched off.
    pub switches: Switches,
    /// Recording of the others.
    pub recorded: Recorded,
}

/// State of a recording.
#[derive(Clone, Debug, Default)]
pub enum Recorded {
    /// There is no recording to switch.
    #[default]
    Never,
    /// Stopped.
    Off,
    /// Running, perhaps with a fault.
    On {
        /// Error of a file.
        error: Option<String>,
    },
}

/// Controls of a call for the page.
pub trait Controls: Send + Sync + 'static {
    /// Changes the use of a link.
    fn use_link(&self, name: &str, usage: LinkUse);
    /// Switches the microphone.
    fn switch_microphone(&self, switch: Switch);
    /// Switches the cameras.
    fn switch_cameras(&self, switch: Switch);
    /// Switches the recording of the others; false if nothing can be recorded.
    fn record(&self, _: Switch) -> bool {
        false
    }
    /// Ends the call.
    fn leave(&self);
}

/// Running page.
pub struct VehiclePage {
    server: ServerHandle,
    facts: Facts,
    shown: Shown,
    gallery: Gallery,
    /// Never used; if it is dropped, the server assumes that its media side has failed.
    _events: EventSender,
}

/// State of the call for the page.
#[derive(Clone)]
struct Shown(Arc<Mutex<Value>>);

impl Shown {
    fn lock(&self) -> MutexGuard<'_, Value> {
        let held = self.0.lock();
        held.expect("nothing panics while it holds the state")
    }
}

/// Order from the page.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Order {
    /// Change the use of a link.
    Link {
        name: String,
        #[serde(rename = "use")]
        usage: LinkUse,
    },
    /// Switch the microphone.
    Microphone { on: bool },
    /// Switch all cameras.
    Cameras { on: bool },
    /// Start or stop the recording.
    Recording { on: bool },
    /// End the call.
    Leave,
}

impl VehiclePage {
    /// Serves the page and prints its addresses. The addresses contain a token, because
    /// other users of this machine or its networks may find the port.
    pub fn start(
        listen: SocketAddr,
        facts: Facts,
        pictures: &Pictures,
        controls: impl Controls,
    ) -> Result<VehiclePage, Failure> {
        let shown = Shown(Arc::new(Mutex::new(state(
            &facts,
            &Figures::default(),
            &[],
        ))));
        let gallery = pictures.gallery();
        let token = unguessable();
        let (events, incoming) = media_plane::events();
        let config = ServerConfig {
            listen,
            security: Security::Auto,
            state: state_folder(),
            token: Some(token.clone()),
            extra: Some(
                router(shown.clone(), controls).merge(images(&facts.previews, gallery.clone())),
            ),
            ..ServerConfig::default()
        };
        let server = Server::start_with(config, Arc::new(NoMedia), incoming)?;
        serve::tell_urls(&server, Some(&token))?;
        complain!("weft: the page for this call; anyone with its address controls the call");
        serve::tell_certificate(&server);
        Ok(VehiclePage {
            server,
            facts,
            shown,
            gallery,
            _events: events,
        })
    }

    /// Updates the figures on the page.
    pub fn show(&self, figures: &Figures<'_>) {
        let cameras = self.gallery.cameras();
        let mut next = state(&self.facts, figures, &cameras);
        let mut shown = self.shown.lock();
        // Without a connection there are no figures, but all links may be off.
        if next["links"].as_array().is_none_or(Vec::is_empty) {
            next["links"] = shown["links"].take();
        }
        *shown = next;
    }

    pub fn end(self) {
        self.server.shutdown();
    }
}

fn state(facts: &Facts, figures: &Figures<'_>, cameras: &[CameraId]) -> Value {
    let report = figures.report;
    let links = report.map(|report| {
        let all = report.link_reports().into_iter().zip(&report.all_links);
        let links = all.map(|(shown, own)| {
            let mut link = json!(shown);
            link["use"] = json!(own.usage);
            link["carried_mb"] = json!(own.carried.0 as f64 / 1e6);
            link
        });
        links.collect::<Vec<Value>>()
    });
    let others = figures.others.iter();
    let pictures = cameras.iter().filter_map(|(id, camera)| {
        let (_, name) = figures.others.iter().find(|(other, _)| other == id)?;
        Some(json!({ "participant": id, "camera": camera, "name": name }))
    });
    let switch = |there: bool, switch| match (there, switch) {
        (false, _) => "none",
        (true, Switch::On) => "on",
        (true, Switch::Off) => "off",
    };
    let microphone = match switch(facts.microphone, figures.switches.microphone) {
        "on" if figures.muted => "muted",
        state => state,
    };
    let (recording, recording_error) = match &figures.recorded {
        Recorded::Never => ("none", None),
        Recorded::Off => ("off", None),
        Recorded::On { error } => ("on", error.as_ref()),
    };
    json!({
        "mode": "join",
        "command": facts.command,
        "title": facts.title,
        "name": facts.name,
        "seconds": figures.elapsed.as_secs(),
        "connected": report.is_some_and(|report| report.connected),
        "links": links.unwrap_or_default(),
        "microphone": microphone,
        "cameras": switch(!facts.previews.is_empty(), figures.switches.cameras),
        "recording": recording,
        "recording_error": recording_error,
        "previews": facts.previews.len(),
        "others": others.map(|(_, name)| name.clone()).collect::<Vec<String>>(),
        "pictures": pictures.collect::<Vec<Value>>(),
    })
}

fn router(shown: Shown, controls: impl Controls) -> Router {
    let controls = Arc::new(controls);
    let present = shown.clone();
    let call = move |Extension(Admitted(admitted)): Extension<Admitted>| async move {
        match admitted {
            true => Json(present.lock().clone()),
            false => Json(json!({ "mode": "join" })),
        }
    };
    let order = move |Extension(Admitted(admitted)): Extension<Admitted>, order: Json<Order>| {
        let answer = match admitted {
            true => obey(order.0, &shown, &*controls),
            false => StatusCode::UNAUTHORIZED,
        };
        async move { answer }
    };
    Router::new()
        .route("/api/call", get(call))
        .route("/api/join", post(order))
}

fn obey(order: Order, shown: &Shown, controls: &impl Controls) -> StatusCode {
    let switch = |on| if on { Switch::On } else { Switch::Off };
    match order {
        Order::Link { name, usage } => {
            let mut state = shown.lock();
            let mut links = state["links"].as_array_mut().into_iter().flatten();
            let Some(link) = links.find(|link| link["name"] == *name) else {
                return StatusCode::NOT_FOUND;
            };
            // The next figures will confirm it.
            link["use"] = json!(usage);
            controls.use_link(&name, usage);
        }
        Order::Microphone { on } => controls.switch_microphone(switch(on)),
        Order::Cameras { on } => controls.switch_cameras(switch(on)),
        Order::Recording { on } => {
            if !controls.record(switch(on)) {
                return StatusCode::NOT_FOUND;
            }
        }
        Order::Leave => controls.leave(),
    }
    StatusCode::NO_CONTENT
}

/// Pictures of the others and of our own cameras.
fn images(previews: &[Preview], gallery: Gallery) -> Router {
    let previews = previews.to_vec();
    let preview = move |Extension(admitted): Extension<Admitted>, Path(camera): Path<usize>| {
        let picture = previews.get(camera).and_then(Preview::picture);
        let answer = image(admitted, || jpeg(&*picture?));
        async move { answer }
    };
    let other = move |Extension(admitted): Extension<Admitted>, Path(camera): Path<CameraId>| {
        let answer = image(admitted, || gallery.jpeg(&camera));
        async move { answer }
    };
    Router::new()
        .route("/api/join/preview/{camera}", get(preview))
        .route("/api/join/picture/{participant}/{camera}", get(other))
}

fn image(Admitted(admitted): Admitted, jpeg: impl FnOnce() -> Option<Vec<u8>>) -> Response {
    if !admitted {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let headers = [(CONTENT_TYPE, "image/jpeg"), (CACHE_CONTROL, "no-store")];
    match jpeg() {
        Some(jpeg) => (headers, jpeg).into_response(),
        // No picture yet; an error would appear in the browser's console.
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

/// Media plane without media.
struct NoMedia;

impl MediaPlane for NoMedia {
    fn send(&self, _: Destination<'_>, request: Request) {
        request(&mut NoMedia);
    }
}

impl Media for NoMedia {
    fn play(&mut self, _: Play) -> Result<Negotiated, MediaError> {
        let reason = "this page plays nothing; open the room on its server".to_owned();
        Err(MediaError::WrongState { reason })
    }

    fn answer(&mut self, _: ResourceId, _: String) -> Result<(), MediaError> {
        Err(MediaError::UnknownResource)
    }

    fn close(&mut self, _: &ResourceId) {}

    fn stats(&mut self) -> Stats {
        Stats::default()
    }
}
