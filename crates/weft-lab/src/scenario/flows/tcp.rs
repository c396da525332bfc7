//! TCP connections.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use weft_experiment::{Application, CongestionKind, EcnMode, FlowKind, TcpSetup};
use weft_units::Duration;

use super::{Conditions, Fields, Result};
use crate::names::unknown_name;
use crate::scenario::place::{Source, Text};
use crate::scenario::quantity::{Size, Time};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tcp {
    algorithm: Option<Text>,
    connections: Option<Spanned<u32>>,
    ecn: Option<Spanned<bool>>,
    receive_window: Option<Spanned<Size>>,
    small_queues: Option<Spanned<Time>>,
    size: Option<Spanned<Size>>,
    sizes: Option<Spanned<[Size; 2]>>,
    pause: Option<Spanned<Time>>,
}

impl Fields for Tcp {
    fn read(&self, conditions: &Conditions<'_>, _whole: Range<usize>) -> Result<FlowKind> {
        let ecn = self.ecn.as_ref().is_some_and(|ecn| *ecn.get_ref());
        Ok(FlowKind::Tcp(TcpSetup {
            congestion: self.congestion(conditions.source)?,
            application: self.application(conditions.source)?,
            connections: self.connections.as_ref().map_or(1, |n| *n.get_ref()),
            ecn: if ecn { EcnMode::On } else { EcnMode::Off },
            receive_window: self.receive_window.as_ref().map(|size| size.get_ref().0),
            small_queues: self.small_queues.as_ref().map(|time| time.get_ref().0),
        }))
    }
}

impl Tcp {
    fn congestion(&self, source: &Source) -> Result<CongestionKind> {
        let Some(name) = &self.algorithm else {
            return Ok(CongestionKind::Cubic);
        };
        name.get_ref().parse().map_err(|_| {
            let known = CongestionKind::ALL.iter().map(|kind| kind.name());
            let message = unknown_name("there is no TCP algorithm", name.get_ref(), known);
            source.error(name.span(), message)
        })
    }

    fn application(&self, source: &Source) -> Result<Application> {
        match (&self.size, &self.sizes, &self.pause) {
            (None, None, None) => Ok(Application::LongLived),
            (Some(size), None, None) => Ok(Application::Upload(size.get_ref().0)),
            (None, Some(sizes), pause) => {
                let [low, high] = *sizes.get_ref();
                let mean_pause = pause.as_ref().map_or(Duration::ZERO, |p| p.get_ref().0);
                Ok(Application::OnOff {
                    size: (low.0, high.0),
                    mean_pause,
                })
            }
            (Some(_), _, Some(at)) | (None, None, Some(at)) => {
                let message =
                    "`pause` stands between transfers: give `sizes = [\"100kB\", \"1MB\"]` with it";
                Err(source.error(at.span(), message))
            }
            (Some(_), Some(at), None) => {
                let message = "`size` is one upload, `sizes` many with pauses: keep one of them";
                Err(source.error(at.span(), message))
            }
        }
    }
}
