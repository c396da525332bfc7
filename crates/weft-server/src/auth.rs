use crate::problem::Problem;
use aws_lc_rs::{constant_time, digest};
use axum::http::{HeaderMap, StatusCode, header};
use weft_sfu::Proof;

/// The cookie that carries the token for the page, which opens streams and
/// sends requests without headers of its own.
const COOKIE: &str = "weft_token";

/// The header with which a participant proves to be who they were before: in
/// the address it would stand in the logs of proxies.
pub(crate) const SECRET: &str = "weft-secret";

/// The proof that a participant's secret is. What is compared is its hash, so
/// that the time which that takes tells nothing of the secret.
pub(crate) fn proof_of(secret: &str) -> Proof {
    let mut proof = [0; 32];
    proof.copy_from_slice(hash(secret).as_ref());
    Proof(proof)
}

/// The secret that comes with a request.
pub(crate) fn secret_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SECRET)?.to_str().ok()
}

/// The operator's token, if there is one; only its hash is kept.
#[derive(Clone, Default)]
pub(crate) struct Token(Option<digest::Digest>);

impl Token {
    pub(crate) fn new(token: Option<&str>) -> Token {
        Token(token.map(hash))
    }

    /// Whether a request with these headers may go on.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(wanted) = &self.0 else {
            return Ok(());
        };
        let given = bearer(headers).or_else(|| cookie(headers));
        match given {
            Some(given) if same(wanted, given) => Ok(()),
            _ => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                match given {
                    Some(_) => "The token is not the one that this server asks for.",
                    None => "This server asks for a token.",
                },
                "Open the link with ?token=… that you were given; other clients send it as `Authorization: Bearer`.",
            )),
        }
    }

    /// The `Set-Cookie` header for a page that was opened with `?token=`, if
    /// it is the right one.
    pub(crate) fn cookie_for(&self, given: &str, secure: bool) -> Option<String> {
        let wanted = self.0.as_ref()?;
        // A right token that cannot stand in a cookie is for other clients.
        let plain = given
            .bytes()
            .all(|b| b.is_ascii_graphic() && !b";,\"\\".contains(&b));
        (plain && same(wanted, given)).then(|| {
            let secure = if secure { "; Secure" } else { "" };
            format!("{COOKIE}={given}; Path=/; HttpOnly; SameSite=Strict{secure}")
        })
    }
}

fn hash(token: &str) -> digest::Digest {
    digest::digest(&digest::SHA256, token.as_bytes())
}

/// Hashes first, so that the time tells neither content nor length.
fn same(wanted: &digest::Digest, given: &str) -> bool {
    constant_time::verify_slices_are_equal(wanted.as_ref(), hash(given).as_ref()).is_ok()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(header::COOKIE).into_iter();
    let mut pairs = values
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE).then_some(value)
    })
}
