use clap::{CommandFactory, Parser};
use weft_cc::ControllerKind;
use weft_publish::Degradation;
use weft_session::{ProtectionKind, SchedulerKind};
use weft_units::Rate;

use super::{Cli, Command};

fn parse(line: &str) -> Result<Cli, String> {
    Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string())
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn the_contract_of_join_is_understood() {
    let line = "weft join http://h:1 --room r --link wlan0 --link lte=10.0.0.2 --camera clip:360p \
                --camera Rear=clip --mic tone --scheduler duplicate --controller fixed:2mbit \
                --record r.webm --stats s.json";
    let Ok(Cli {
        command: Command::Join(args),
    }) = parse(line)
    else {
        panic!("not understood: {:?}", parse(line).err());
    };
    let links: Vec<&str> = args
        .send
        .media
        .network
        .links
        .links
        .iter()
        .map(|l| l.name.as_str())
        .collect();
    assert_eq!(links, ["wlan0", "lte"]);
    let names: Vec<Option<&str>> = args
        .send
        .media
        .cameras
        .iter()
        .map(|c| c.name.as_deref())
        .collect();
    assert_eq!(names, [None, Some("Rear")]);
    assert_eq!(
        args.send.media.network.expert.scheduler,
        SchedulerKind::Duplicate
    );
    assert_eq!(args.send.media.network.max_rate, Rate::from_mbps(4));
    assert_eq!(args.send.media.degradation, Degradation::MaintainFrameRate);
}

#[test]
fn the_contract_of_demo_is_understood() {
    let line = "weft demo --headless --seconds 60 --json out.json";
    let Ok(Cli {
        command: Command::Demo(args),
    }) = parse(line)
    else {
        panic!("not understood: {:?}", parse(line).err());
    };
    assert!(args.headless);
    assert_eq!(args.seconds, Some(60));
}

#[test]
fn an_operator_names_the_port_of_media() {
    let of = |line: &str| match parse(line).map(|cli| cli.command) {
        Ok(Command::Serve(args)) => Ok(args.media.config().ports),
        other => Err(format!("{other:?}")),
    };
    assert_eq!(of("weft serve"), Ok(0..=0));
    assert_eq!(of("weft serve --media-port 8443"), Ok(8443..=8443));
    assert_eq!(of("weft serve --media-port 8443-8450"), Ok(8443..=8450));
    for wrong in ["0", "9-8", "1-", "70000"] {
        let error = of(&format!("weft serve --media-port {wrong}")).unwrap_err();
        assert!(error.contains("8443-8453"), "{error}");
    }
}

#[test]
fn an_operator_names_addresses_limits_and_what_is_written_down() {
    let line = "weft serve --media-interface eth0 --media-interface 192.0.2.7 --public-address \
                198.51.100.1 --max-rooms 7 --max-connections-per-address 9 --max-egress 800mbit --max-publisher-rate 8mbit --log info \
                --log-format json --drain 30";
    let Ok(Command::Serve(args)) = parse(line).map(|cli| cli.command) else {
        panic!("not understood: {:?}", parse(line).err());
    };
    let media = args.media.config();
    assert_eq!(media.interfaces, ["eth0"]);
    assert_eq!(media.addresses[0].to_string(), "192.0.2.7");
    assert_eq!(media.public[0].to_string(), "198.51.100.1");
    let limits = args.limits.limits();
    assert_eq!((limits.rooms, limits.media.per_address), (7, 9));
    assert_eq!(limits.media.egress, Some(Rate::from_mbps(800)));
    assert_eq!(limits.media.publisher, Rate::from_mbps(8));
    assert_eq!(args.drain.as_secs(), 30);
    assert!(
        parse("weft serve --log loud")
            .unwrap_err()
            .contains("debug")
    );
}

