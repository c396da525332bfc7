use crate::admin::{Admin, Listening};
use crate::allowed_origin::AllowedOrigin;
use crate::auth::{AdminGate, Gate, Revoked};
use crate::clock::Clock;
use crate::cluster::Membership;
use crate::config::{Limits, Reconfiguration, Security, ServerConfig};
use crate::error::ServerError;
use crate::forwarding::Forwarding;
use crate::http_socket::HttpSocket;
use crate::hub::{Arrival, Hub, follow_recordings};
use crate::ice_servers::{IceServers, OwnTurn};
use crate::ids::Ids;
use crate::listener::{BesideHttp, Connections};
use crate::live::Live;
use crate::log::ServerEvent;
use crate::media_plane::{self, EventReceiver, MediaPlane};
use crate::origin::{Origin, Peer};
use crate::own_certificate::Renewal;
use crate::problem::Problem;
use crate::recorder::{Recorder, RecordingEvent};
use crate::refusals::Refusals;
use crate::reload::Certificate;
use crate::routes::{self, App};
use crate::secret::unguessable;
use crate::tls::Source;
use crate::turn::{MediaPeers, Terms, TurnServer};
use crate::urls::{url_of, urls_elsewhere};
use crate::webhook::Webhooks;
use crate::{reload, repeated, runtime};
use axum::Router;
use std::ffi::OsString;
use std::future::IntoFuture;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use weft_rooms::{ParticipantKind, Publishing};

/// Time for running requests when the server ends.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// Entry point for starting a server.
#[derive(Debug)]
pub struct Server;

/// Running server; dropping it ends it.
pub struct ServerHandle {
    /// Address of HTTP.
    pub local_addr: SocketAddr,
    /// Address of the metrics without a token, if configured.
    pub metrics_addr: Option<SocketAddr>,
    /// URL for a browser on this machine.
    pub url: String,
    /// URLs for other machines if the server listens on every address: one for
    /// each address of this machine. Other machines may reach only some of
    /// them.
    pub urls_elsewhere: Vec<String>,
    /// SHA-256 fingerprint of its certificate, as browsers print it; `None`
    /// without TLS.
    pub fingerprint: Option<String>,
    /// Reason why its self-signed certificate differs from that of the last
    /// start; `None` if it does not.
    pub renewal: Option<Renewal>,
    app: App,
    certificate: Option<Arc<Certificate>>,
    stop: watch::Sender<bool>,
    media_ended: watch::Receiver<bool>,
    runtime: tokio::runtime::Handle,
    thread: Option<JoinHandle<()>>,
    /// Stopped after HTTP.
    forwarding: Option<Forwarding>,
}

/// Permanent participant of this process.
#[derive(Debug, Clone)]
pub struct Resident<'a> {
    /// Name of the room, as in its URL.
    pub room: &'a str,
    /// Name that the others see.
    pub name: &'a str,
    /// Kind of client.
    pub kind: ParticipantKind,
    /// Published tracks.
    pub publishing: Publishing,
}

