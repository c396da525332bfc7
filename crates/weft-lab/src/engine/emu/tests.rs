use super::*;
use crate::scenario::Scenario;

#[test]
fn clients_are_written_as_they_are_read() {
    for text in [
        "weft",
        "chromium",
        "pion",
        "aiortc",
        "baresip",
        "srtla",
        "srtla-500ms",
        "model",
        "chromium,down=pion,side=exec:true,load=swarm",
        "exec:ping -c 3 $WEFT_PEER",
    ] {
        assert_eq!(text.parse::<Client>().unwrap().to_string(), text);
    }
    for text in [
        "firefox",
        "exec:",
        "exec: ",
        "",
        "weft,pion",
        "weft,down=",
        "weft,=pion",
    ] {
        let error = text.parse::<Client>().unwrap_err().to_string();
        assert!(
            error.contains(
                "write weft, weft-call, chromium, pion, aiortc, baresip, srtla, srtla-500ms, model or exec:COMMAND"
            ),
            "{error}"
        );
    }
}

#[test]
fn an_oracle_is_refused() {
    let text =
        "title = \"t\"\nduration = \"10s\"\nlinks.a = \"rate=5mbit\"\nflows.call.kind = \"call\"";
    let floor = Scenario::parse("t.toml", text, &["systems=[\"floor\"]".to_owned()]).unwrap();
    for client in [Client::Weft, Client::WeftCall, Client::Chromium] {
        let error = limits::check(&floor.variants[0].setup, &client).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("flow `call` is the floor"), "{error}");
        assert!(error.ends_with("use --engine sim"), "{error}");
    }
}

#[test]
fn missing_kernel_features_are_reported_before_the_run() {
    let check = |flow: &str| {
        let text = format!("title = \"t\"\nduration = \"10s\"\nlinks.a = \"rate=5mbit\"\n{flow}");
        let scenario = Scenario::parse("t.toml", &text, &[]).unwrap();
        let checked = limits::check(&scenario.variants[0].setup, &Client::Weft);
        checked.unwrap_err().to_string()
    };
    if !tcp_algorithms().contains(&"bbr2".to_owned()) {
        let error = check("flows.load = { kind = \"tcp\", algorithm = \"bbr2\" }");
        assert!(error.contains("this kernel's TCP has no bbr2"), "{error}");
    }
    let flows: Vec<String> = (0..128)
        .map(|i| format!("flows.f{i}.kind = \"tcp\""))
        .collect();
    let error = check(&flows.join("\n"));
    assert!(
        error.contains("there are 128 flows with two hosts each"),
        "{error}"
    );
}

#[test]
fn a_client_of_a_flow_that_it_cannot_make_is_refused() {
    let text = "title = \"t\"\nduration = \"10s\"\nlinks.a = \"rate=5mbit\"\n\
                flows.up.kind = \"call\"\nflows.down.kind = \"call\"\nflows.load.kind = \"tcp\"\n\
                flows.web = { kind = \"tcp\", size = \"9MB\" }\n\
                flows.many = { kind = \"tcp\", connections = 65 }\n\
                flows.side = { kind = \"udp\", rate = \"1mbit\" }";
    let scenario = Scenario::parse("t.toml", text, &["systems=[\"weft\"]".to_owned()]).unwrap();
    let check = |client: &str| limits::check(&scenario.variants[0].setup, &client.parse().unwrap());
    check("weft,down=pion,load=swarm,side=exec:true").unwrap();
    for (client, part) in [
        (
            "weft,load=pion",
            "pion for flow `load`, which is not a call",
        ),
        (
            "weft,web=swarm",
            "swarm for flow `web`, which makes transfers of a given size",
        ),
        ("weft,many=swarm", "more connections than the 64 peers"),
        (
            "weft,side=swarm",
            "swarm for flow `side`, which is not of kind tcp",
        ),
        (
            "weft,nobody=pion",
            "`nobody`, which does not exist: the flows are up, down, load, web, many, side",
        ),
        ("swarm", "flow `up` is a call, which a swarm cannot make"),
    ] {
        let error = check(client).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn each_flow_has_hosts_of_its_own_on_its_links() {
    let text = r#"
title = "t"
duration = "10s"
[links.a]
spec = "rate=5mbit,delay=10ms"
[links.b]
spec = "rate=5mbit,delay=10ms"
[flows.call]
kind = "call"
[flows.down]
kind = "tcp"
via = ["b"]
direction = "backward"
"#;
    let scenario = Scenario::parse("t.toml", text, &["systems=[\"weft\"]".to_owned()]).unwrap();
    let (plan, _) = flow_hosts(&scenario.variants[0].setup, 1);
    assert_eq!(plan.links.len(), 2);
    // 198.18.LINK.HOST; hosts are in the order in which they join the link.
    let of = |flow: usize| {
        let ends = &plan.ends[flow];
        let text =
            |all: &[std::net::Ipv4Addr]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        (text(&ends.source), text(&ends.sink))
    };
    assert_eq!(of(0).0, ["198.18.0.1", "198.18.1.1"]);
    assert_eq!(of(0).1, ["198.18.0.2", "198.18.1.2"]);
    // The source of a backward flow is at the far side.
    assert_eq!(
        of(1),
        (vec!["198.18.1.4".to_owned()], vec!["198.18.1.3".to_owned()])
    );
}
