//! Links that are stations of a medium.

use weft_links::{
    LteBandwidth, LteQuality, LteScheduler, StationId, WifiRateControl, WifiStandard, WifiStation,
};
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
        down: WifiRateControl::Fixed(rate("mcs5")),
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
fn an_invalid_cell_is_reported_with_place_and_remedy() {
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
        // Two media for one link.
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
        (
            "rate = \"mcs4\"",
            "spec = \"ratte=mcs4\"",
            vec!["a WiFi station has no key `ratte`", "did you mean `rate`"],
        ),
        // Settings that apply to both directions.
        (
            "back = \"rate=mcs5\"",
            "back = \"motion=walking\"",
            vec![
                "t.toml:16:8",
                "changes both directions alike",
                "forward direction only",
            ],
        ),
        (
            "back = \"rate=mcs5\"",
            "back = \"obss=hidden\"",
            vec![
                "t.toml:16:8",
                "hears overlapping networks or does not",
                "forward direction only",
            ],
        ),
        // A rate that the standard does not define.
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
            "kind = \"lt\"",
            vec!["t.toml:7:8", "no kind of medium `lt`", "did you mean `lte`"],
        ),
        (
            "kind = \"wifi\"\n",
            "",
            vec!["t.toml:6:8", "medium `home` has no kind", "kind = \"lte\""],
        ),
        // Keys of another kind.
        (
            "kind = \"wifi\"",
            "kind = \"lte\"",
            vec![
                "t.toml:8:12",
                "medium `home`",
                "'standard' is not a key here",
                "bandwidth",
            ],
        ),
        (
            "rate = \"mcs4\"",
            "cqi = \"12\"",
            vec![
                "t.toml:14:7",
                "link `pc3` is a WiFi station",
                "`cqi` is of an LTE terminal",
            ],
        ),
        (
            "[links.pc3]",
            "[media.attic]\nkind = \"wifi\"\n[links.pc3]",
            vec!["t.toml:12:8", "medium `attic` has no stations"],
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

const LTE: &str = r#"
title = "Two terminals"
duration = "5s"

[media.town]
kind = "lte"
bandwidth = "5MHz"
scheduler = "round-robin"
queue = "2MB"

[links.pc3]
medium = "town"
cqi = "12"
back = "cqi=14,rank=2"

[links.pc4]
spec = "medium=town,snr=9dB,motion=walking,handovers=1s/3s"

[flows.upload]
kind = "tcp"
via = ["pc3"]

[flows.download]
kind = "tcp"
via = ["pc4"]
direction = "backward"
"#;

#[test]
fn links_that_name_an_lte_cell_are_its_terminals() {
    // Numbers need no quotes.
    let text = LTE.replace("cqi = \"12\"", "cqi = 12");
    let scenario = parse(&text, &["media.town.request-period=10ms"]).unwrap();
    let setup = &scenario.variants[0].setup;
    assert_eq!(setup.links[0].stations, ["pc3", "pc4", "town-ap"]);
    let cell = setup.links[0].medium.lte_spec().unwrap();
    assert_eq!(cell.bandwidth, LteBandwidth::Mhz5);
    assert_eq!(cell.scheduler, LteScheduler::RoundRobin);
    assert_eq!(cell.queue, Bytes(2_000_000));
    let [pc3, pc4] = &cell.terminals[..] else {
        panic!("{cell:?}")
    };
    assert_eq!((pc3.up.quality, pc3.up.rank), (LteQuality::Cqi(12), 1));
    assert_eq!((pc3.down.quality, pc3.down.rank), (LteQuality::Cqi(14), 2));
    assert_eq!(pc4.handovers, [1, 3].map(Duration::from_secs));
    assert!(matches!(pc4.down.quality, LteQuality::Fading { .. }));
    let hop = setup.flows[1].routes[0].hops[0];
    assert_eq!((hop.from, hop.to), (StationId(2), StationId(1)));
}

#[test]
fn a_link_can_have_an_lte_cell_to_itself() {
    let text = TCP.replace(
        "rate=2mbit,delay=25ms,queue=2bdp",
        "medium=lte,bandwidth=5MHz,cqi=10,queue=1MB",
    );
    let scenario = parse(&text, &["links.bottleneck.back=rank=2,queue=3MB"]).unwrap();
    let link = &scenario.variants[0].setup.links[0];
    let cell = link.medium.lte_spec().unwrap();
    assert_eq!(cell.queue, Bytes(3_000_000));
    assert_eq!(cell.terminals[0].queue, Bytes(1_000_000));
    assert_eq!(
        (cell.terminals[0].up.rank, cell.terminals[0].down.rank),
        (1, 2)
    );
}

#[test]
fn an_invalid_lte_terminal_is_reported_with_place_and_remedy() {
    for (line, by, parts) in [
        (
            "cqi = \"12\"",
            "cqi = \"16\"",
            ["t.toml:13:7", "cqi=16", "1 to 15"],
        ),
        (
            "cqi = \"12\"\nback",
            "back",
            ["t.toml:11:1", "no 'cqi'", "snr=15dB"],
        ),
        (
            "cqi = \"12\"",
            "cqi = \"12\"\nsnr = \"9dB\"",
            ["t.toml:13:7", "cqi=12", "keep one of the two"],
        ),
        (
            "cqi = \"12\"",
            "rate = \"mcs4\"",
            [
                "t.toml:13:8",
                "is an LTE terminal",
                "`rate` is of a WiFi station",
            ],
        ),
        (
            "rank=2",
            "rank=3",
            ["t.toml:14:8", "rank=3", "rank=2 for two"],
        ),
        (
            "handovers=1s/3s",
            "handovers=3s/1s",
            ["t.toml:17:8", "handovers=3s/1s", "in order"],
        ),
        (
            "bandwidth = \"5MHz\"",
            "bandwidth = \"7MHz\"",
            ["t.toml:7:13", "bandwidth=7MHz", "1.4MHz"],
        ),
        (
            "medium = \"town\"\ncqi",
            "cqi",
            [
                "t.toml:12:7",
                "`cqi` is of an LTE terminal",
                "medium = \"lte\"",
            ],
        ),
    ] {
        assert!(LTE.contains(line), "{line}");
        let error = parse(&LTE.replace(line, by), &[]).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{by}: {part}: {error}");
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
