use super::{LinkSpec, SpecError};
use crate::{
    Aqm, Capacity, DirectionCorrelation, EcnMarking, Generated, GilbertElliott, Motion, Network,
    QueueLimit, Scale, Seeds,
};
use proptest::prelude::*;
use weft_units::{Bytes, Duration, Rate};

fn parse(text: &str) -> LinkSpec {
    text.parse().unwrap()
}

fn message(text: &str) -> String {
    text.parse::<LinkSpec>().unwrap_err().to_string()
}

#[test]
fn every_key_is_read_in_its_units() {
    let spec =
        parse("rate=2.5mbit, delay=25ms,loss=1%,queue=60kB,jitter=500us,aqm=droptail,burst=3kB");
    assert_eq!(spec.capacity, Capacity::Constant(Rate::from_kbps(2_500)));
    assert_eq!(spec.delay, Duration::from_millis(25));
    assert_eq!(spec.jitter, Duration::from_micros(500));
    assert!((spec.loss - 0.01).abs() < 1e-12);
    assert_eq!(spec.queue, QueueLimit::Bytes(Bytes(60_000)));
    assert_eq!(spec.burst, Bytes(3_000));
    assert_eq!(spec.aqm, Aqm::DropTail);
}

#[test]
fn the_two_forms_of_burst_loss_differ() {
    let model = |text: &str| {
        let spec = parse(&format!("rate=1mbit,burst-loss={text}"));
        spec.burst_loss.unwrap()
    };
    assert_eq!(model("50%/4"), GilbertElliott::of_bursts(0.5, 4.0).unwrap());
    let full = GilbertElliott {
        to_bad: 0.5,
        to_good: 0.25,
        bad_loss: 1.0,
        good_loss: 0.0,
    };
    assert_eq!(model("50%/25%/100%"), full);
    let good_loss = 0.125;
    let full = GilbertElliott { good_loss, ..full };
    assert_eq!(model("50%/25%/100%/12.5%"), full);
    assert_eq!(model(&full.to_string()), full);
}

#[test]
fn disciplines_mark_by_default_as_their_sources_do() {
    let aqm = |text: &str| parse(&format!("rate=1mbit,{text}")).aqm;
    assert_eq!(aqm("aqm=codel"), Aqm::CoDel(EcnMarking::Off));
    assert_eq!(aqm("ecn=on,aqm=codel"), Aqm::CoDel(EcnMarking::On));
    assert_eq!(aqm("aqm=fq_codel"), Aqm::FqCodel(EcnMarking::On));
    assert_eq!(aqm("aqm=fq_codel,ecn=off"), Aqm::FqCodel(EcnMarking::Off));
    assert_eq!(aqm("aqm=pie"), Aqm::Pie(EcnMarking::Off));
    assert_eq!(aqm("aqm=dualpi2"), Aqm::DualPi2);
    assert_eq!(aqm("aqm=droptail,ecn=off"), Aqm::DropTail);
}

#[test]
fn the_three_forms_of_a_queue_differ() {
    let queue = |text: &str| parse(&format!("rate=1mbit,delay=1ms,queue={text}")).queue;
    assert_eq!(queue("2bdp"), QueueLimit::Bdp(2.0));
    assert_eq!(queue("1500B"), QueueLimit::Bytes(Bytes(1500)));
    let limit = QueueLimit::Time(Duration::from_millis(1_500));
    assert_eq!(queue("1.5s"), limit);
}

#[test]
fn missing_keys_have_their_defaults() {
    let spec = parse("rate=0bit");
    assert_eq!(spec, LinkSpec::new(Rate::ZERO, Duration::ZERO));
    let limit = QueueLimit::Time(Duration::from_millis(300));
    assert_eq!(spec.queue, limit);
}

#[test]
fn errors_name_the_key_the_value_and_the_remedy() {
    for (text, parts) in [
        ("rate=5", ["rate=5", "5mbit"]),
        ("rate=5mbps", ["rate=5mbps", "5mbit"]),
        ("rate=-5mbit", ["rate=-5mbit", "5mbit"]),
        ("rate=infbit", ["rate=infbit", "5mbit"]),
        ("rate=1e9bit", ["rate=1e9bit", "5mbit"]),
        ("rate=mbit", ["rate=mbit", "5mbit"]),
        ("rate=1mbit,loss=0.01", ["loss=0.01", "0.5%"]),
        ("rate=1mbit,loss=101%", ["loss=101%", "100%"]),
        ("rate=1mbit,delay=25", ["delay=25", "25ms"]),
        ("rate=1mbit,queue=60kb", ["queue=60kb", "60kB"]),
        ("rate=1mbit,queue=2bdp", ["queue=2bdp", "delay=25ms"]),
        ("rate=1mbit,aqm=red", ["aqm=red", "fq_codel"]),
        ("rate=1mbit,ecn=1", ["ecn=1", "ecn=on"]),
        ("rate=1mbit,ecn=on", ["ecn=on", "aqm=codel"]),
        ("rate=1mbit,aqm=dualpi2,ecn=off", ["ecn=off", "aqm=pie"]),
        ("rate=1mbit,burst-loss=1%", ["burst-loss=1%", "2%/5"]),
        ("rate=1mbit,burst-loss=60%/1", ["burst-loss=60%/1", "2%/5"]),
        ("rate=1mbit,burst-loss=1%/0", ["burst-loss=1%/0", "2%/5"]),
        (
            "rate=1mbit,burst-loss=1%/1%/1%/1%/1%",
            ["burst-loss", "2%/5"],
        ),
        ("rate=1mbit,burst=10", ["burst=10", "30kB"]),
        ("rate=1mbit,speed=2", ["speed", "rate, trace"]),
        ("rate=1mbit,rate=2mbit", ["rate", "keep one"]),
        ("delay=1ms", ["rate", "rate=5mbit"]),
        ("", ["KEY=VALUE", "rate=5mbit"]),
    ] {
        let message = message(text);
        for part in parts {
            assert!(message.contains(part), "{text}: no '{part}' in: {message}");
        }
    }
}

