use super::*;
use crate::auth::{Revoked, TokenKey};

const HOUR: Duration = Duration::from_secs(3600);

fn key() -> TokenKey {
    let folder = tempfile::tempdir().unwrap();
    TokenKey::read_or_make(&folder.path().join("token.key")).unwrap()
}

fn gate(token: Option<&str>, key: Option<TokenKey>) -> Gate {
    Gate::new(token, key, Revoked::default())
}

const HOST: (Option<&Grant>, Standing) = (None, Standing::Host);

#[test]
fn a_guest_gets_their_own_permission_under_their_tokens_id() {
    let key = key();
    let gate = gate(Some("s3cret"), Some(key.clone()));
    // Tokens have whole seconds.
    let now = SystemTime::UNIX_EPOCH + 1000 * HOUR;
    for (may, hours, left) in [(May::Watch, 1, 1), (May::TakePart, 100, 24)] {
        let mut own = Grant::new("r", may, now + hours * HOUR).unwrap();
        let Pass::Token(token) = gate.pass("r", (Some(&own), Standing::Guest), now) else {
            panic!("there is a key");
        };
        own.until = now + left * HOUR;
        assert_eq!(key.open(&token), Ok(own));
    }
}

#[test]
fn a_holder_of_the_operators_token_gets_one_for_their_room_and_a_day() {
    let key = key();
    let now = SystemTime::UNIX_EPOCH + 1000 * HOUR;
    let gate = gate(Some("s3cret"), Some(key.clone()));
    let Pass::Token(token) = gate.pass("r", HOST, now) else {
        panic!("there is a key");
    };
    let grant = key.open(&token).unwrap();
    assert_eq!((grant.room(), grant.may), ("r", May::Moderate));
    assert_eq!(grant.until, now + 24 * HOUR);
}

#[test]
fn no_token_is_made_without_need_or_key() {
    let now = SystemTime::now();
    assert_eq!(gate(None, None).pass("r", HOST, now), Pass::NotNeeded);
    let keyless = gate(Some("s3cret"), None);
    assert_eq!(keyless.pass("r", HOST, now), Pass::Impossible);
    let keyed = gate(None, Some(key()));
    assert_eq!(
        keyed.pass("r", (None, Standing::Equal), now),
        Pass::Impossible
    );
}
