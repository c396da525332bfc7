//! Congestion controllers that are Python classes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use weft_cc::{Controller, CustomController, Limits, PacketResult, SentPacket, Snapshot};
use weft_units::{Deadline, Duration, Ecn, Instant, Rate};

use crate::error::LabError;
use crate::failure::Failure;

/// Creates a controller of this class.
pub fn custom(name: String, class: Py<PyAny>, failure: Failure) -> &'static CustomController {
    let of = name.clone();
    let make = move |limits: Limits, _now: Instant| -> Box<dyn Controller> {
        let bounds = [limits.min, limits.start, limits.max].map(bps);
        let made = Python::attach(|py| {
            let object = class.call1(py, (bounds[0], bounds[1], bounds[2]))?;
            let gain = object.getattr(py, "pacing_gain")?.extract::<f64>(py)?;
            Ok((object, checked("pacing_gain", gain)?))
        });
        let (object, gain) = made.unwrap_or_else(|error: PyErr| failure.end_run(&of, error));
        Box::new(PythonController {
            name: of.clone(),
            object,
            failure: failure.clone(),
            limits,
            target: limits.start,
            gain,
            last: None,
        })
    };
    Box::leak(Box::new(CustomController::new(name, Box::new(make))))
}

fn bps(rate: Rate) -> f64 {
    rate.as_bps() as f64
}

/// Checks a number that a class has returned.
fn checked(what: &str, value: f64) -> PyResult<f64> {
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => Err(PyValueError::new_err(format!(
            "{what} is {value}: give a finite number, at least 0"
        ))),
    }
}

/// Controller whose decisions are made by a Python object.
struct PythonController {
    name: String,
    object: Py<PyAny>,
    failure: Failure,
    limits: Limits,
    target: Rate,
    /// Pacing rate relative to the target rate.
    gain: f64,
    /// Time of the last feedback.
    last: Option<Instant>,
}

impl Controller for PythonController {
    fn on_packet_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], rtt: Option<Duration>) {
        let interval = self.last.replace(now).map(|last| now - last);
        let answer = Python::attach(|py| {
            let feedback = Feedback::new(results, interval, rtt);
            let answer =
                self.object
                    .call_method1(py, "on_feedback", (now.as_secs_f64(), feedback))?;
            let target = answer.extract::<f64>(py).map_err(|_| {
                let kind = answer.bind(py).get_type().name();
                let kind = kind.unwrap_or_else(|_| PyString::new(py, "object"));
                LabError::new_err(format!(
                    "on_feedback returned a {kind}: return the target rate in bit/s"
                ))
            })?;
            checked("the target rate that on_feedback returned", target)
        });
        let target = answer.unwrap_or_else(|error| self.failure.end_run(&self.name, error));
        let target = Rate::from_bps(target.round() as u64);
        self.target = target.clamp(self.limits.min, self.limits.max);
    }

    fn on_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    fn on_path_restored(&mut self, now: Instant) {
        self.target = self.limits.start;
        let told = Python::attach(|py| {
            self.object
                .call_method1(py, "on_path_restored", (now.as_secs_f64(),))
                .map(drop)
        });
        told.unwrap_or_else(|error| self.failure.end_run(&self.name, error));
    }

    fn target_rate(&self) -> Rate {
        self.target
    }

    fn pacing_rate(&self) -> Rate {
        self.target.mul_f64(self.gain)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            target: self.target,
            acked: None,
            loss: 0.0,
            state: "python",
        }
    }
}

/// Feedback about packets of one path.
#[pyclass(frozen, get_all, module = "weft_lab")]
pub struct Feedback {
    /// Number of packets that arrived.
    received: usize,
    /// Number of packets that were lost.
    lost: usize,
    /// Number of packets with an ECN mark.
    marked: usize,
    /// Bytes of the packets that arrived.
    received_bytes: u64,
    /// Mean one-way delay of the packets that arrived, in seconds; `None` if all were
    /// lost.
    delay: Option<f64>,
    /// Round-trip time in seconds; `None` while unknown.
    rtt: Option<f64>,
    /// Time since the previous feedback in seconds; `None` in the first one.
    interval: Option<f64>,
    /// Each packet: sending and arrival time in seconds (`None` if lost), and size in
    /// bytes.
    packets: Vec<(f64, Option<f64>, u64)>,
}

impl Feedback {
    fn new(
        results: &[PacketResult],
        interval: Option<Duration>,
        rtt: Option<Duration>,
    ) -> Feedback {
        let delays = results.iter().filter_map(|result| {
            let arrival = result.arrival?;
            Some(arrival.signed_nanos_since(result.sent.sent_at) as f64 / 1e9)
        });
        let received = delays.clone().count();
        let arrived = results.iter().filter(|result| result.arrival.is_some());
        Feedback {
            received,
            lost: results.len() - received,
            marked: arrived
                .clone()
                .filter(|result| result.ecn == Ecn::Ce)
                .count(),
            received_bytes: arrived.map(|result| result.sent.size.0).sum(),
            delay: (received > 0).then(|| delays.sum::<f64>() / received as f64),
            rtt: rtt.map(Duration::as_secs_f64),
            interval: interval.map(Duration::as_secs_f64),
            packets: results
                .iter()
                .map(|result| {
                    let arrival = result.arrival.map(Instant::as_secs_f64);
                    (
                        result.sent.sent_at.as_secs_f64(),
                        arrival,
                        result.sent.size.0,
                    )
                })
                .collect(),
        }
    }
}
