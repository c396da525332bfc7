use super::*;
use std::os::unix::fs::PermissionsExt;

fn grant(room: &str) -> Grant {
    // Whole seconds, as a token has them.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let until = UNIX_EPOCH + Duration::from_secs(now.as_secs() + 3600);
    Grant::new(room, May::Watch, until).unwrap()
}

#[test]
fn a_token_says_what_was_granted() {
    let key = TokenKey::made();
    let granted = grant("Staff.2");
    assert_eq!(granted.room(), "staff.2");
    assert_eq!(verify(&key, &key.sign(&granted)), Ok(granted));
    assert!(Grant::new("a/b", May::Watch, SystemTime::now()).is_err());
}

fn verify(key: &TokenKey, token: &str) -> Result<Grant, Rejected> {
    key.verify(token, SystemTime::now())
}

#[test]
fn a_token_is_signed_as_others_sign_it() {
    // Created with Python's hmac, hashlib and base64.
    let key = TokenKey("0123456789abcdef0123456789abcdef".to_owned());
    let until = UNIX_EPOCH + Duration::from_secs(1_300_819_380);
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJyb29tIjoiciIsIm1heSI6IndhdGNoIiwiZXhwIjoxMzAwODE5MzgwfQ.l6sDJ5so2PxFKGvPA66yFThQDrEMqTm8vd32OEcWWgo";
    let before = until - Duration::from_secs(1);
    let grant = key.verify(token, before).unwrap();
    assert_eq!((grant.room(), grant.may), ("r", May::Watch));
    assert_eq!(key.verify(token, until), Err(Rejected::Expired));
    // It has no id, like tokens of earlier versions: SHA-256 of the signed
    // part.
    assert_eq!(grant.id().as_str(), "c076e93c2f31f361");
    let again = key.sign(&grant);
    assert_eq!(key.verify(&again, before), Ok(grant));
}

#[test]
fn an_invitation_descends_from_the_token_that_made_it() {
    let key = TokenKey::made();
    let first = grant("r");
    let guest = first.invite(&grant("other")).unwrap();
    assert_eq!(verify(&key, &key.sign(&guest)), Ok(guest.clone()));
    assert_eq!(guest.room(), "r");
    assert_ne!(guest.id(), first.id());
    assert!(guest.descends_from(first.id()) && guest.descends_from(guest.id()));
    assert!(!first.descends_from(guest.id()));
    let line = std::iter::successors(Some(first), |host| host.invite(&grant("r")));
    assert_eq!(line.count(), 5, "itself and four invitations");
}

#[test]
fn an_id_that_does_not_look_like_one_is_not_taken() {
    let key = TokenKey::made();
    let token = |jti: &str| {
        let claims = format!(r#"{{"room":"r","may":"watch","exp":9999999999,"jti":"{jti}"}}"#);
        let header = written(&Header::OURS);
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
        let tag = URL_SAFE_NO_PAD.encode(hmac::sign(&key.hmac(), signed.as_bytes()));
        verify(&key, &format!("{signed}.{tag}")).unwrap().id
    };
    assert_eq!(token("ticket-7").as_str(), "ticket-7");
    for odd in ["", "a b", "\\u001b[2J", &"x".repeat(65)] {
        assert_eq!(token(odd).as_str().len(), ID_DIGITS, "{odd}");
    }
}

#[test]
fn tokens_of_others_changed_and_unsigned_ones_are_none() {
    let key = TokenKey::made();
    let token = key.sign(&grant("r"));
    assert_eq!(verify(&TokenKey::made(), &token), Err(Rejected::NotOurs));
    let parts: Vec<&str> = token.split('.').collect();
    let other = key.sign(&grant("other"));
    let others: Vec<&str> = other.split('.').collect();
    // {"typ":"JWT","alg":"none"}
    let unsigned = "eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0";
    for forged in [
        format!("{}.{}.{}", parts[0], others[1], parts[2]),
        format!("{unsigned}.{}.", parts[1]),
        format!("{unsigned}.{}.{}", parts[1], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        String::new(),
        "..".to_owned(),
    ] {
        assert_eq!(verify(&key, &forged), Err(Rejected::NotOurs), "{forged}");
    }
}

#[test]
fn another_way_of_signing_is_none_even_with_the_right_tag() {
    let key = TokenKey::made();
    let token = key.sign(&grant("r"));
    let claims = token.split('.').nth(1).unwrap();
    for header in [r#"{"alg":"none"}"#, r#"{"alg":"HS512"}"#, "{}", "x"] {
        let signed = format!("{}.{claims}", URL_SAFE_NO_PAD.encode(header));
        let tag = URL_SAFE_NO_PAD.encode(hmac::sign(&key.hmac(), signed.as_bytes()));
        assert_eq!(
            verify(&key, &format!("{signed}.{tag}")),
            Err(Rejected::NotOurs)
        );
    }
    // In the form of other libraries.
    let header = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"HS256"}"#);
    let signed = format!("{header}.{claims}");
    let tag = URL_SAFE_NO_PAD.encode(hmac::sign(&key.hmac(), signed.as_bytes()));
    assert!(verify(&key, &format!("{signed}.{tag}")).is_ok());
}

#[test]
fn a_key_is_made_once_for_this_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/token.key");
    let token = TokenKey::read_or_make(&path).unwrap().sign(&grant("r"));
    let again = TokenKey::read_or_make(&path).unwrap();
    assert!(verify(&again, &token).is_ok());
    assert!(verify(&TokenKey::read(&path).unwrap(), &token).is_ok());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::write(&path, "short").unwrap();
    let short = TokenKey::read_or_make(&path).unwrap_err();
    assert!(short.to_string().contains("32 characters"), "{short}");
    assert!(short.remedy().contains("--token-key"));
}
