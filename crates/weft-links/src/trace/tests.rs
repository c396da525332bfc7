use super::{Trace, TraceStatistics};
use crate::{Capacity, Link, LinkSpec, QueueLimit};
use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn message(name: &str, text: &str) -> String {
    Trace::parse(name, text).unwrap_err().to_string()
}

#[test]
fn a_mahimahi_line_is_1504_bytes_in_its_millisecond() {
    // Two packets at 0, one at 2, and one at 5, which is the end: it leaves at 0 of the
    // next round. 1504 bytes in a millisecond are 12.032 Mbps.
    let trace = Trace::parse("lte.up", "0\n0\n2\n5\n").unwrap();
    let one = Rate::from_bps(12_032_000);
    let steps = [
        (ms(0), one.mul_f64(3.0)),
        (ms(1), Rate::ZERO),
        (ms(2), one),
        (ms(3), Rate::ZERO),
    ];
    assert_eq!(trace.schedule().steps(), steps);
    assert_eq!(trace.length(), ms(5));
    assert_eq!(trace.mean(), Rate::from_bps(4 * 12_032_000 / 5));
    assert_eq!(trace.name(), "lte.up");
}

#[test]
fn a_csv_line_is_a_rate_until_the_next_one() {
    let trace = Trace::parse("a.csv", "second,bytes\n1,1000\n2,0\r\n\n# a\n4.5,250.5").unwrap();
    let steps = [
        (ms(0), Rate::from_bps(8_000)),
        (ms(1_000), Rate::ZERO),
        (ms(3_500), Rate::from_bps(2_004)),
    ];
    assert_eq!(trace.schedule().steps(), steps);
    assert_eq!(trace.length(), ms(6_000));
    assert_eq!(Trace::csv("a", "7,1").unwrap().length(), ms(1_000));
}

#[test]
fn the_format_is_seen_from_the_name_or_the_first_line() {
    for (name, text, length) in [
        ("a.CSV", "1,5\n2,5", 2_000),
        ("a.trace", "# x\n1,5\n2,5", 2_000),
        ("a.trace", "# x\n1\n5", 5),
    ] {
        assert_eq!(Trace::parse(name, text).unwrap().length(), ms(length));
    }
    assert!(message("a.up", "1,5\n2,5").contains(".csv"));
    assert!(message("a.csv", "1\n2\n5").contains("bytes per second"));
}

#[test]
fn errors_name_the_line_the_column_and_the_remedy() {
    for (name, text, place, remedy) in [
        ("a.csv", "", "line 1, column 1", "at least one line"),
        (
            "a.csv",
            "second,bytes\n",
            "line 1, column 1",
            "at least one line",
        ),
        ("a.csv", "1,5\n2,", "line 2, column 3", "ends early"),
        ("a.csv", "1,5\n12", "line 2, column 4", "ends early"),
        (
            "a.csv",
            "1,5\n2\n3,4",
            "line 2, column 3",
            "second,bytes per second",
        ),
        (
            "a.csv",
            "1,5,6\n2,5,6",
            "line 1, column 3",
            "3 column(s), not 2",
        ),
        ("a.csv", "1,5\n2,-5\n", "line 2, column 3", "negative"),
        ("a.csv", "-1,5\n2,5\n", "line 1, column 1", "negative"),
        (
            "a.csv",
            "1,5\n2,five",
            "line 2, column 3",
            "bytes per second",
        ),
        (
            "a.csv",
            "1,5\n2,1e9",
            "line 2, column 3",
            "bytes per second",
        ),
        (
            "a.csv",
            "1,5\n2,inf",
            "line 2, column 3",
            "bytes per second",
        ),
        (
            "a.csv",
            "1,5\n2,126000000000",
            "line 2, column 3",
            "too much",
        ),
        ("a.csv", "1,5\n3,5\n2,5", "line 3, column 1", "from 3 to 2"),
        (
            "a.csv",
            "1,5\n1,5",
            "line 2, column 1",
            "the line before has the time 1, too",
        ),
        ("a.csv", "1,5\n99999,5", "line 2, column 1", "a day"),
        ("a.up", "", "line 1, column 1", "empty"),
        ("a.up", "0\n0\n", "line 2, column 1", "no duration"),
        ("a.up", "4\n 3\n", "line 2, column 2", "from 4 to 3"),
        ("a.up", "-4\n", "line 1, column 1", "negative"),
        ("a.up", "4\n1.5", "line 2, column 1", "whole number"),
        ("a.up", "4\nx", "line 2, column 1", "milliseconds"),
        ("a.up", "4 5\n", "line 1, column 2", "2 column(s), not 1"),
        ("a.up", "4\n86400001\n", "line 2, column 1", "a day"),
    ] {
        let message = message(name, text);
        let at = format!("trace '{name}', {place}: ");
        assert!(message.starts_with(&at), "{text:?}: {message}");
        assert!(message.contains(remedy), "{text:?}: {message}");
    }
}

