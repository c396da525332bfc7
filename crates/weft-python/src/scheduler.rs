//! Schedulers that are Python classes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use weft_session::schedule::{
    Assignment, Assignments, Batch, Class, CustomScheduler, PathView, Scheduler,
};
use weft_units::{Duration, Instant, PathId, Rate};

use crate::failure::Failure;

/// Creates a scheduler of this class.
pub fn custom(name: String, class: Py<PyAny>, failure: Failure) -> &'static CustomScheduler {
    let of = name.clone();
    let make = move || -> Box<dyn Scheduler> {
        let made = Python::attach(|py| class.call0(py));
        let object = made.unwrap_or_else(|error| failure.end_run(&of, error));
        Box::new(PythonScheduler {
            name: of.clone(),
            object,
            failure: failure.clone(),
        })
    };
    Box::leak(Box::new(CustomScheduler::new(name, Box::new(make))))
}

struct PythonScheduler {
    name: String,
    object: Py<PyAny>,
    failure: Failure,
}

/// Path, or a path for each packet, returned by a class.
#[derive(FromPyObject)]
enum Choice {
    One(u8),
    Each(Vec<u8>),
}

impl PythonScheduler {
    fn choice(&self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> PyResult<Assignments> {
        Python::attach(|py| {
            let views: Vec<Path> = paths.iter().map(Path::new).collect();
            let arguments = (now.as_secs_f64(), Packets::new(batch), views);
            let answer = self.object.call_method1(py, "assign", arguments)?;
            let chosen = match answer.extract::<Choice>(py) {
                Ok(Choice::One(path)) => vec![path; batch.sizes.len()],
                Ok(Choice::Each(chosen)) => chosen,
                Err(_) => {
                    let text =
                        "assign must return the id of a path, or a list with one for each packet";
                    return Err(PyValueError::new_err(text));
                }
            };
            if chosen.len() != batch.sizes.len() {
                return Err(PyValueError::new_err(format!(
                    "assign returned {} paths for {} packets: return one for each",
                    chosen.len(),
                    batch.sizes.len()
                )));
            }
            let checked = chosen.into_iter().map(|id| {
                let is_live = paths.iter().any(|path| path.id == PathId(id));
                let wrong = || {
                    let live: Vec<String> =
                        paths.iter().map(|path| path.id.0.to_string()).collect();
                    let live = live.join(", ");
                    PyValueError::new_err(format!(
                        "assign returned path {id}, which is not one of `paths`: there are {live}"
                    ))
                };
                is_live
                    .then(|| Assignment::from(PathId(id)))
                    .ok_or_else(wrong)
            });
            checked.collect()
        })
    }
}

impl Scheduler for PythonScheduler {
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        let chosen = self.choice(now, batch, paths);
        chosen.unwrap_or_else(|error| self.failure.end_run(&self.name, error))
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        paths.iter().map(|path| path.rate).sum()
    }
}

/// Packets that are sent together, usually those of a frame.
#[pyclass(frozen, get_all, module = "weft_lab")]
pub struct Packets {
    /// Number of the stream.
    stream: u32,
    /// `keyframe`, `delta`, `audio`, `parameters`, `repair` or `retransmission`.
    kind: &'static str,
    /// Sizes of the packets in bytes, in sending order.
    sizes: Vec<u64>,
}

impl Packets {
    fn new(batch: &Batch<'_>) -> Packets {
        Packets {
            stream: batch.stream.0,
            kind: match batch.class {
                Class::Retransmission => "retransmission",
                Class::Keyframe => "keyframe",
                Class::SequenceParameters | Class::PictureParameters => "parameters",
                Class::Repair => "repair",
                Class::Audio => "audio",
                Class::Delta => "delta",
            },
            sizes: batch.sizes.iter().map(|size| size.0).collect(),
        }
    }
}

/// Path that packets can use.
#[pyclass(frozen, get_all, module = "weft_lab")]
pub struct Path {
    /// Identity of the path in this call.
    id: u8,
    /// Target rate of its controller in bit/s.
    rate: f64,
    /// One-way delay above that of the fastest path, in seconds.
    delay: f64,
    /// Bytes that wait for the pacer.
    queued: u64,
    /// Smoothed round-trip time in seconds.
    rtt: f64,
    /// Recent share of lost packets, 0 to 1.
    loss: f64,
    /// Bytes sent and neither acknowledged nor lost.
    in_flight: u64,
}

impl Path {
    fn new(view: &PathView) -> Path {
        let seconds = |time: Duration| time.as_secs_f64();
        Path {
            id: view.id.0,
            rate: view.rate.as_bps() as f64,
            delay: seconds(view.delay),
            queued: view.queued.0,
            rtt: seconds(view.srtt),
            loss: view.loss,
            in_flight: view.in_flight.0,
        }
    }
}
