use super::*;
use tokio_rustls::rustls;

/// 2026-07-01T00:00:00Z, by `date -d 2026-07-01T00:00:00Z +%s`.
const JULY: u64 = 1_782_864_000;
const DAY_S: u64 = 86_400;

fn at(unix_s: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(unix_s))
}

fn named(needed: &[&str], one_of: &[&str]) -> Names {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Names {
        needed: owned(needed),
        one_of: owned(one_of),
    }
}

fn only_of(path: &Path) -> CertificateDer<'static> {
    pem::chain_of(path).unwrap().remove(0)
}

/// Result of a client that trusts `trusted` and connects to a server with
/// `shown`.
fn meets(
    trusted: &CertificateDer<'static>,
    shown: &CertificateDer<'static>,
    name: &str,
    unix_s: u64,
) -> Result<(), rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let shown = ParsedCertificate::try_from(shown).unwrap();
    let known = aws_lc_rs::default_provider().signature_verification_algorithms;
    verify_server_cert_signed_by_trust_anchor(&shown, &roots, &[], at(unix_s), known.all)?;
    verify_server_name(&shown, &ServerName::try_from(name).unwrap())
}

#[test]
fn it_is_valid_for_a_day_before_and_825_in_all() {
    let folder = tempfile::tempdir().unwrap();
    let names = named(&["192.0.2.7", "boat"], &["2001:db8::1"]);
    let kept = keep(&names, folder.path(), at(JULY)).unwrap();
    assert_eq!(kept.renewal, None);
    let made = only_of(&kept.certificate);
    for name in ["192.0.2.7", "boat", "2001:db8::1"] {
        meets(&made, &made, name, JULY).unwrap();
    }
    assert!(meets(&made, &made, "192.0.2.8", JULY).is_err());
    assert!(meets(&made, &made, "boat", JULY - DAY_S - 1).is_err());
    meets(&made, &made, "boat", JULY - DAY_S).unwrap();
    meets(&made, &made, "boat", JULY + 824 * DAY_S - 1).unwrap();
    assert!(meets(&made, &made, "boat", JULY + 824 * DAY_S).is_err());
    let subject = |words: &[u8]| made.windows(words.len()).any(|window| window == words);
    assert!(subject(b"weft") && !subject(b"rcgen"));
}

#[test]
fn it_stays_while_it_names_the_machine_and_is_replaced_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let names = named(&["192.0.2.7"], &[]);
    let keep = |unix_s| keep(&names, folder.path(), at(unix_s)).unwrap();
    let first = only_of(&keep(JULY).certificate);
    // 824 days are left at first, and it is replaced in the last 60.
    let later = keep(JULY + 763 * DAY_S);
    assert_eq!(later.renewal, None);
    assert_eq!(only_of(&later.certificate), first);
    let late = keep(JULY + 764 * DAY_S);
    assert_eq!(late.renewal, Some(Renewal::Ending));
    let second = only_of(&late.certificate);
    assert_ne!(second, first);
    meets(&second, &second, "192.0.2.7", JULY + 900 * DAY_S).unwrap();
}

#[test]
fn a_new_address_makes_a_new_certificate_that_old_copies_vouch_for() {
    let folder = tempfile::tempdir().unwrap();
    let keep = |names: &Names| keep(names, folder.path(), at(JULY)).unwrap();
    let first = only_of(&keep(&named(&["192.0.2.7"], &[])).certificate);
    let moved = keep(&named(&["192.0.2.7", "198.51.100.4"], &[]));
    assert_eq!(
        moved.renewal,
        Some(Renewal::Names(vec!["198.51.100.4".to_owned()]))
    );
    let second = only_of(&moved.certificate);
    meets(&first, &second, "198.51.100.4", JULY).unwrap();
    // A removed address is not a reason.
    assert_eq!(keep(&named(&["198.51.100.4"], &[])).renewal, None);
}

#[test]
fn one_temporary_address_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let keep = |names: &Names| keep(names, folder.path(), at(JULY)).unwrap().renewal;
    assert_eq!(keep(&named(&[], &["2001:db8::1", "2001:db8::aaaa"])), None);
    assert_eq!(keep(&named(&[], &["2001:db8::1", "2001:db8::bbbb"])), None);
    let elsewhere = keep(&named(&[], &["2001:db8:1::1"]));
    assert_eq!(
        elsewhere,
        Some(Renewal::Names(vec!["2001:db8:1::1".to_owned()]))
    );
}

#[test]
fn a_certificate_without_end_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    // Like those of earlier versions: from 1975 to 4096.
    let endless = rcgen::generate_simple_self_signed(["192.0.2.7".to_owned()]).unwrap();
    std::fs::write(folder.path().join(CERTIFICATE), endless.cert.pem()).unwrap();
    std::fs::write(folder.path().join(KEY), endless.signing_key.serialize_pem()).unwrap();
    let names = named(&["192.0.2.7"], &[]);
    let kept = keep(&names, folder.path(), at(JULY)).unwrap();
    assert_eq!(kept.renewal, Some(Renewal::Endless));
    assert_eq!(keep(&names, folder.path(), at(JULY)).unwrap().renewal, None);
}

#[test]
fn a_server_on_one_address_needs_that_address() {
    let one = names("192.0.2.7".parse().unwrap());
    assert!(one.needed.contains(&"192.0.2.7".to_owned()));
    assert!(one.needed.contains(&"localhost".to_owned()));
    assert!(one.one_of.is_empty());
    assert!(names(Ipv4Addr::UNSPECIFIED.into()).one_of.is_empty());
}
