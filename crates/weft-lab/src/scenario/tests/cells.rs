//! Links that are stations of a medium.

use weft_links::{StationId, WifiStandard, WifiStation};
use weft_units::Bytes;

use super::*;

const CELL: &str = r#"
title = "Two stations and a wire"
duration = "5s"
topology = "parking-lot"

[media.home]
kind = "wifi"
standard = "n"
queue = "2MB"
delay = "1ms"

[links.pc3]
medium = "home"
rate = "mcs4"
queue = "500kB"
back = "rate=mcs5"

[links.wire]
spec = "rate=100mbit,delay=2ms"

[links.pc4]
spec = "medium=home,rate=mcs13"

[flows.upload]
kind = "tcp"
via = ["pc3", "wire"]

[flows.download]
kind = "tcp"
via = ["pc4"]
direction = "backward"
"#;

fn error_of(line: &str, by: &str) -> String {
    assert!(CELL.contains(line), "{line}");
    parse(&CELL.replace(line, by), &[]).unwrap_err()
}

#[test]
fn links_that_name_a_medium_are_its_stations() {
    let scenario = parse(CELL, &[]).unwrap();
    let setup = &scenario.variants[0].setup;
    let names: Vec<_> = setup.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["home", "wire"]);
    assert_eq!(setup.links[0].stations, ["pc3", "pc4", "home-ap"]);
    let cell = setup.links[0].medium.wifi_spec().unwrap();
    let rate = |name| WifiStandard::N.rate(name).unwrap();
    let pc3 = WifiStation {
        queue: Bytes(500_000),
        down: rate("mcs5"),
        ..WifiStation::new(rate("mcs4"))
    };
    assert_eq!(cell.stations, [pc3, WifiStation::new(rate("mcs13"))]);
    assert_eq!(
        (cell.queue, cell.delay),
        (Bytes(2_000_000), Duration::from_millis(1))
    );
    // Forward is from the station; the access point comes last.
    let hop = |link, from, to| Hop {
        link,
        from: StationId(from),
        to: StationId(to),
    };
    let hops = |flow: usize| setup.flows[flow].routes[0].hops.clone();
    assert_eq!(hops(0), [hop(0, 0, 2), hop(1, 0, 1)]);
    assert_eq!(hops(1), [hop(0, 2, 1)]);
    assert_eq!(setup.link_name(&hops(1)[0]), "pc4");
}

#[test]
fn a_link_can_have_a_cell_to_itself() {
    let text = TCP.replace(
        "rate=2mbit,delay=25ms,queue=2bdp",
        "medium=wifi,standard=g,rate=54mbit,delay=3ms,queue=1MB",
    );
    let scenario = parse(&text, &["links.bottleneck.back=queue=2MB"]).unwrap();
    let link = &scenario.variants[0].setup.links[0];
    assert_eq!(link.stations, ["bottleneck", "bottleneck-back"]);
    let cell = link.medium.wifi_spec().unwrap();
    assert_eq!(cell.standard, WifiStandard::G);
    assert_eq!(
        (cell.stations[0].queue, cell.queue),
        (Bytes(1_000_000), Bytes(2_000_000))
    );
    assert_eq!(cell.delay, Duration::from_millis(3));
}

#[test]
fn what_cannot_be_a_cell_is_told_with_place_and_remedy() {
    for (line, by, parts) in [
        // A station that is on no medium.
        (
            "medium = \"home\"\n",
            "",
            vec![
                "t.toml:13:8",
                "rate mcs4 is of a WiFi station",
                "add medium =",
            ],
        ),
        (
            "medium = \"home\"",
            "medium = \"hom\"",
            vec!["t.toml:13:10", "no medium `hom`", "did you mean `home`"],
        ),
        // Two media on one link.
        (
            "back = \"rate=mcs5\"",
            "back = \"medium=wifi\"",
            vec![
                "t.toml:16:8",
                "on medium `home` and back on `wifi`",
                "keep one",
            ],
        ),
        (
            "rate = \"mcs4\"",
            "trace = \"generated:walking/wifi\"",
            vec!["t.toml:14:9", "`trace` makes it a wired link", "keep one"],
        ),
        // A rate that the standard does not have.
        (
            "rate = \"mcs4\"",
            "rate = \"54mbit\"",
            vec!["t.toml:14:8", "rate=54mbit: 802.11n has mcs0 to mcs7"],
        ),
        (
            "queue = \"500kB\"",
            "queue = \"300ms\"",
            vec!["t.toml:15:9", "queue=300ms", "in bytes"],
        ),
        (
            "queue = \"500kB\"",
            "delay = \"3ms\"",
            vec!["t.toml:15:9", "`delay` is of the medium", "[media.NAME]"],
        ),
        (
            "queue = \"500kB\"",
            "steps = [{ at = \"1s\", loss = \"1%\" }]",
            vec!["t.toml:15:17", "no steps"],
        ),
        (
            "back = \"rate=mcs5\"",
            "back = \"queue=1MB\"",
            vec!["[links.pc3]", "queue of medium `home`", "[media.home]"],
        ),
        (
            "standard = \"n\"",
            "standard = \"ac\"",
            vec!["t.toml:8:12", "medium `home`", "b, g and n"],
        ),
        (
            "kind = \"wifi\"",
            "kind = \"lte\"",
            vec!["t.toml:7:8", "no kind of medium `lte`"],
        ),
        (
            "[links.pc3]",
            "[media.attic]\nkind = \"wifi\"\n[links.pc3]",
            vec!["t.toml:12:8", "nobody is on medium `attic`"],
        ),
        (
            "via = [\"pc3\", \"wire\"]",
            "via = [\"pc3\", \"pc4\"]",
            vec!["flow `upload`", "two stations of one medium"],
        ),
    ] {
        let error = error_of(line, by);
        for part in parts {
            let at_link = part == "[links.pc3]" && error.starts_with("t.toml:12:");
            assert!(error.contains(part) || at_link, "{by}: {part}: {error}");
        }
    }
}

#[test]
fn a_cell_has_addresses_for_so_many_stations() {
    let mut text =
        "title = \"A crowd\"\nduration = \"5s\"\n[media.hall]\nkind = \"wifi\"\n".to_owned();
    text += "[flows.call]\nkind = \"tcp\"\nvia = [\"s0\"]\n[links]\n";
    for station in 0..2008 {
        text += &format!("s{station} = \"medium=hall,rate=mcs7\"\n");
    }
    let error = parse(&text, &[]).unwrap_err();
    assert!(
        error.contains("2008 stations") && error.contains("2007"),
        "{error}"
    );
    assert!(error.starts_with("t.toml:2016:"), "{error}");
}
