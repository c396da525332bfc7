mod records;
mod worked;

use super::rates::variation;
use super::{
    ALL, Better, Metric, Owners, RequiredRuns, RunFigures, against_alone, check_name, convergence,
    fair_share, find, flow_rate_equality, harm, jain, position,
};
use crate::measure::run::overlap;
use proptest::prelude::*;
use weft_units::{Duration, Instant};

#[test]
fn jain_index_of_known_shares() {
    // Jain, Chiu, Hawe 1984: k of n users with equal shares give k/n.
    assert_eq!(jain(&[3.0, 3.0, 3.0, 3.0]), Some(1.0));
    assert_eq!(jain(&[3.0, 3.0, 0.0, 0.0]), Some(0.5));
    assert_eq!(jain(&[3.0, 0.0, 0.0, 0.0]), Some(0.25));
    // (1 + 3)² / (2 (1 + 9)) = 0.8.
    assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
    assert_eq!(jain(&[0.0, 0.0]), None);
}

#[test]
fn spans_are_fair_up_to_three_times_the_rate() {
    let even = vec![1.0, 3.0, 2.0];
    let uneven = vec![1.0, 3.1, 2.0];
    let starved = vec![0.0, 1.0];
    let nothing = vec![0.0, 0.0];
    assert_eq!(fair_share(&[even.clone(), even.clone()]), Some(1.0));
    assert_eq!(
        fair_share(&[even, uneven.clone(), starved, nothing.clone(), uneven]),
        Some(0.25)
    );
    assert_eq!(fair_share(&[nothing]), None);
    assert_eq!(fair_share(&[]), None);
}

#[test]
fn flow_rate_equality_is_signed() {
    // The call has twice as much: 1 - 1/2; half as much: -1 + 1/2.
    assert_eq!(flow_rate_equality(2.0, 1.0), Some(0.5));
    assert_eq!(flow_rate_equality(1.0, 2.0), Some(-0.5));
    assert_eq!(flow_rate_equality(1.0, 0.0), Some(1.0));
    assert_eq!(flow_rate_equality(0.0, 1.0), Some(-1.0));
    assert_eq!(flow_rate_equality(0.0, 0.0), None);
}

#[test]
fn harm_is_the_lost_share_of_the_demand() {
    // Grote et al.: Signal yields 75 % of its 1.9 Mbit/s: 0.475 remains.
    assert!((harm(1.9, 0.475).unwrap() - 0.75).abs() < 1e-12);
    // Telegram's 0.55 to 0.70 correspond to 0.34 to 0.23 Mbit/s, WhatsApp's 0.65 to
    // 0.158.
    assert!((harm(0.75, 0.3375).unwrap() - 0.55).abs() < 1e-12);
    assert!((harm(0.75, 0.225).unwrap() - 0.70).abs() < 1e-12);
    assert!((harm(0.45, 0.1575).unwrap() - 0.65).abs() < 1e-12);
    assert_eq!(harm(1.0, 1.25), Some(-0.25));
    assert_eq!(harm(0.0, 1.0), None);
}

#[test]
fn convergence_is_when_the_rate_stays() {
    // Settles at 2.0: 1.7 is just within 15 %, and all rates from the fifth stay within.
    let rates = [0.3, 0.8, 1.9, 1.2, 1.6, 1.75, 2.0, 2.1, 2.0, 1.9, 2.0, 2.0];
    assert_eq!(convergence(&rates), Some(5.0));
    // It never settles: the whole section.
    let rates = [1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0, 9.0];
    assert_eq!(convergence(&rates), Some(8.0));
    assert_eq!(convergence(&[1.0; 5]), None);
}

#[test]
fn a_rate_varies_by_its_steps() {
    assert_eq!(variation(&[2.0, 2.0, 2.0]), Some(0.0));
    // Steps of 1, 1, 2 and 2 on a mean of 2.
    assert_eq!(variation(&[1.0, 2.0, 3.0, 1.0, 3.0]), Some(1.5 / 2.0));
    assert_eq!(variation(&[1.0]), None);
    assert_eq!(variation(&[0.0, 0.0]), None);
}

#[test]
fn periods_at_the_edge_count_in_part() {
    let (at, period) = (Instant::from_nanos(2_000_000_000), Duration::from_secs(1));
    let window = |from, to| (Duration::from_millis(from), Duration::from_millis(to));
    assert_eq!(overlap(at, period, window(0, 5000)), 1.0);
    assert_eq!(overlap(at, period, window(1750, 5000)), 0.25);
    assert_eq!(overlap(at, period, window(1250, 1500)), 0.25);
    assert_eq!(overlap(at, period, window(2000, 5000)), 0.0);
}

fn flows(names: &[&str]) -> Owners {
    Owners {
        flows: names.iter().map(|&name| name.to_owned()).collect(),
        ..Owners::default()
    }
}

#[test]
fn sections_have_names_and_only_some_metrics() {
    let owners = Owners {
        sections: 3,
        ..flows(&["call"])
    };
    for name in ["throughput_mbps#1", "rtt_rise_ms_p95#3", "loss_max#2.call"] {
        assert_eq!(check_name(name, &owners), Ok(()), "{name}");
    }
    assert_eq!(position("loss#2.call"), position("loss"));
    let links = vec!["home".to_owned()];
    let owners = Owners { links, ..owners };
    assert_eq!(check_name("airtime.home-back", &owners), Ok(()));
    assert!(check_name("airtime.away-back", &owners).is_err());
    for (name, part) in [
        ("throughput_mbps#4", "they are 1 to 3"),
        ("throughput_mbps#0", "they are 1 to 3"),
        ("throughput_mbps#two.call", "no section `two`"),
        ("throughput_mbps#2.cal", "did you mean `call`"),
        ("throughput_mpbs#2", "did you mean `throughput_mbps`"),
        ("queue_ms_mean#2", "of whole runs only"),
    ] {
        let error = check_name(name, &owners).unwrap_err();
        assert!(error.contains(part), "{name}: {error}");
    }
    let error = check_name("fps#1", &flows(&["call"])).unwrap_err();
    assert!(error.contains("add sections ="), "{error}");
}

