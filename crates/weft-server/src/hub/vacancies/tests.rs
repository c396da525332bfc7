use super::*;

fn vacancy(url: &str, region: &str, load: u64) -> Vacancy {
    Vacancy {
        url: Some(url.to_owned()),
        region: Some(region.to_owned()),
        is_ready: true,
        load,
        records: false,
    }
}

fn best(others: &[(&str, Vacancy)], have_room: &[&str]) -> Option<String> {
    let own = Some("https://own.example".to_owned());
    let vacancies = Vacancies::new(own, Some("eu".to_owned()), Vec::new());
    let others = others.iter().cloned();
    *vacancies.others() = others.map(|(node, v)| (node.to_owned(), v)).collect();
    let have_room = have_room.iter().copied().collect();
    vacancies.best(&have_room).map(|target| target.node)
}

#[test]
fn a_newcomer_goes_to_the_region_then_to_the_room_then_to_the_least_load() {
    let far = ("far", vacancy("https://far.example", "us", 1));
    let busy = ("busy", vacancy("https://busy.example", "eu", 800));
    let idle = ("idle", vacancy("https://idle.example", "eu", 10));
    let name = |found: &str| Some(found.to_owned());
    let all = [far.clone(), busy.clone(), idle];
    assert_eq!(best(&all, &["far"]), name("idle"));
    assert_eq!(best(&all, &["far", "busy"]), name("busy"));
    assert_eq!(best(std::slice::from_ref(&far), &[]), name("far"));
    // Of two equal servers, all choose the same one.
    let twin = ("also", busy.1.clone());
    assert_eq!(best(&[busy, twin, far], &[]), name("also"));
}

#[test]
fn nobody_is_sent_to_a_server_without_an_address_or_room_or_tls() {
    let nameless = Vacancy {
        url: None,
        ..vacancy("", "eu", 0)
    };
    let full = Vacancy {
        is_ready: false,
        ..vacancy("https://full.example", "eu", 0)
    };
    let plain = vacancy("http://plain.example", "eu", 0);
    assert_eq!(
        best(&[("a", nameless), ("b", full), ("c", plain)], &[]),
        None
    );
}

#[test]
fn a_server_is_full_when_all_its_media_threads_are() {
    assert!(is_full([FULL, FULL + 1]));
    assert!(!is_full([FULL, FULL - 1]));
}

#[test]
fn origins_of_servers_are_kept_in_the_form_of_browsers_up_to_a_bound() {
    let own = Some("https://One.example:443".to_owned());
    let named = vec!["https://*.weft.example".parse().unwrap()];
    let vacancies = Vacancies::new(own, None, named);
    let origins = || {
        let origins = vacancies.origins.get();
        let texts = origins.iter().map(|origin| origin.as_str().to_owned());
        texts.collect::<Vec<_>>()
    };
    for url in [
        "https://two.example",
        "https://two.example",
        "https://two.weft.example",
        "*",
        "https://x;y",
    ] {
        vacancies.keep(url);
    }
    let named = "https://*.weft.example";
    let met = ["https://one.example", "https://two.example"];
    assert_eq!(origins(), [named, met[0], met[1]]);
    for number in 0..2 * MOST_ORIGINS {
        vacancies.keep(&format!("https://{number}.example"));
    }
    assert_eq!(origins().len(), 1 + MOST_ORIGINS);
    assert_eq!(origins()[0], named);
    assert_eq!(origins().last().unwrap(), "https://255.example");
}
