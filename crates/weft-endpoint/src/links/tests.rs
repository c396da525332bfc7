use super::*;

fn links(texts: &[&str]) -> Result<Links, LinksError> {
    let specs = texts.iter().map(|t| t.parse().expect("a link"));
    Links::check(specs.collect(), Scope::Named, &Notices::ignored())
}

#[test]
fn a_missing_link_is_waited_for_unless_all_are() {
    let some = links(&["127.0.0.1", "nosuchif0", "192.0.2.1"]);
    let mut some = some.expect("one is there");
    assert!(some.may_change());
    let present: Vec<u8> = some.present().iter().map(|(id, _)| id.0).collect();
    assert_eq!(present, [0]);
    let none = links(&["nosuchif0", "nosuchif1"]).expect_err("no link");
    let words = none.to_string();
    assert!(words.contains("nosuchif0") && words.contains("nosuchif1"));
    assert!(words.contains("lo"), "{words}");
    assert!(!links(&["127.0.0.1"]).expect("loopback").may_change());
}

#[test]
fn a_link_whose_budget_is_used_up_is_nowhere() {
    let mut links = links(&["127.0.0.1", "127.0.0.2,budget=1MB"]).expect("loopback");
    let metered = LinkId(1);
    assert!(links.have_budget());
    assert!(!links.count(metered, Bytes(999_999)));
    assert_eq!(links.present().len(), 2);
    assert_eq!(links.figures()[1].left, Some(Bytes(1)));
    assert!(links.count(metered, Bytes(2)), "the end is news");
    assert!(!links.count(metered, Bytes(2)), "once");
    assert_eq!(links.present().len(), 1);
    assert_eq!(links.figures()[1].left, Some(Bytes::ZERO));
    assert_eq!(links.figures()[0].left, None);
    assert!(!links.count(LinkId(0), Bytes(u64::MAX / 2)));
}

#[test]
fn interfaces_that_come_later_are_links_where_every_one_is() {
    let specs = vec!["127.0.0.1".parse().expect("a link")];
    let mut links = Links::check(specs, Scope::Every, &Notices::ignored()).expect("loopback");
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
    links.take_new(names(&["wwan0"]));
    links.take_new(names(&["wwan0", "usb0"]));
    let all: Vec<String> = links.figures().into_iter().map(|f| f.name).collect();
    assert_eq!(all, ["127.0.0.1", "wwan0", "usb0"]);
    links.take_new((0..40).map(|n| format!("tun{n}")).collect());
    assert_eq!(links.figures().len(), MAX_LINKS);
}

#[test]
fn metered_links_and_backups_cost_more_than_any_regular_one() {
    let cost_of = |link, text: &str| {
        let spec: LinkChoice = text.parse().expect("a link");
        cost(LinkId(link), spec.policy)
    };
    let last_regular = cost_of(MAX_LINKS as u8 - 1, "a");
    assert!(cost_of(0, "a") < last_regular);
    assert!(last_regular < cost_of(0, "a,metered"));
    assert!(cost_of(15, "a,metered") < cost_of(0, "a,backup"));
    // The scale ends at 999 (libwebrtc, kNetworkCostMax).
    assert!(cost_of(15, "a,backup,metered") <= 999);
}