#[test]
fn names_are_unique_and_known() {
    for (index, metric) in ALL.iter().enumerate() {
        assert!(
            ALL[..index].iter().all(|other| other.name != metric.name),
            "{}",
            metric.name
        );
        let name = format!("{}.wifi", metric.name);
        assert_eq!(check_name(metric.name, &Owners::default()), Ok(()));
        assert_eq!(check_name(&name, &flows(&["wifi"])), Ok(()));
        let what = match metric.required_runs {
            RequiredRuns::AllFlows => "there is no flow or link",
            RequiredRuns::AndFlowsAlone => "there is no flow",
        };
        let error = check_name(&name, &flows(&["lte"])).unwrap_err();
        assert_eq!(error, format!("{what} `wifi`: there is lte"));
    }
    let error = check_name("throughput", &Owners::default()).unwrap_err();
    assert!(error.contains("throughput_mbps"), "{error}");
}

#[test]
fn equality_is_asked_of_any_two_flows() {
    let owners = flows(&["call", "upload", "other call"]);
    for name in [
        "flow_rate_equality.call/upload",
        "flow_rate_equality.other call/call",
    ] {
        assert_eq!(check_name(name, &owners), Ok(()), "{name}");
        assert_eq!(position(name), position("flow_rate_equality"));
    }
    let error = check_name("flow_rate_equality.call/uplod", &owners).unwrap_err();
    assert!(
        error.contains("`uplod`") && error.contains("`upload`"),
        "{error}"
    );
    let error = check_name("jain_index.call/upload", &owners).unwrap_err();
    assert!(error.contains("`call/upload`"), "{error}");
}

#[test]
fn the_book_lists_every_metric_as_it_is() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/experiment/metrics.md"
    );
    let book = std::fs::read_to_string(path).unwrap();
    let row = |m: &Metric| {
        let better = match m.better {
            Better::Higher => "more",
            Better::Lower => "less",
            Better::Neither => "",
        };
        format!(
            "| `{}` | {} | {better} | {} | {} |\n",
            m.name, m.unit, m.formula, m.source
        )
    };
    let table: String = ALL.iter().map(row).collect();
    assert!(
        book.contains(&table),
        "docs/experiment/metrics.md should have\n{table}"
    );
}

#[test]
fn harm_of_what_should_be_small_is_what_it_grew_by() {
    let value = |name: &str, alone: f64, together: f64| {
        let of = |value| {
            [
                ("fps.call".to_owned(), value),
                ("loss.call".to_owned(), value),
            ]
        };
        let (alone, together) = (of(alone), of(together));
        let sight = |mbps, values| RunFigures {
            mbps,
            values,
            suffix: ".call",
        };
        against_alone(name, &sight(1.0, &together), &sight(4.0, &alone))
    };
    // Ware et al. 2019, section 4.1: (x - y) / x, and (y - x) / y.
    assert_eq!(value("harm_fps.call", 30.0, 24.0), Some(0.2));
    assert_eq!(value("harm_loss.call", 0.25, 1.0), Some(0.75));
    assert_eq!(value("harm_loss.call", 0.0, 0.0), Some(0.0));
    assert_eq!(value("harm.call", 30.0, 24.0), Some(0.75), "of its rate");
    assert_eq!(value("harm_qp.call", 0.0, 0.0), None, "nobody knows it");
}

#[test]
fn harm_is_named_after_what_has_a_direction() {
    let owners = flows(&["call"]);
    for name in ["harm", "harm.call", "harm_fps", "harm_queue_ms_p95.call"] {
        assert_eq!(check_name(name, &owners), Ok(()), "{name}");
        assert_eq!(
            find(name).unwrap().required_runs,
            RequiredRuns::AndFlowsAlone
        );
    }
    // More throughput is neither better nor worse; its harm is `harm`.
    for name in ["harm_throughput_mbps", "harm_harm", "harm_", "harm_fp"] {
        let error = check_name(name, &owners).unwrap_err();
        assert!(error.starts_with("there is no metric"), "{error}");
    }
    assert!(position("harm_fps") > position("harm"));
}

#[test]
fn harm_is_of_flows_and_not_of_links() {
    let mut owners = flows(&["call", "upload"]);
    owners.links.push("wifi".to_owned());
    for name in ["harm.wifi", "harm_queue_ms_p95.wifi"] {
        let error = check_name(name, &owners).unwrap_err();
        assert!(
            error.contains("compares flows with themselves alone"),
            "{error}"
        );
        assert!(error.contains("`wifi` is a link"), "{error}");
        assert!(error.ends_with("there are call, upload"), "{error}");
    }
    assert_eq!(check_name("queue_ms_p95.wifi", &owners), Ok(()));
}

proptest! {
    #[test]
    fn shares_stay_within_their_bounds(a in 0.0_f64..1e9, b in 0.0_f64..1e9) {
        prop_assert!(jain(&[a, b]).is_none_or(|j| (0.499..=1.001).contains(&j)));
        prop_assert!(flow_rate_equality(a, b).is_none_or(|e| (-1.0..=1.0).contains(&e)));
        prop_assert!(harm(a, b).is_none_or(|h| h <= 1.0));
    }
}