impl Server {
    /// Starts a server that forwards media between the participants of its
    /// rooms.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn start(config: ServerConfig) -> Result<ServerHandle, ServerError> {
        let (events, receiver) = media_plane::events();
        let http = HttpSocket::bind(config.listen)?;
        let forwarding = Forwarding::start(&config, http.address, events)?;
        let sources = (Clock::machine(), Ids::random());
        let mut handle = Server::start_on(config, http, forwarding.plane(), receiver, sources)?;
        handle.forwarding = Some(forwarding);
        Ok(handle)
    }

    /// Starts a server with another media plane. The plane sends its events to
    /// the other end of `events`.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn start_with(
        config: ServerConfig,
        media: Arc<dyn MediaPlane>,
        events: EventReceiver,
    ) -> Result<ServerHandle, ServerError> {
        Server::start_at(config, media, events, (Clock::machine(), Ids::random()))
    }

    pub(crate) fn start_at(
        config: ServerConfig,
        media: Arc<dyn MediaPlane>,
        events: EventReceiver,
        sources: (Clock, Ids),
    ) -> Result<ServerHandle, ServerError> {
        let http = HttpSocket::bind(config.listen)?;
        Server::start_on(config, http, media, events, sources)
    }

    fn start_on(
        config: ServerConfig,
        http: HttpSocket,
        media: Arc<dyn MediaPlane>,
        events: EventReceiver,
        (clock, ids): (Clock, Ids),
    ) -> Result<ServerHandle, ServerError> {
        let address = config.listen;
        let mut revoked = match config.token_key {
            Some(_) => Revoked::open(config.state.as_deref())?,
            None => Revoked::default(),
        };
        let tokens = revoked.told();
        let gate = Gate::new(config.token.as_deref(), config.token_key, revoked.clone());
        if gate.is_open() && config.allowed_origins.iter().any(AllowedOrigin::is_any) {
            return Err(ServerError::OpenToAnyOrigin);
        }
        let source = Source::new(config.security.clone(), address.ip(), config.state.clone());
        let certificate = Certificate::read(source, config.log.clone())?;
        let local_addr = http.address;
        let metrics = config.operator.metrics.map(HttpSocket::bind).transpose()?;
        let metrics_addr = metrics.as_ref().map(|metrics| metrics.address);

        let recordings = media.recorder().and_then(Recorder::take_events);
        let runtime = runtime::start()?;
        let (membership, cluster) = match &config.cluster {
            Some(cluster) => {
                let joined = Membership::join(cluster, gate.mark(), tokens);
                let (membership, cluster) = runtime.block_on(joined)?;
                (Some((membership, gate.clone())), Some(cluster))
            }
            None => (None, None),
        };
        let peers = MediaPeers::new(media.addresses(), &config.media.public);
        let streams = media.takes_streams().then(|| Arc::clone(&media));
        let hub = Hub::new(config.limits, media, (clock, ids), config.log);
        let webhooks = config.operator.webhook.map(|target| {
            Webhooks::start(target, hub.log().clone()).map_err(|error| ServerError::System {
                reason: error.to_string(),
            })
        });
        let hub = Arc::new(
            hub.refusing(revoked)
                .telling(webhooks.transpose()?)
                .in_cluster(cluster),
        );
        let admin = config.operator.socket_folder.and_then(|folder| {
            let socket = Listening::start(&folder, local_addr);
            let problem = |error: &std::io::Error| {
                let error = format!("{}: {error}", folder.display());
                hub.log().emit(|| ServerEvent::NoAdmin { error });
            };
            let (hub, gate) = (Arc::clone(&hub), gate.clone());
            Some((socket.inspect_err(problem).ok()?, Admin { hub, gate }))
        });
        let is_secure = certificate.is_some();
        let own_turn = config.turn.map(|turn| OwnTurn {
            secret: unguessable(),
            name: turn.name,
            listen: address.ip(),
            is_secure,
            is_trusted: config.security != Security::Auto,
        });
        let turn = own_turn.as_ref().map(|own| {
            let limits = (config.limits.media.all, config.limits.media.per_address);
            let refusals = Arc::clone(hub.refusals());
            TurnServer::start(Terms::new(own.secret.clone(), peers, limits, refusals))
        });
        let app = App {
            hub: Arc::clone(&hub),
            // Behind a proxy, requests have the proxy's names.
            only_loopback: address.ip().is_loopback()
                && config.security != Security::InsecureHttp
                && gate.is_open(),
            gate: gate.with_tls(is_secure),
            admin: AdminGate::new(config.operator.admin_token.as_deref()),
            origins: Live::new(config.allowed_origins),
            figures: Arc::default(),
            metrics_rooms: config.operator.metrics_rooms,
            ice_servers: Live::new(IceServers::new(config.ice_servers, own_turn)),
        };
        let url = url_of(local_addr, is_secure);
        let urls_elsewhere = urls_elsewhere(local_addr, is_secure);
        let (certificate, fingerprint, renewal) = match certificate {
            Some((it, tls)) => (Some(it), Some(tls.fingerprint), tls.renewal),
            None => (None, None, None),
        };
        let (stop, stopped) = watch::channel(false);
        let (media_ends, media_ended) = watch::channel(false);
        let run = Run {
            listener: http.listener,
            certificate: certificate.clone(),
            beside: BesideHttp {
                turn: turn.transpose()?.map(Arc::new),
                media: streams,
            },
            admin,
            limits: config.limits,
            metrics: metrics.map(|http| (http.listener, routes::operator_router(app.clone()))),
            router: routes::router(app.clone(), config.extra),
            membership,
            hub,
            events,
            recordings,
            compose: config.media.compose,
            media_ends,
            stopped,
        };
        let handle = runtime.handle().clone();
        let thread = thread::Builder::new()
            .name("weft-server".to_owned())
            .spawn(move || {
                runtime.block_on(run.until_stopped());
                runtime.shutdown_timeout(LAST_REQUESTS);
            })
            .map_err(runtime::system)?;
        Ok(ServerHandle {
            local_addr,
            metrics_addr,
            url,
            urls_elsewhere,
            fingerprint,
            renewal,
            app,
            certificate,
            stop,
            media_ended,
            runtime: handle,
            thread: Some(thread),
            forwarding: None,
        })
    }
}