/// Returns the rate of the first line and the length of a trace.
fn read(name: &str, text: &str) -> (Rate, Duration) {
    let trace = Trace::parse(name, text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    (trace.schedule().steps()[0].1, trace.length())
}

#[test]
fn titles_name_the_units() {
    // 1500 kbit/s for 2 s in each table.
    for (titles, time, rate) in [
        ("time_ms,kbps", "1000", "1500"),
        ("time_s,throughput_mbps", "1", "1.5"),
        ("second,bytes", "1", "187500"),
        ("second,bytes per second", "1", "187500"),
        ("Time (s),Rate [Mbit/s]", "1", "1.5"),
        ("timestamp,bandwidth_kbit_s", "1", "1500"),
        ("t_us,bit/s", "1000000", "1500000"),
        ("milliseconds,bits_per_second", "1000", "1500000"),
        ("\"time\",\"kB/s\"", "1", "187.5"),
        ("time,KBps", "1", "187.5"),
        ("time,kb/s", "1", "1500"),
        ("time,MB/s", "1", "0.1875"),
        ("time,gbps", "1", "0.0015"),
        ("time,bytes_sec", "1", "187500"),
        ("# time_ms,kbps", "1000", "1500"),
        ("time_ms kbps", "1000", "1500"),
        ("time (ms)\trate (kbps)", "1000", "1500"),
        ("time_ms;kbps", "1000", "1500,0"),
        ("rate_kbps,rssi,time_ms", "1000", "1500"),
    ] {
        let swapped = titles.starts_with("rate");
        let sign = [';', '\t', ',']
            .into_iter()
            .find(|sign| titles.contains(*sign));
        let sign = sign.unwrap_or(' ');
        let line = |time: f64| match swapped {
            true => format!("{rate}{sign}-70{sign}{time}"),
            false => format!("{time}{sign}{rate}"),
        };
        let time: f64 = time.parse().unwrap();
        let text = format!("{titles}\r\n{}\r\n{}\r\n", line(time), line(2.0 * time));
        assert_eq!(
            read("a.csv", &text),
            (Rate::from_kbps(1_500), ms(2_000)),
            "{titles}"
        );
    }
}

#[test]
fn public_sets_of_traces_are_read_as_they_are() {
    // Pensieve and Oboe: seconds and Mbit/s.
    let mbps = (Rate::from_kbps(1_250), ms(1_500));
    for text in [
        "0.5 1.25\n1.25 0\n",
        "0.5\t1.25\n1.25\t0\n",
        "0,5 1,25\n1,25 0\n",
    ] {
        assert_eq!(read("report_bus_0010", text), mbps, "{text:?}");
    }
    // Times since 1970.
    assert_eq!(
        read("a.log", "1451624400.5 1.25\n1451624401.25 0").1,
        ms(1_500)
    );
    // Telenor and Ghent: 125,000 bytes in 500 ms, then an outage of 1 s.
    let log = "1289406399 549 59.851754 10.781778 125000 500\n\
               1289406400 1549 59.851752 10.781801 0 1000\n";
    let trace = Trace::parse("report.2010-11-10.log", log).unwrap();
    let steps = [(ms(0), Rate::from_mbps(2)), (ms(500), Rate::ZERO)];
    assert_eq!(
        (trace.schedule().steps(), trace.length()),
        (&steps[..], ms(1_500))
    );
    // A German table, seconds and bytes per second.
    assert_eq!(
        read("a.csv", "0,5;1000\n1,0;0\n"),
        (Rate::from_kbps(8), ms(1_000))
    );
}

#[test]
fn units_and_formats_that_are_not_known_are_refused_with_place_and_remedy() {
    for (text, place, remedy) in [
        ("time,throughput\n1,5", "line 1, column 6", "name the unit"),
        (
            "time,packets/s\n1,5",
            "line 1, column 6",
            "time_ms,rate_kbps",
        ),
        (
            "time,bytes/ms\n1,5",
            "line 1, column 6",
            "time_ms,rate_kbps",
        ),
        (
            "\n# x\nlatitude,kbps\n1,5",
            "line 3, column 1",
            "one time and one rate",
        ),
        (
            "time,dl_kbps,ul_kbps\n1,5,6",
            "line 1, column 1",
            "one time and one rate",
        ),
        ("time_ms,kbps\n", "line 1, column 1", "at least one line"),
        ("time_ms,kbps\n1,5\n2,-5\n", "line 3, column 3", "negative"),
        ("0 5000000\n1 5000000\n", "line 1, column 3", "too much"),
        ("0,5,1,25\n1,0,1,5\n", "line 1, column 3", "semicolons"),
        ("1,5\n86500,5\n", "line 2, column 1", "time_ms"),
        ("[{\"duration_ms\": 1000}]", "line 1, column 1", "JSON"),
        (
            "time_ms kbps\n1 5\n2\n3 5",
            "line 3, column 3",
            "1 column(s), not 2",
        ),
        ("1 2 3 4 5 x\n", "line 1, column 11", "log of a download"),
        ("#\n0 -\n", "line 2, column 3", "not a number"),
    ] {
        let message = message("a.csv", text);
        let at = format!("trace 'a.csv', {place}: ");
        assert!(message.starts_with(&at), "{text:?}: {message}");
        assert!(message.contains(remedy), "{text:?}: {message}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    for (name, text) in [("a.csv", "0,1000\n1,3000\n"), ("a.up", "2\n5\n")] {
        let marked = format!("\u{feff}{text}");
        assert_eq!(Trace::parse(name, &marked), Trace::parse(name, text));
        assert!(Trace::parse(name, &marked).is_ok());
    }
}

#[test]
fn windows_are_means_over_whole_stretches() {
    let trace = Trace::csv("a", "0,1000\n1,3000\n3,0\n4,500").unwrap();
    let kbps = |n| Rate::from_kbps(n);
    let two = trace.windows(ms(2_000));
    assert_eq!(two, [kbps(16), kbps(12)]);
    // Windows of one and a half seconds: 8 and half of 24; then 24; then 4.
    let odd = trace.windows(ms(1_500));
    assert_eq!(odd[..2], [Rate::from_bps(40_000 / 3), kbps(24)]);
    assert_eq!(trace.windows(ms(0)), []);
    assert_eq!(trace.windows(ms(5_001)), []);
}

#[test]
fn statistics_are_those_of_a_worked_example() {
    // 0, 0, 4, 4 Mbps: mean 2, deviation 2; neighbours (4 - 4 + 4) / 16 = 1/4; one outage
    // of two seconds.
    let rates = [0, 0, 4, 4].map(Rate::from_mbps);
    let s = TraceStatistics::of(&rates, ms(1_000));
    assert_eq!(s.mean, Rate::from_mbps(2));
    assert!((s.variation - 1.0).abs() < 1e-12);
    assert!((s.correlation - 0.25).abs() < 1e-12);
    assert!((s.outage_share - 0.5).abs() < 1e-12);
    assert_eq!(s.outage_length, ms(2_000));
    // Together with a trace without outages: half the share, the same length.
    let flat = TraceStatistics::of(&[Rate::from_mbps(4); 4], ms(1_000));
    let both = TraceStatistics::mean_of(&[s, flat]);
    assert_eq!(both.mean, Rate::from_mbps(3));
    assert!((both.outage_share - 0.25).abs() < 1e-12);
    assert_eq!(both.outage_length, ms(2_000));
    let none = TraceStatistics::of(&[], ms(1_000));
    assert_eq!(none.variation, 0.0);
}

/// Returns the bytes delivered by a link with this trace after each millisecond, with
/// packets always waiting.
fn played(trace: Trace, until_ms: u64, size: u64) -> Vec<u64> {
    let mut spec = LinkSpec::new(Rate::ZERO, Duration::ZERO);
    spec.capacity = Capacity::Trace(trace);
    spec.queue = QueueLimit::Bytes(Bytes(u64::MAX));
    let mut link = Link::new(&spec, Rng::new(0));
    let mut waiting = 0;
    let mut delivered = Vec::new();
    for t in 0..=until_ms {
        let now = Instant::ZERO + ms(t);
        while waiting < 100_000 {
            link.enqueue(now, Bytes(size), ());
            waiting += size;
        }
        while link.poll(now).is_some() {
            waiting -= size;
        }
        delivered.push(link.counters().delivered.bytes.0);
    }
    delivered
}

proptest! {
    #[test]
    fn a_saturated_link_carries_every_millisecond_what_the_trace_says(
        mut slots in prop::collection::vec(0_u64..50, 1..100),
    ) {
        slots.sort_unstable();
        slots.push(50);
        let text: String = slots.iter().map(|s| format!("{s}\n")).collect();
        let trace = Trace::parse("x.down", &text).unwrap();
        let delivered = played(trace, 150, 1504);
        for (t, bytes) in (0_u64..).zip(delivered) {
            // Only whole packets: all those of the milliseconds before this one.
            let rounds = (0..t).map(|ms| ms % 50);
            let due = rounds.map(|ms| slots.iter().filter(|s| **s % 50 == ms).count() as u64);
            prop_assert_eq!(bytes, 1504 * due.sum::<u64>(), "after {} ms", t);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(
        text in "([0-9.,\\-#\\n ]|[a-z]){0,60}|\\PC{0,40}",
        name in prop::sample::select(vec!["a.up", "a.csv", "a"]),
    ) {
        let _ = Trace::parse(name, &text);
    }
}
