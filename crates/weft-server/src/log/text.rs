//! Texts of the events for the log.

use super::{NotAccepted, ServerEvent};
use std::fmt;

impl fmt::Display for ServerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = |publishes: &bool| if *publishes { "publishing" } else { "playing" };
        match self {
            ServerEvent::Joined { room, id, name, .. } => {
                write!(f, "{room}: {id} joined as {name:?}")
            }
            ServerEvent::Left { room, id } => write!(f, "{room}: {id} left"),
            ServerEvent::Connected {
                room,
                id,
                publishes,
            } => write!(f, "{room}: {id} began {}", does(publishes)),
            ServerEvent::Ended {
                room,
                id,
                publishes,
                reason,
            } => write!(f, "{room}: {id} ended {}: {reason}", does(publishes)),
            ServerEvent::Refused {
                status,
                error,
                from,
            } => {
                write!(f, "refused with {status}")?;
                if let Some(from) = from {
                    write!(f, " to {from}")?;
                }
                write!(f, ": {error}")
            }
            ServerEvent::RefusedMore {
                status,
                kind,
                times,
                seconds,
            } => {
                write!(f, "refused with {status} ")?;
                if !kind.is_empty() {
                    write!(f, "({kind}) ")?;
                }
                write!(f, "{times} more times in {seconds} s")
            }
            ServerEvent::NotAccepted {
                reason,
                times,
                seconds,
            } => {
                match reason {
                    NotAccepted::Descriptors => f.write_str(
                        "cannot accept HTTP connections: this process has no file descriptor left \
                         (raise `ulimit -n` or LimitNOFILE=)",
                    ),
                    NotAccepted::Limit => {
                        f.write_str("the limit of HTTP connections is reached: further ones wait")
                    }
                    NotAccepted::Address => f.write_str(
                        "an HTTP connection was closed: its address has reached its limit",
                    ),
                    NotAccepted::Replaced => f.write_str(
                        "the limit of HTTP connections is reached: silent ones without a token \
                         are closed for new ones",
                    ),
                }?;
                match seconds {
                    0 => Ok(()),
                    _ => write!(f, "; {times} more times in {seconds} s"),
                }
            }
            ServerEvent::Removed { room, id } => write!(f, "{room}: the operator removed {id}"),
            ServerEvent::Muted { room, id } => write!(f, "{room}: the operator muted {id}"),
            ServerEvent::Closed { room } => write!(f, "{room}: the operator closed it"),
            ServerEvent::Opened { room } => write!(f, "{room}: the operator opened it"),
            ServerEvent::Revoked { token } => write!(f, "the operator revoked token {token}"),
            ServerEvent::NoAdmin { error } => {
                write!(f, "`weft rooms` cannot reach this server: {error}")
            }
            ServerEvent::CertificateRead { fingerprint } => {
                write!(f, "reloaded the certificate; SHA-256 {fingerprint}")
            }
            ServerEvent::CertificateNotRead { error } => {
                write!(
                    f,
                    "the new certificate cannot be used, so the old one stays in use: {error}"
                )
            }
            ServerEvent::ConfigurationRead { changed, restart } => {
                let list = |names: &[String]| match names {
                    [] => "nothing".to_owned(),
                    names => names.join(", "),
                };
                write!(f, "reloaded the configuration; changed: {}", list(changed))?;
                match &restart[..] {
                    [] => Ok(()),
                    names => write!(f, "; restart the server for: {}", list(names)),
                }
            }
            ServerEvent::ConfigurationNotRead { error } => write!(
                f,
                "the new configuration cannot be used, so the old one stays in effect: {error}"
            ),
            ServerEvent::RecordingStarted { room, folder } => {
                write!(f, "{room}: recording into {folder}")
            }
            ServerEvent::RecordingStopped { room } => write!(f, "{room}: the recording ended"),
            ServerEvent::RecordingFailed { room, error } => {
                write!(
                    f,
                    "{room}: the recording stopped, its files are kept: {error}"
                )
            }
            ServerEvent::NotRecorded { room, codec } => {
                write!(f, "{room}: pictures in {codec} are not recorded")
            }
            ServerEvent::RecordingSlow { room, packets } => write!(
                f,
                "{room}: the disk is too slow: {packets} packets are missing in the recording"
            ),
            ServerEvent::RecordingComposed { room, film, error } => match film {
                Some(film) => write!(f, "{room}: the film of the recording is {film}"),
                None => {
                    let error = error.as_deref().unwrap_or_default();
                    write!(f, "{room}: the recording has no film: {error}")
                }
            },
            ServerEvent::WebhookFailed { error } => {
                write!(f, "the webhook fails and is tried again: {error}")
            }
            ServerEvent::WebhookDropped { error } => {
                write!(f, "the webhook loses events: {error}")
            }
            ServerEvent::Draining { seconds } => {
                write!(
                    f,
                    "admitting no newcomers; waiting up to {seconds} s for participants to leave"
                )
            }
            ServerEvent::HandedOver {
                room,
                node,
                participants,
            } => write!(
                f,
                "{room}: asked {participants} {} to move to server {node}",
                if *participants == 1 {
                    "participant"
                } else {
                    "participants"
                }
            ),
            ServerEvent::MediaEnded => f.write_str("the media side failed because of a bug"),
            ServerEvent::Cluster { change } => write!(f, "cluster: {change}"),
        }
    }
}
