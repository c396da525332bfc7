//! Servers of a cluster, which find each other through NATS. Each announces its
//! participants to the others, over core subjects: `weft.CLUSTER.all` for events and
//! heartbeats, `weft.CLUSTER.ask.NODE` for the state of one server, `act` for moderators,
//! `recordings` for lists, and `pull` and `accept` for the descriptions of a media
//! connection. Media never passes through NATS.

mod fetch;
mod load;
mod member;
mod message;
mod pulls;
mod recordings;
mod roster;

use crate::auth::{Gate, TokenId};
use crate::cluster_address::{ClusterConfig, NatsLogin};
use crate::error::ClusterError;
use crate::hub::{ActionWanted, Cluster, ClusterEvent, ClusterNotice, Hub, Vacancies};
use crate::secret::unguessable;
use async_nats::connection::State;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Subject, Subscriber};
use fetch::Fetch;
use futures_core::Stream;
use member::Member;
use message::{Ask, Beat, Content, Envelope, PROTOCOL};
use pulls::Pulls;
use roster::{BEAT, Mismatch, Own, Roster};
use serde::Serialize;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Time for which a server listens to the others before it joins them: two heartbeats of each.
const LOOK: Duration = Duration::from_millis(1100);
/// Time limit for an answer of NATS at the start.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause before each attempt to reconnect: shorter than the time for which the others
/// wait for a server after NATS was unreachable.
const AGAIN: Duration = Duration::from_millis(500);
/// Silence after which NATS is pinged; the connection counts as broken after two
/// unanswered pings.
const PING: Duration = Duration::from_secs(2);
/// Maximum number of attempts to make another server act. Chosen by us.
const ATTEMPTS: usize = 3;
/// Time limit for the last message.
const LAST: Duration = Duration::from_millis(500);

/// Connection to NATS of a server that may join its cluster.
pub(crate) struct Membership {
    client: Client,
    messages: Subscriber,
    /// Requests to this server.
    requests: Subscriber,
    /// Start of the names of all subjects.
    prefix: String,
    own: Own,
    started: Instant,
    notices: mpsc::UnboundedReceiver<ClusterNotice>,
    tokens: mpsc::UnboundedReceiver<(TokenId, u64)>,
    /// Number of events sent.
    sent: u64,
}

impl Membership {
    /// Connects to NATS and checks that this server can join the cluster. `keys` is the
    /// mark of its token keys, and `tokens` receives the tokens that it revokes. Also
    /// returns the hub's side of the membership.
    ///
    /// # Errors
    /// See [`ClusterError`].
    pub(crate) async fn join(
        config: &ClusterConfig,
        keys: String,
        tokens: mpsc::UnboundedReceiver<(TokenId, u64)>,
    ) -> Result<(Membership, Cluster), ClusterError> {
        let client = connect(config).await?;
        let nats = &config.address.nats;
        let unreachable = |error: &dyn std::fmt::Display| ClusterError::Unreachable {
            nats: nats.clone(),
            reason: error.to_string(),
        };
        let own = Own {
            node: config.node.as_str().to_owned(),
            run: unguessable(),
            keys,
        };
        let prefix = format!("weft.{}", config.address.name);
        let subscribe = |subject: String| client.subscribe(subject);
        let messages = subscribe(format!("{prefix}.all")).await;
        let mut messages = messages.map_err(|e| unreachable(&e))?;
        let requests = subscribe(format!("{prefix}.*.{}", own.node)).await;
        let requests = requests.map_err(|e| unreachable(&e))?;
        let looked = timeout(LOOK, look_around(&mut messages, &own)).await;
        looked.unwrap_or(Ok(()))?;
        let (sender, notices) = mpsc::unbounded_channel();
        let (url, region) = (config.public_url.as_ref(), config.region.as_ref());
        let vacancies = Vacancies::new(
            url.map(|url| url.as_str().to_owned()),
            region.map(|region| region.as_str().to_owned()),
            config.origins.clone(),
        );
        let cluster = Cluster::new(own.node.clone(), vacancies, sender);
        let membership = Membership {
            client,
            messages,
            requests,
            prefix,
            own,
            started: Instant::now(),
            notices,
            tokens,
            sent: 0,
        };
        Ok((membership, cluster))
    }

