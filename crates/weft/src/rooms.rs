//! `weft rooms`: rooms of a server on this machine.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use weft_server::{Answer, Order, ParticipantReport, RoomReport, admin_ask, admin_sockets};

use crate::exit::{Failure, say, say_json};
use crate::state::state_folder;

#[derive(Debug, Args)]
pub struct RoomsArgs {
    #[command(subcommand)]
    pub action: Action,
    /// Folder with the server's state (default: $XDG_STATE_HOME/weft,
    /// ~/.local/state/weft); the service uses /var/lib/weft
    #[arg(long, global = true, value_name = "FOLDER")]
    pub state: Option<PathBuf>,
    /// Address that the server listens on, if several servers run
    #[arg(long, global = true, value_name = "ADDRESS:PORT")]
    pub server: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List rooms and participants, with the ids of their tokens
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a participant: closes their connections and, for some minutes, refuses
    /// newcomers with the same signed token, or from the same address if they had none
    Remove {
        /// Name of the room
        room: String,
        /// Id or name of the participant
        participant: String,
        #[command(flatten)]
        exclusion: Exclusion,
    },
    /// Mute a participant until they unmute themselves
    Mute {
        /// Name of the room
        room: String,
        /// Id or name of the participant
        participant: String,
    },
    /// Remove everybody from a room and close it for some minutes; 0 opens it
    /// again
    Close {
        /// Name of the room
        room: String,
        #[command(flatten)]
        exclusion: Exclusion,
    },
    /// Revoke a signed token permanently, with its bearers' tokens for guests: closes
    /// their connections and rejects the tokens
    Revoke {
        /// Token, or its id
        token: String,
    },
}

#[derive(Debug, Args)]
pub struct Exclusion {
    /// Minutes until they can rejoin, up to a day
    #[arg(long, value_name = "N", default_value = "10", value_parser = minutes)]
    minutes: u64,
}

fn minutes(text: &str) -> Result<u64, String> {
    let whole: Option<u64> = text.parse().ok();
    let remedy = "write whole minutes, at most 1440 (a day), such as 10";
    whole
        .filter(|minutes| *minutes <= 1440)
        .ok_or_else(|| remedy.to_owned())
}

pub fn run(args: RoomsArgs) -> Result<(), Failure> {
    let seconds = |exclusion: &Exclusion| exclusion.minutes * 60;
    let order = match &args.action {
        Action::List { .. } => Order::List,
        Action::Remove {
            room,
            participant,
            exclusion,
        } => Order::Remove {
            room: room.clone(),
            participant: participant.clone(),
            seconds: seconds(exclusion),
        },
        Action::Mute { room, participant } => Order::Mute {
            room: room.clone(),
            participant: participant.clone(),
        },
        Action::Close { room, exclusion } => Order::Close {
            room: room.clone(),
            seconds: seconds(exclusion),
        },
        Action::Revoke { token } => Order::Revoke {
            token: token.clone(),
        },
    };
    let answers = ask_all(&args, &order)?;
    if let Action::List { json: true } = args.action {
        let rooms = answers.iter().flat_map(|(_, answer)| match answer {
            Answer::Rooms(rooms) => &rooms[..],
            _ => &[],
        });
        let rooms: Vec<&RoomReport> = rooms.collect();
        return say_json(serde_json::to_string_pretty(&rooms).map_err(Failure::run)?);
    }
    let several = answers.len() > 1;
    for (address, answer) in answers {
        if several {
            say(format_args!("{address}:"))?;
        }
        tell(&args.action, answer)?;
    }
    Ok(())
}

fn tell(action: &Action, answer: Answer) -> Result<(), Failure> {
    match answer {
        Answer::Rooms(rooms) if rooms.is_empty() => say("no participants in any room"),
        Answer::Rooms(rooms) => rooms.iter().try_for_each(list),
        Answer::Removed { id, name } => say(format_args!("removed {name} ({id})")),
        Answer::Muted { id, name } => say(format_args!("muted {name} ({id})")),
        Answer::Opened {} => say("open"),
        Answer::Closed { removed } => match action {
            Action::Close { exclusion, .. } if exclusion.minutes == 0 => say("open"),
            _ => say(format_args!("closed; participants removed: {removed}")),
        },
        // The server stores only revoked tokens.
        Answer::Revoked { id, removed: 0 } => say(format_args!(
            "token {id} is revoked; nobody inside has it: `weft rooms list` shows the ids of those \
             who do"
        )),
        Answer::Revoked { id, removed } => say(format_args!(
            "token {id} is revoked; participants removed: {removed}"
        )),
        Answer::Refused { error, remedy } => Err(Failure::usage(format!("{error} {remedy}"))),
    }
}

