//! `weft token`: tokens for one room and a limited time.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use weft_server::{Grant, May, ServerError, TokenKey};

use crate::exit::{Failure, say};
use crate::state::state_folder;

#[derive(Debug, Args)]
pub struct TokenArgs {
    /// Room that the token opens
    #[arg(long, value_name = "R")]
    pub room: String,
    /// Hours from now during which the token admits participants; those in the
    /// room can stay longer
    #[arg(long, value_name = "N", value_parser = hours)]
    pub hours: Duration,
    /// Allow watching only, not publishing
    #[arg(long)]
    pub watch: bool,
    /// Also allow moderating: muting, removing and admitting participants,
    /// locking the room
    #[arg(long, conflicts_with = "watch")]
    pub moderate: bool,
    #[command(flatten)]
    pub key: TokenKeyArgs,
}

#[derive(Debug, Args)]
pub struct TokenKeyArgs {
    /// Key that signs tokens for rooms, a line of at least 32 characters (default:
    /// token.key in $XDG_STATE_HOME/weft, ~/.local/state/weft); `serve` creates it, and
    /// requires a token if this option is given
    #[arg(long, value_name = "FILE")]
    pub token_key: Option<PathBuf>,
}

const KEY: &str = "token.key";

pub fn run(args: TokenArgs) -> Result<(), Failure> {
    let path = args.key.token_key.or_else(usual_place).ok_or_else(|| {
        Failure::usage("no folder for the server's state is known: name the key with --token-key")
    })?;
    let may = match (args.watch, args.moderate) {
        (true, _) => May::Watch,
        (false, true) => May::Moderate,
        (false, false) => May::TakePart,
    };
    let until = SystemTime::now() + args.hours;
    let grant = Grant::new(&args.room, may, until)
        .map_err(|error| Failure::usage(format!("--room: {error}")))?;
    let token = TokenKey::read(&path)?.sign(&grant);
    // Only the token goes to standard output, for scripts.
    complain!(
        "weft: `weft rooms revoke {}` revokes this token",
        grant.id()
    );
    say(token)
}

/// Returns the key of a server that requires tokens. If the option is not given and the
/// key cannot be stored, the server runs without one.
pub fn key_of_server(
    args: &TokenKeyArgs,
    has_token: bool,
) -> Result<Option<TokenKey>, ServerError> {
    if let Some(path) = &args.token_key {
        return TokenKey::read_or_make(path).map(Some);
    }
    let Some(path) = usual_place().filter(|_| has_token) else {
        return Ok(None);
    };
    Ok(made_at(&path))
}

fn made_at(path: &Path) -> Option<TokenKey> {
    TokenKey::read_or_make(path)
        .inspect_err(|error| {
            complain!("weft: {error}; this server takes no tokens that `weft token` signs");
        })
        .ok()
}

fn usual_place() -> Option<PathBuf> {
    Some(state_folder()?.join(KEY))
}

fn hours(text: &str) -> Result<Duration, String> {
    let remedy = "write hours up to a year's, such as 2 or 0.5";
    let hours: Option<f64> = text.parse().ok();
    hours
        .filter(|hours| *hours > 0.0 && *hours <= 8784.0)
        .map(|hours| Duration::from_secs_f64(hours * 3600.0))
        .ok_or_else(|| remedy.to_owned())
}
