use super::{Answer, FOLDER, LONGEST_QUESTION, Order, PATIENCE};
use crate::auth::{Gate, TokenId};
use crate::hub::Hub;
use crate::log::ServerEvent;
use crate::private_file;
use crate::problem::Problem;
use std::fs::Permissions;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener as Listener, UnixStream as Stream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

/// Maximum time for which a participant is kept out: a day. To keep them out longer,
/// revoke their token. Chosen by us.
const LONGEST_BAR: u64 = 24 * 3600;

/// Bound socket, which is deleted on drop.
pub(crate) struct Listening {
    listener: Listener,
    path: PathBuf,
}

/// Server that executes the orders.
pub(crate) struct Admin {
    pub(crate) hub: Arc<Hub>,
    pub(crate) gate: Gate,
}

impl Listening {
    /// Binds the socket of the server that listens at `address`. The address
    /// makes the name unique, since two servers cannot share one. Replaces the
    /// socket of an earlier server.
    pub(crate) fn start(state: &Path, address: SocketAddr) -> io::Result<Listening> {
        let folder = state.join(FOLDER);
        private_file::folder(&folder)?;
        // Other users must not enter the folder, and so not reach the socket
        // before its mode is set.
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        let path = folder.join(format!("{address}.sock"));
        if Stream::connect(&path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let _ = std::fs::remove_file(&path);
        let listener = Listener::bind(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Listening { listener, path })
    }

    /// Answers the questions of each connection in order. Needs a tokio
    /// runtime.
    pub(crate) async fn serve(self, admin: Admin) {
        let Ok(listener) = self.listener.try_clone().and_then(UnixListener::from_std) else {
            return;
        };
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let answered = answer(stream, &admin);
                    let _ = tokio::time::timeout(PATIENCE, answered).await;
                }
                // No file descriptor is left; retry later.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn answer(stream: UnixStream, admin: &Admin) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut question = String::new();
    (&mut stream)
        .take(LONGEST_QUESTION)
        .read_line(&mut question)
        .await?;
    let answer = match serde_json::from_str(&question) {
        Ok(order) => admin.carry_out(order).unwrap_or_else(refused),
        Err(error) => Answer::Refused {
            error: format!("The server does not know this order: {error}."),
            remedy: "Use the `weft` that runs as the server.".to_owned(),
        },
    };
    let mut line = serde_json::to_string(&answer)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).await
}

impl Admin {
    pub(crate) fn carry_out(&self, order: Order) -> Result<Answer, Problem> {
        let length = |seconds: u64| weft_units::Duration::from_secs(seconds.min(LONGEST_BAR));
        Ok(match order {
            Order::List => Answer::Rooms(self.hub.report()),
            Order::Remove {
                room,
                participant,
                seconds,
            } => {
                let room = weft_rooms::room_name(&room)?;
                let removed = self.hub.remove(&room, &participant, length(seconds));
                let (id, name) = removed?;
                self.hub.log().emit(|| ServerEvent::Removed {
                    room,
                    id: id.clone(),
                });
                Answer::Removed { id, name }
            }
            Order::Close { room, seconds } => {
                let room = weft_rooms::room_name(&room)?;
                let length = length(seconds);
                let removed = self.hub.close_room(&room, length);
                self.hub
                    .log()
                    .emit(|| match length == weft_units::Duration::ZERO {
                        true => ServerEvent::Opened { room },
                        false => ServerEvent::Closed { room },
                    });
                Answer::Closed { removed }
            }
            Order::Open { room } => {
                let room = weft_rooms::room_name(&room)?;
                self.hub.open_room(&room);
                self.hub.log().emit(|| ServerEvent::Opened { room });
                Answer::Opened {}
            }
            Order::Mute { room, participant } => {
                let room = weft_rooms::room_name(&room)?;
                let (id, name) = self.hub.mute_for_operator(&room, &participant)?;
                self.hub.log().emit(|| ServerEvent::Muted {
                    room,
                    id: id.clone(),
                });
                Answer::Muted { id, name }
            }
            Order::Revoke { token } => {
                let is_inside = |id: &TokenId| self.hub.has_token(id);
                let id = self.gate.revoke(&token, is_inside, SystemTime::now())?;
                let removed = self.hub.end_token(&id);
                let token = id.to_string();
                self.hub.log().emit(|| ServerEvent::Revoked { token });
                Answer::Revoked { id, removed }
            }
        })
    }
}

fn refused(problem: Problem) -> Answer {
    Answer::Refused {
        error: problem.error,
        remedy: problem.remedy,
    }
}