fn list(room: &RoomReport) -> Result<(), Failure> {
    let closed = room.closed_for.map_or(String::new(), |seconds| {
        format!(", closed for {} min", seconds.div_ceil(60))
    });
    let count = room.participants.len();
    say(format_args!("{}: {count}{closed}", room.room))?;
    let rows: Vec<[String; 6]> = room.participants.iter().map(row).collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in &rows {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("  {cell:width$}"));
        say(cells.collect::<String>().trim_end())?;
    }
    Ok(())
}

/// Formats a row: id, name, published tracks, token, address, and time since joining.
fn row(who: &ParticipantReport) -> [String; 6] {
    let publishing = &who.publishing;
    let sends = match (publishing.cameras.len(), publishing.audio) {
        (0, false) => "sends nothing".to_owned(),
        (0, true) => "sends sound".to_owned(),
        (cameras, sound) => {
            let cameras = if cameras == 1 {
                String::new()
            } else {
                format!(" of {cameras} cameras")
            };
            format!("sends video{cameras}{}", if sound { ", sound" } else { "" })
        }
    };
    let token = who.token.as_ref();
    let from = who
        .from
        .map_or("this machine".to_owned(), |ip| ip.to_string());
    [
        who.id.clone(),
        who.name.clone(),
        sends,
        token.map_or("no signed token".to_owned(), |id| format!("token {id}")),
        format!("from {from}"),
        format!("for {} s", who.seconds),
    ]
}

/// Sends the order to the selected server. Lists cover all servers; servers
/// with the same state share the key, so a token is revoked on all of them.
fn ask_all(args: &RoomsArgs, order: &Order) -> Result<Vec<(String, Answer)>, Failure> {
    let folder = args.state.clone().or_else(state_folder).ok_or_else(|| {
        Failure::usage("no folder for the server's state is known: name it with --state")
    })?;
    let unreadable = |error: std::io::Error| unreadable(&folder, &error);
    let mut sockets = admin_sockets(&folder).map_err(unreadable)?;
    if let Some(wanted) = &args.server {
        sockets.retain(|(address, _)| address == wanted);
    }
    // A socket without a listener is left over from a crashed server.
    let probe = |socket: &Path| match std::os::unix::net::UnixStream::connect(socket) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(false),
        Err(error) => Err(error),
    };
    let mut running = Vec::new();
    for (address, socket) in sockets {
        if probe(&socket).map_err(unreadable)? {
            running.push((address, socket));
        }
    }
    let names: Vec<&str> = running.iter().map(|(address, _)| &**address).collect();
    match (&names[..], order) {
        ([], _) => return Err(nobody(&folder, args.server.as_deref())),
        ([_, _, ..], Order::Remove { .. } | Order::Mute { .. } | Order::Close { .. }) => {
            return Err(Failure::usage(format!(
                "several servers are running: choose one with --server ({})",
                names.join(", ")
            )));
        }
        _ => {}
    }
    let mut answers = Vec::new();
    for (address, socket) in running {
        let answer = admin_ask(&socket, order).map_err(unreadable)?;
        answers.push((address, answer));
    }
    Ok(answers)
}

fn nobody(folder: &Path, server: Option<&str>) -> Failure {
    let which = server.map_or(String::new(), |address| format!(" at {address}"));
    Failure::usage(format!(
        "no `weft serve` runs{which} with its state in {}: name its folder with --state \
         (/var/lib/weft of the service), or its user with sudo",
        folder.display()
    ))
}

fn unreadable(folder: &Path, error: &std::io::Error) -> Failure {
    let remedy = match error.kind() {
        ErrorKind::PermissionDenied => ": run it as the server's user, or with sudo",
        _ => "",
    };
    Failure::machine(format!("{}: {error}{remedy}", folder.display()))
}