#[test]
fn a_trace_is_read_by_the_caller() {
    let read = |file: &str| match file {
        "a.csv" => Ok("1,1000\n2,3000"),
        "bad.csv" => Ok("1,1000\n2,x"),
        _ => Err("no such file"),
    };
    let parse = |text| LinkSpec::parse(text, |file| read(file).map(str::to_owned));
    let spec = parse("trace=a.csv,delay=25ms,queue=2bdp").unwrap();
    assert_eq!(spec.capacity.reference(), Rate::from_kbps(16));
    assert!(spec.to_string().starts_with("trace=a.csv,delay=25ms"));
    for (text, parts) in [
        ("trace=b.csv", ["trace=b.csv", "no such file"]),
        ("trace=bad.csv", ["line 2, column 3", "bytes per second"]),
        ("trace=a.csv,rate=1mbit", ["rate and trace", "keep one"]),
        (
            "trace=generated:x",
            ["generated:x", "generated:walking/lte"],
        ),
    ] {
        let message = parse(text).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{text}: no '{part}' in: {message}");
        }
    }
    // If no files are read, the message names the alternatives.
    let message = message("trace=a.csv");
    assert!(message.contains("generated:walking/lte"), "{message}");
}

#[test]
fn a_generated_trace_needs_no_file() {
    let spec = parse("trace=generated:driving/lte2/7,delay=25ms");
    let expected = Generated {
        motion: Motion::Driving,
        network: Network::Lte2,
        ways: DirectionCorrelation::AsMeasured,
        scale: Scale::PROFILE,
        seeds: Some(Seeds { both: 7, own: 7 }),
    };
    assert_eq!(spec.capacity, Capacity::Generated(expected));
    assert_eq!(parse(&spec.to_string()), spec);
}

fn any_aqm() -> impl Strategy<Value = Aqm> {
    use EcnMarking::{Off, On};
    prop::sample::select(vec![
        Aqm::DropTail,
        Aqm::CoDel(Off),
        Aqm::CoDel(On),
        Aqm::FqCodel(Off),
        Aqm::FqCodel(On),
        Aqm::Pie(Off),
        Aqm::Pie(On),
        Aqm::DualPi2,
    ])
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9.=,%\\- ]{0,60}|\\PC{0,40}") {
        let _ = text.parse::<LinkSpec>();
    }

    #[test]
    fn displayed_values_parse_to_themselves(
        bps in 0_u64..1_000_000_000_000,
        delay_us in 1_u64..3_600_000_000,
        jitter_us in 0_u64..1_000_000,
        per_mille in 0_u32..=1000,
        queue in prop_oneof![
            (0_u64..1_000_000_000).prop_map(|b| QueueLimit::Bytes(Bytes(b))),
            (0_u64..3_600_000_000).prop_map(|us| QueueLimit::Time(Duration::from_micros(us))),
            (0_u32..8_000).prop_map(|n| QueueLimit::Bdp(f64::from(n) / 8.0)),
        ],
        aqm in any_aqm(),
        burst in 0_u64..1_000_000,
    ) {
        let mut spec = LinkSpec::new(Rate::from_bps(bps), Duration::from_micros(delay_us));
        spec.jitter = Duration::from_micros(jitter_us);
        spec.loss = f64::from(per_mille) / 1e3;
        spec.queue = queue;
        spec.aqm = aqm;
        spec.burst = Bytes(burst);
        let back = parse(&spec.to_string());
        prop_assert!((back.loss - spec.loss).abs() < 1e-9);
        prop_assert_eq!(LinkSpec { loss: spec.loss, ..back }, spec);
    }
}

#[test]
fn every_key_that_is_named_is_known() {
    for key in LinkSpec::KEYS {
        let text = format!("{key}=?");
        let error = LinkSpec::parse(&text, |_| Err::<String, _>("no file")).unwrap_err();
        assert!(
            !matches!(error, SpecError::UnknownKey { .. }),
            "{key}: {error}"
        );
    }
}