#[test]
fn the_contract_of_token_is_understood() {
    let of = |line: &str| match parse(line).map(|cli| cli.command) {
        Ok(Command::Token(args)) => Ok((args.hours.as_secs(), args.watch)),
        other => Err(format!("{other:?}")),
    };
    assert_eq!(of("weft token --room R --hours 2"), Ok((7200, false)));
    assert_eq!(
        of("weft token --room R --hours 0.5 --watch --token-key k"),
        Ok((1800, true))
    );
    for hours in ["0", "-1", "NaN", "inf", "9000"] {
        let error = of(&format!("weft token --room R --hours={hours}")).unwrap_err();
        assert!(error.contains("such as 2 or 0.5"), "{error}");
    }
}

#[test]
fn bad_arguments_are_refused_with_the_known_ones() {
    let bad = [
        (
            "weft join http://h --room r --scheduler best",
            "weft, converge, single, migrate",
        ),
        ("weft join http://h --room r --camera x.mov", "clip"),
        (
            "weft join http://h --room r --degradation sharp",
            "maintain-framerate, maintain-resolution, balanced or off",
        ),
        (
            "weft join http://h --room r --link wlan0/",
            "interface name",
        ),
        (
            "weft join http://h --room r --link wwan0,budget=2",
            "budget=2GB",
        ),
        ("weft join http://h --room r --max-rate fast", "4mbit"),
        (
            "weft join http://h --room r --name ",
            "--name 'Ambulance 3'",
        ),
        ("weft join http://h --room r --token a;b", "openssl rand"),
        ("weft serve --token ä", "openssl rand"),
        ("weft serve --token ", "openssl rand"),
        ("weft call --seconds 1.5", "whole seconds"),
        ("weft serve --certificate c.pem", "--key"),
        ("weft serve --listen 8080", "127.0.0.1:8080"),
        (
            "weft join http://h --room r --ca f --insecure",
            "--insecure",
        ),
    ];
    for (line, remedy) in bad {
        let Err(error) = parse(line) else {
            panic!("accepted: {line}")
        };
        assert!(error.contains(remedy), "`{line}` says: {error}");
    }
}

#[test]
fn the_contract_of_the_lab_is_understood() {
    for line in [
        "weft lab list",
        "weft lab list demo",
        "weft lab run a.toml demo --engine sim --client weft --systems webrtc@wifi,weft --seeds 3 \
         --jobs 2 --duration 60 --set links.wifi.queue=2bdp --set seeds=4 --out results",
        "weft lab compare --link wifi=rate=5mbit,delay=25ms --link lte=rate=3mbit --streams 2 \
         --systems weft --seeds 2 --duration 30 --out results",
        "weft lab bench --json",
        "weft lab report results",
        "weft lab table zoom results",
        "weft lab table zoom results --only checks,published --into page.md",
        "weft lab report before=old after=new --out both.html",
        "weft lab compare --link a=rate=5mbit,weight=0.5 --link b=rate=1mbit,metered,backup --all",
    ] {
        let parsed = parse(line);
        assert!(
            matches!(
                parsed,
                Ok(Cli {
                    command: Command::Lab(_)
                })
            ),
            "{line}: {:?}",
            parsed.err()
        );
    }
    for (line, remedy) in [
        ("weft lab run", "FILE|SET"),
        ("weft lab run a.toml --engine ns3", "sim, emu"),
        ("weft lab run a.toml --seeds 0", "--seeds"),
        ("weft lab run a.toml --duration -1", "--duration"),
        ("weft lab compare", "--link"),
    ] {
        let Err(error) = parse(line) else {
            panic!("accepted: {line}")
        };
        assert!(error.contains(remedy), "`{line}` says: {error}");
    }
}

