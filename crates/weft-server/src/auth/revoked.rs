//! Revoked tokens, stored in a file to survive a restart.

use super::grant::{Grant, TokenId};
use crate::error::ServerError;
use crate::private_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use thiserror::Error;
use tokio::sync::mpsc;

/// File in the server's state folder.
const FILE: &str = "revoked.json";
/// Maximum number of tokens on the list, one megabyte. Chosen by us: to revoke more,
/// change the key.
const MOST: usize = 10_000;
/// Time for which a token with an unknown end stays on the list: longer than
/// any token we sign (`weft token --hours`).
pub(crate) const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// List of revoked tokens. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Revoked {
    /// File of the list; `None` if it is only in memory.
    file: Option<PathBuf>,
    /// Ids, each with the end of the token in seconds since 1970.
    tokens: Arc<Mutex<BTreeMap<TokenId, u64>>>,
    /// Receiver of newly revoked tokens, for the other servers of a cluster.
    told: Option<mpsc::UnboundedSender<(TokenId, u64)>>,
}

/// Reason why a token was not revoked.
#[derive(Debug, Error)]
pub(crate) enum RevokeError {
    #[error("{MOST} tokens are on the list already")]
    Full,
    #[error("the list cannot be written: {0}")]
    Unwritten(#[from] io::Error),
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    tokens: BTreeMap<TokenId, u64>,
}

impl Revoked {
    /// Reads the list from the server's state folder, if it has one.
    ///
    /// # Errors
    /// If the list exists and cannot be read: without it, revoked tokens would be admitted again.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Revoked, ServerError> {
        let Some(file) = folder.map(|folder| folder.join(FILE)) else {
            return Ok(Revoked::default());
        };
        let unreadable = |error: io::Error| ServerError::ListUnreadable {
            path: file.clone(),
            reason: error.to_string(),
        };
        let tokens = read(&file).map_err(unreadable)?.tokens;
        Ok(Revoked {
            tokens: Arc::new(Mutex::new(tokens)),
            file: Some(file),
            told: None,
        })
    }

    /// Returns a receiver of the tokens that are revoked from now on, with their ends in
    /// seconds since 1970.
    pub(crate) fn told(&mut self) -> mpsc::UnboundedReceiver<(TokenId, u64)> {
        let (told, tokens) = mpsc::unbounded_channel();
        self.told = Some(told);
        tokens
    }

    /// Whether the token or one of its ancestors is revoked.
    pub(crate) fn has(&self, grant: &Grant) -> bool {
        let tokens = self.lock();
        grant.line().any(|id| tokens.contains_key(id))
    }

    /// Revokes a token that expires at `until`. Expired tokens are removed from
    /// the list.
    pub(crate) fn add(
        &self,
        id: TokenId,
        until: SystemTime,
        now: SystemTime,
    ) -> Result<(), RevokeError> {
        let ends = seconds(until);
        self.change(now, |all| {
            if all.len() >= MOST && !all.contains_key(&id) {
                return Err(RevokeError::Full);
            }
            all.insert(id.clone(), ends);
            Ok(())
        })?;
        if let Some(told) = &self.told {
            // The receiver is gone while the server ends.
            let _ = told.send((id, ends));
        }
        Ok(())
    }

    /// Adds tokens that other servers have revoked, with their ends in seconds
    /// since 1970. Returns those that are new, even if they could not be stored.
    pub(crate) fn take(
        &self,
        others: Vec<(TokenId, u64)>,
        now: SystemTime,
    ) -> (Vec<TokenId>, Result<(), RevokeError>) {
        let is_new = |id: &TokenId| !self.lock().contains_key(id);
        let new: Vec<TokenId> = others.iter().map(|(id, _)| id.clone()).collect();
        let new: Vec<TokenId> = new.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return (new, Ok(()));
        }
        let taken = self.change(now, |all| {
            all.extend(others);
            match all.len() > MOST {
                true => Err(RevokeError::Full),
                false => Ok(()),
            }
        });
        (new, taken)
    }

    /// Revoked tokens after this one, up to `most`, with their ends in seconds since 1970.
    pub(crate) fn after(&self, id: Option<&TokenId>, most: usize) -> Vec<(TokenId, u64)> {
        let tokens = self.lock();
        let later = tokens.iter().filter(|(next, _)| Some(*next) > id);
        later
            .take(most)
            .map(|(id, end)| (id.clone(), *end))
            .collect()
    }

    /// Changes the list, in memory and in its file.
    fn change(
        &self,
        now: SystemTime,
        change: impl FnOnce(&mut BTreeMap<TokenId, u64>) -> Result<(), RevokeError>,
    ) -> Result<(), RevokeError> {
        let mut tokens = self.lock();
        // Another server that shares the folder may have added some.
        let folder = self.file.as_deref().and_then(Path::parent);
        let _alone = folder.map(private_file::lock).transpose()?;
        let kept = self.file.as_deref().map(read).transpose()?;
        let mut all = kept.map_or_else(|| tokens.clone(), |kept| kept.tokens);
        all.retain(|_, until| *until > seconds(now));
        change(&mut all)?;
        let content = Content { tokens: all };
        if let Some(file) = &self.file {
            let json = serde_json::to_string_pretty(&content).map_err(io::Error::from)?;
            private_file::replace(file, &(json + "\n"))?;
        }
        *tokens = content.tokens;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TokenId, u64>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the list of a file; empty if the file does not exist.
fn read(file: &Path) -> io::Result<Content> {
    match std::fs::read_to_string(file) {
        Ok(json) => Ok(serde_json::from_str(&json)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::default()),
        Err(error) => Err(error),
    }
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::grant::May;
    use std::os::unix::fs::PermissionsExt;

    const HOUR: Duration = Duration::from_secs(3600);

    fn grant(until: SystemTime) -> Grant {
        Grant::new("r", May::Watch, until).unwrap()
    }

    #[test]
    fn a_token_that_was_taken_back_stays_so_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let (first, other) = (grant(now + HOUR), grant(now + 3 * HOUR));
        let revoked = Revoked::open(Some(folder.path())).unwrap();
        revoked.add(first.id().clone(), first.until, now).unwrap();
        let guest = first.invite(&grant(now + HOUR)).unwrap();
        for list in [&revoked, &Revoked::open(Some(folder.path())).unwrap()] {
            assert!(list.has(&first) && list.has(&guest));
            assert!(!list.has(&other));
        }
        // Another server with the same folder.
        let second = Revoked::open(Some(folder.path())).unwrap();
        let third = grant(now + 3 * HOUR);
        second.add(third.id().clone(), third.until, now).unwrap();
        revoked
            .add(other.id().clone(), other.until, now + 2 * HOUR)
            .unwrap();
        assert!(revoked.has(&third) && revoked.has(&other));
        assert!(!revoked.has(&first), "it has ended");
        let file = folder.path().join(FILE);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(&file, "{").unwrap();
        assert!(Revoked::open(Some(folder.path())).is_err());
    }

    #[test]
    fn the_list_has_an_end_and_drops_what_has_ended() {
        let revoked = Revoked::default();
        let now = SystemTime::now();
        let end = seconds(now) + 3600;
        let full = (0..MOST).map(|n| (TokenId::try_from(n.to_string()).unwrap(), end));
        *revoked.lock() = full.collect();
        let one = grant(now + 2 * HOUR);
        let add = |now| revoked.add(one.id().clone(), one.until, now);
        assert!(matches!(add(now), Err(RevokeError::Full)));
        assert!(!revoked.has(&one));
        add(now + HOUR).unwrap();
        assert_eq!(revoked.lock().len(), 1);
    }
}