impl ServerHandle {
    /// Media addresses, over UDP; empty with another media plane than the
    /// forwarding one.
    #[must_use]
    pub fn media_addresses(&self) -> &[SocketAddr] {
        self.forwarding.as_ref().map_or(&[], Forwarding::addresses)
    }

    /// Makes a media thread panic, from 0: for tests, in development builds only.
    #[cfg(debug_assertions)]
    #[doc(hidden)]
    pub fn break_plane(&self, number: usize) {
        if let Some(forwarding) = &self.forwarding {
            forwarding.break_plane(number);
        }
    }

    /// Adds a participant of this process to a room. Returns its id; players
    /// also find it by its name.
    ///
    /// # Errors
    /// If a name is invalid, or the room is full.
    pub fn add_resident(&self, resident: &Resident<'_>) -> Result<String, Problem> {
        let who = Arrival {
            room: resident.room,
            name: Some(resident.name),
            kind: resident.kind,
            id: None,
            secret: None,
            origin: &Origin::default(),
        };
        self.app.hub.add_resident(&who, resident.publishing.clone())
    }

    /// Calls `tell` on another thread if the media plane fails: participants can no longer be
    /// heard or seen, and the server is useless. Not called if the server ends first.
    pub fn when_media_ends(&self, tell: impl FnOnce() + Send + 'static) {
        let mut ended = self.media_ended.clone();
        self.runtime.spawn(async move {
            if ended.wait_for(|ended| *ended).await.is_ok() {
                tell();
            }
        });
    }

    /// Returns a function that reloads the certificate for new connections; if it cannot be used,
    /// the previous one stays in use, which is logged. A self-signed one is renewed if it is due.
    pub fn read_certificate(&self) -> impl Fn() + Send + 'static {
        let certificate = self.certificate.clone();
        move || {
            if let Some(certificate) = &certificate {
                certificate.read_again();
            }
        }
    }

    /// Returns a function that changes settings of the running server.
    ///
    /// # Errors
    /// [`ServerError::OpenToAnyOrigin`]; then nothing is changed.
    pub fn reconfigure(
        &self,
    ) -> impl Fn(Reconfiguration) -> Result<(), ServerError> + Send + 'static {
        let app = self.app.clone();
        move |new| {
            if app.gate.is_open() && new.allowed_origins.iter().any(AllowedOrigin::is_any) {
                return Err(ServerError::OpenToAnyOrigin);
            }
            app.gate.set_token(new.token.as_deref());
            app.admin.set_token(new.admin_token.as_deref());
            app.origins.set(new.allowed_origins);
            app.hub.set_limits(new.limits);
            let ice_servers = app.ice_servers.get();
            app.ice_servers.set(ice_servers.with_named(new.ice_servers));
            Ok(())
        }
    }

    /// Admits no more newcomers, notifies the participants, hands them over to the other
    /// servers of the cluster, and waits up to `patience` until they have left. Shut the
    /// server down afterwards.
    pub fn drain(&self, patience: Duration) {
        let hub = &self.app.hub;
        hub.drain(patience);
        self.runtime
            .block_on(hub.until_drained(&self.app.gate, patience));
    }

    /// Ends the server: closes event streams and lets requests finish.
    pub fn shutdown(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Some(webhooks) = self.app.hub.webhooks() {
            webhooks.finish();
        }
    }

    #[cfg(test)]
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.app.hub
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Run {
    listener: TcpListener,
    certificate: Option<Arc<Certificate>>,
    beside: BesideHttp,
    admin: Option<(Listening, Admin)>,
    limits: Limits,
    metrics: Option<(TcpListener, Router)>,
    router: Router,
    membership: Option<(Membership, Gate)>,
    hub: Arc<Hub>,
    events: EventReceiver,
    recordings: Option<UnboundedReceiver<RecordingEvent>>,
    compose: Option<Vec<OsString>>,
    /// Notified at the end of the events.
    media_ends: watch::Sender<bool>,
    stopped: watch::Receiver<bool>,
}