    /// Takes part in the cluster until the server stops.
    pub(crate) async fn run(
        mut self,
        hub: Arc<Hub>,
        gate: Gate,
        mut stopped: watch::Receiver<bool>,
    ) {
        let (fetched, mut answers) = mpsc::channel(64);
        let (outcomes, mut pulled) = mpsc::channel(64);
        let mut pulls = Pulls {
            hub: Arc::clone(&hub),
            client: self.client.clone(),
            prefix: self.prefix.clone(),
            all: BTreeMap::new(),
            outcomes,
        };
        let mut measures = JoinSet::new();
        measures.spawn(load::measure(Arc::clone(&hub)));
        let mut member = Member {
            roster: Roster::new(self.own.clone(), hub.now()),
            is_reachable: true,
            fetch: Fetch {
                client: self.client.clone(),
                prefix: self.prefix.clone(),
                fetched,
            },
            hub,
            gate,
        };
        let mut beats = interval(BEAT.into());
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = beats.tick() => {
                    self.send(Content::Beat(self.beat(&member.hub))).await;
                    member.check_reachable();
                    pulls.look();
                }
                message = next(&mut self.messages) => {
                    let Some(message) = message else { return };
                    let age = self.age();
                    // Other programs may use the subject, too.
                    let message = serde_json::from_slice(&message.payload);
                    if message.is_ok_and(|message| !member.handle(age, message)) {
                        return;
                    }
                }
                request = next(&mut self.requests) => {
                    let Some(request) = request else { return };
                    self.answer(&member, request).await;
                }
                notice = self.notices.recv() => match notice {
                    Some(ClusterNotice::Event(event)) => self.send_event(event).await,
                    Some(ClusterNotice::Action(node, wanted)) => self.ask_for(node, wanted),
                    Some(ClusterNotice::Viewers) => pulls.look(),
                    Some(ClusterNotice::Recordings(room, reply)) => {
                        let via = (self.client.clone(), self.prefix.clone());
                        let nodes = member.roster.nodes().collect();
                        tokio::spawn(recordings::ask_all(via, nodes, room, reply));
                    }
                    Some(ClusterNotice::Ended(resource)) => pulls.end(&resource),
                    None => {}
                },
                pulled = pulled.recv() => {
                    if let Some(pulled) = pulled {
                        pulls.take(pulled);
                    }
                }
                token = self.tokens.recv() => {
                    if let Some((token, until)) = token {
                        self.send_event(ClusterEvent::Revoked { token, until }).await;
                    }
                }
                answer = answers.recv() => {
                    if let Some(answer) = answer {
                        member.take(answer);
                    }
                }
                () = until(&mut stopped) => {
                    self.send(Content::Bye).await;
                    let _ = timeout(LAST, self.client.flush()).await;
                    return;
                }
            }
        }
    }

    fn age(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn beat(&self, hub: &Hub) -> Beat {
        Beat {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            keys: self.own.keys.clone(),
            age: self.age(),
            vacancy: hub.vacancy(),
        }
    }

    async fn send_event(&mut self, event: ClusterEvent) {
        self.sent += 1;
        self.send(Content::Event(event)).await;
    }

    /// Sends a message to all servers. Messages are lost while NATS is unreachable: the
    /// others notice by their numbers that some are missing.
    async fn send(&self, content: Content) {
        let envelope = Envelope {
            node: self.own.node.clone(),
            run: self.own.run.clone(),
            sent: self.sent,
            content,
        };
        let subject = format!("{}.all", self.prefix);
        self.publish(subject, &envelope).await;
    }

    async fn publish(&self, subject: String, message: &impl Serialize) {
        // All messages serialise. Without a connection, the client would keep them.
        if self.client.connection_state() == State::Connected
            && let Ok(json) = serde_json::to_vec(message)
        {
            let _ = self.client.publish(subject, json.into()).await;
        }
    }

    /// Requests an action from another server for a moderator of this one, a few times if
    /// it does not answer.
    fn ask_for(&self, node: String, wanted: ActionWanted) {
        let client = self.client.clone();
        let subject = format!("{}.act.{node}", self.prefix);
        tokio::spawn(async move {
            for _ in 0..ATTEMPTS {
                if let Some(true) = fetch::request(&client, &subject, &wanted).await {
                    return;
                }
            }
        });
    }

    /// Answers a request from another server; the second part of its subject is the kind
    /// of request.
    async fn answer(&self, member: &Member, request: async_nats::Message) {
        let Some(to) = request.reply.clone() else {
            return;
        };
        let (client, hub) = (self.client.clone(), Arc::clone(&member.hub));
        let json = &request.payload;
        let what = request.subject.strip_prefix(&*self.prefix);
        match what.and_then(|rest| rest.split('.').nth(1)) {
            Some("ask") => {
                let ask = serde_json::from_slice::<Ask>(json).ok();
                if let Some(ask) = ask.filter(|ask| ask.run == self.own.run) {
                    let page = member.page(self.sent, ask.after);
                    self.publish(to.to_string(), &page).await;
                }
            }
            Some("act") => {
                if let Ok(wanted) = serde_json::from_slice(json) {
                    member.act(wanted);
                    self.publish(to.to_string(), &true).await;
                }
            }
            Some("recordings") => {
                if let Ok(wanted) = serde_json::from_slice(json) {
                    tokio::spawn(async move {
                        if let Some(page) = recordings::page(hub, wanted).await {
                            reply(&client, to, &page).await;
                        }
                    });
                }
            }
            Some("pull") => {
                if let Ok(pull) = serde_json::from_slice(json) {
                    tokio::spawn(async move {
                        let offered = pulls::offer(hub, pull).await;
                        reply(&client, to, &offered).await;
                    });
                }
            }
            Some("accept") => {
                if let Ok(answer) = serde_json::from_slice(json) {
                    tokio::spawn(async move {
                        let is_accepted = pulls::accept(hub, answer).await;
                        reply(&client, to, &is_accepted).await;
                    });
                }
            }
            _ => {}
        }
    }
}