#[test]
fn the_links_of_an_emulated_shell_may_have_names() {
    let line = "weft emu shell --link rate=5mbit,delay=25ms --link lte=rate=3mbit --seed 2 \
                --down rate=1mbit --down rate=2mbit --log a.csv -- ping -c 1 198.18.0.1";
    let Ok(Cli {
        command: Command::Emu(args),
    }) = parse(line)
    else {
        panic!("not understood: {:?}", parse(line).err());
    };
    let crate::emu::args::EmuCommand::Shell(args) = args.command else {
        panic!("no shell");
    };
    let names: Vec<_> = args.links.iter().map(|l| l.name.as_deref()).collect();
    assert_eq!(names, [None, Some("lte")]);
    let crate::emu::args::Spec::Wired(wire) = &args.links[1].spec else {
        panic!("a wire: {:?}", args.links[1]);
    };
    assert_eq!(wire.to_string(), "rate=3mbit,delay=0ms,queue=300ms");
    assert_eq!(args.down.len(), 2);
    assert_eq!(args.program, ["ping", "-c", "1", "198.18.0.1"]);
    let cell = crate::emu::args::Spec::Cell("medium=lte,cqi=12".to_owned());
    let medium = cell.medium(Some("cqi=14,rank=2")).expect("a cell");
    let terminal = &medium.lte_spec().expect("of LTE").terminals[0];
    assert_eq!((terminal.up.rank, terminal.down.rank), (1, 2));
    for (spec, down, remedy) in [
        (&cell, "cqi=99", "1 to 15"),
        (&cell, "handovers=3s", "forward direction only"),
        (&cell, "bandwidth=5MHz", "the keys are cqi"),
        (&args.links[0].spec, "cqi=14", "'cqi' is not a key"),
    ] {
        let error = spec.medium(Some(down)).expect_err("nothing of the kind");
        assert!(error.contains(remedy), "`{down}` says: {error}");
    }
    assert!(parse("weft emu shell --link trace=generated:walking/wifi,loss=1%").is_ok());
    for (line, remedy) in [
        ("weft emu shell", "--link"),
        ("weft emu shell --link 5mbit", "KEY=VALUE"),
        ("weft emu shell --link speed=5mbit", "'speed' is not a key"),
        ("weft emu shell --link wifi=rate=5mbit,delay=far", "25ms"),
        ("weft emu shell --link trace=no-such-file", "check the path"),
    ] {
        let Err(error) = parse(line) else {
            panic!("accepted: {line}")
        };
        assert!(error.contains(remedy), "`{line}` says: {error}");
    }
}

#[test]
fn the_help_has_every_name_that_can_be_chosen() {
    for command in ["demo", "join", "call"] {
        let mut cli = Cli::command();
        let help = cli.find_subcommand_mut(command).expect("a command");
        let help = help.render_long_help().to_string();
        let words: Vec<&str> = help
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .collect();
        let schedulers = SchedulerKind::ALL.map(|kind| kind.name().to_owned());
        let protections = ProtectionKind::ALL.map(|kind| kind.name().to_owned());
        let controllers = ControllerKind::ADAPTIVE.map(|kind| kind.to_string());
        let all = schedulers.iter().chain(&protections).chain(&controllers);
        for name in all {
            assert!(
                words.contains(&name.as_str()),
                "`{command} --help` has no {name}"
            );
        }
    }
}

#[test]
fn only_codecs_of_pictures_are_cameras_codecs() {
    let with = |codec: &str| parse(&format!("weft demo --codec {codec}"));
    assert!(with("h264").is_ok());
    for wrong in ["av1", "opus"] {
        let error = with(wrong).err().unwrap_or_default();
        let expected = format!("`{wrong}` is not a video codec: write vp8 or h264");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn every_command_has_a_page_and_is_completed() {
    let folder = tempfile::tempdir().expect("a folder");
    clap_mangen::generate_to(Cli::command(), folder.path()).expect("pages");
    let mut script = Vec::new();
    let bash = clap_complete::Shell::Bash;
    clap_complete::generate(bash, &mut Cli::command(), "weft", &mut script);
    let script = String::from_utf8(script).expect("text");
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        assert!(folder.path().join(format!("weft-{name}.1")).is_file());
        assert!(script.contains(name), "{name}");
    }
}