impl Run {
    async fn until_stopped(self) {
        // Registering a bound socket fails only without a runtime.
        let limits = self.limits;
        let start = |listener, certificate, beside| {
            let refusals = Arc::clone(self.hub.refusals());
            Connections::start(listener, certificate, beside, limits, refusals)
        };
        let Ok(connections) = start(self.listener, self.certificate.clone(), self.beside) else {
            return;
        };
        if let Some((listener, router)) = self.metrics
            && let Ok(connections) = start(listener, None, BesideHttp::default())
        {
            tokio::spawn(axum::serve(connections, router).into_future());
        }
        if let Some((socket, admin)) = self.admin {
            tokio::spawn(socket.serve(admin));
        }
        if let Some(certificate) = self.certificate {
            tokio::spawn(watch_certificate(certificate));
        }
        let membership = self.membership.map(|(membership, gate)| {
            let hub = Arc::clone(&self.hub);
            tokio::spawn(membership.run(hub, gate, self.stopped.clone()))
        });
        tokio::spawn(count_refusals(Arc::clone(self.hub.refusals())));
        tokio::spawn(watch_presence(Arc::clone(&self.hub)));
        tokio::spawn(take_events(
            Arc::clone(&self.hub),
            self.events,
            self.media_ends,
        ));
        if let Some(recordings) = self.recordings {
            let hub = Arc::clone(&self.hub);
            tokio::spawn(follow_recordings(hub, recordings, self.compose));
        }
        let mut stopped = self.stopped.clone();
        let hub = self.hub;
        let stop = async move {
            let _ = stopped.wait_for(|stopped| *stopped).await;
            hub.shut();
        };
        let mut deadline = self.stopped;
        let router = self.router.into_make_service_with_connect_info::<Peer>();
        let serve = axum::serve(connections, router).with_graceful_shutdown(stop);
        tokio::select! {
            _ = serve => {}
            () = async {
                let _ = deadline.wait_for(|stopped| *stopped).await;
                tokio::time::sleep(LAST_REQUESTS).await;
            } => {}
        }
        if let Some(membership) = membership {
            let _ = membership.await;
        }
    }
}

/// Removes participants who do not return.
async fn watch_presence(hub: Arc<Hub>) {
    loop {
        let rescheduled = hub.rescheduled.notified();
        match hub.poll_timeout() {
            None => rescheduled.await,
            Some(deadline) => {
                let wait = deadline.at.saturating_since(hub.now());
                tokio::select! {
                    () = rescheduled => {}
                    () = tokio::time::sleep(wait.into()) => hub.handle_timeout(hub.now()),
                }
            }
        }
    }
}

/// Reloads the certificate when its files change.
async fn watch_certificate(certificate: Arc<Certificate>) {
    loop {
        tokio::time::sleep(reload::LOOK).await;
        certificate.look();
    }
}

/// Logs the number of refusals.
async fn count_refusals(refusals: Arc<Refusals>) {
    loop {
        tokio::time::sleep(repeated::INTERVAL).await;
        refusals.end_interval();
    }
}

async fn take_events(hub: Arc<Hub>, mut events: EventReceiver, ends: watch::Sender<bool>) {
    while let Some(event) = events.recv().await {
        hub.handle_media_event(event);
    }
    hub.log().emit(|| ServerEvent::MediaEnded);
    let _ = ends.send(true);
}