async fn reply(client: &Client, to: Subject, answer: &impl Serialize) {
    if let Ok(json) = serde_json::to_vec(answer) {
        let _ = client.publish(to, json.into()).await;
    }
}

async fn connect(config: &ClusterConfig) -> Result<Client, ClusterError> {
    let address = &config.address;
    let options = ConnectOptions::new()
        .name(format!("weft {}", config.node.as_str()))
        .connection_timeout(PATIENCE)
        .ping_interval(PING)
        .reconnect_delay_callback(|_| AGAIN);
    let options = match address.login.clone() {
        Some(NatsLogin::Password { user, password }) => options.user_and_password(user, password),
        Some(NatsLogin::Token(token)) => options.token(token),
        None => options,
    };
    let nats = address.nats.clone();
    options.connect(&nats).await.map_err(|e| match e.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            ClusterError::Denied { nats }
        }
        // rustls takes the greeting of NATS for a broken message.
        _ if nats.starts_with("tls:") && e.to_string().contains("InvalidContentType") => {
            ClusterError::WithoutTls { nats }
        }
        _ => ClusterError::Unreachable {
            nats,
            reason: e.to_string(),
        },
    })
}

/// Listens until a server of the cluster shows that this one cannot join it.
async fn look_around(messages: &mut Subscriber, own: &Own) -> Result<(), ClusterError> {
    while let Some(message) = next(messages).await {
        let Ok(envelope) = serde_json::from_slice::<Envelope>(&message.payload) else {
            continue;
        };
        let (node, Content::Beat(beat)) = (envelope.node, envelope.content) else {
            continue;
        };
        match own.check(&beat) {
            Ok(()) if node == own.node => return Err(ClusterError::NameTaken { node }),
            Ok(()) => {}
            Err(Mismatch::Keys) => return Err(ClusterError::OtherKeys { node }),
            Err(Mismatch::Protocol { version }) => {
                return Err(ClusterError::OtherVersion { node, version });
            }
        }
    }
    Ok(())
}

/// Returns the next message of a subject; `None` at the end of the connection.
async fn next(messages: &mut Subscriber) -> Option<async_nats::Message> {
    std::future::poll_fn(|cx| Pin::new(&mut *messages).poll_next(cx)).await
}

/// Waits for the end of the server.
async fn until(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}
