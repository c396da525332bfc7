//! Policies of links, as in `weft join`.

use weft_session::{Metering, Policy, Standing, Weight};
use weft_units::Bytes;

use super::Scenario;
use crate::catalogue::comparison;

fn compared(links: &[&str]) -> Result<Scenario, String> {
    let links: Vec<String> = links.iter().map(|link| (*link).to_owned()).collect();
    let set = [
        "duration=\"10s\"".to_owned(),
        "systems=[\"weft\"]".to_owned(),
    ];
    Scenario::parse("t.toml", &comparison(&links, 1)?, &set).map_err(|e| e.to_string())
}

#[test]
fn a_link_has_the_conditions_of_its_specification_or_its_keys() {
    let scenario = compared(&[
        "wifi=rate=5mbit,delay=10ms,weight=0.5",
        "lte=rate=5mbit,delay=10ms,metered,backup",
        "dsl=rate=1mbit,delay=10ms",
    ]);
    let scenario = scenario.unwrap();
    let setup = &scenario.variants[0].setup;
    let policies: Vec<Policy> = setup.flows[0].routes.iter().map(|r| r.policy).collect();
    let lte = Policy {
        metering: Metering::Metered,
        standing: Standing::Backup,
        ..Policy::default()
    };
    assert_eq!(policies[0].weight, Weight::new(0.5).unwrap());
    assert_eq!(policies[1..], [lte, Policy::default()]);
    let text = "title = \"t\"\nduration = \"9s\"\n[links.a]\nspec = \"rate=1mbit,metered\"\nmetered = false\n\
                backup = true\n[links.b]\nrate = \"1mbit\"\nweight = 0.25\n[flows.call]\nkind = \"call\"\n";
    let scenario = Scenario::parse("t.toml", text, &[]).unwrap();
    let routes = &scenario.variants.last().unwrap().setup.flows[0].routes;
    assert_eq!(routes[0].policy.metering, Metering::Free);
    assert_eq!(routes[0].policy.standing, Standing::Backup);
    assert_eq!(routes[1].policy.weight, Weight::new(0.25).unwrap());
}

#[test]
fn implausible_values_are_reported_with_the_link() {
    for (link, told) in [
        ("a=rate=1mbit,weight=2", "`2` is not a weight"),
        ("a=rate=1mbit,metered=yes", "write metered alone"),
        ("a=rate=1mbit,spare", "\"spare\" has no `=`"),
    ] {
        let error = compared(&[link, "b=rate=1mbit"]).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    let chain = "title = \"t\"\nduration = \"9s\"\ntopology = \"parking-lot\"\n[links]\na = \"rate=1mbit,metered\"\n\
                 b = \"rate=1mbit\"\n[flows.call]\nkind = \"call\"\n";
    let error = Scenario::parse("t.toml", chain, &[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("leave no choice"), "{error}");
}

#[test]
fn a_backup_carries_next_to_nothing_while_another_link_does() {
    let bytes = |links: &[&str]| -> Vec<Bytes> {
        let scenario = compared(links).unwrap();
        let record = weft_sim::run(&scenario.variants[0].setup, 1, &mut ()).unwrap();
        let routes = record.flows[0].routes.iter();
        routes.map(|route| route.there.delivered.bytes).collect()
    };
    let links = ["a=rate=4mbit,delay=10ms", "b=rate=4mbit,delay=10ms"];
    let both = bytes(&links);
    let backup = bytes(&[links[0], "b=rate=4mbit,delay=10ms,backup"]);
    assert!(both[1].0 > 1_000_000, "{both:?}");
    assert!(
        backup[0].0 > 2_000_000 && backup[1].0 < 200_000,
        "{backup:?}"
    );
}
