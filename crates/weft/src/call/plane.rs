//! Media side of the server in `weft call`.

use std::sync::Arc;

use weft_endpoint::caller::CallError;
use weft_endpoint::{AnswerError, Direct};
use weft_server::media_plane::{
    Destination, Media, MediaError, MediaPlane, Negotiated, Play, Request, ResourceId, Stats,
};

/// Media plane with one publisher: this endpoint. The resource ids identify the
/// viewers.
pub struct DirectPlane(pub Arc<Direct>);

impl MediaPlane for DirectPlane {
    fn send(&self, _: Destination<'_>, request: Request) {
        let mut plane = self;
        request(&mut plane);
    }
}

impl Media for &DirectPlane {
    fn play(&mut self, play: Play) -> Result<Negotiated, MediaError> {
        if play.offer.is_some() {
            let reason = "the sender makes the offer: POST without a body".to_owned();
            return Err(MediaError::WrongState { reason });
        }
        let sdp = self.0.offer(&play.resource.0).map_err(describe)?;
        let streams = self.0.publishing();
        Ok(Negotiated {
            sdp,
            streams,
            ice_session: None,
        })
    }

    fn answer(&mut self, resource: ResourceId, sdp: String) -> Result<(), MediaError> {
        self.0
            .accept(&resource.0, sdp)
            .map_err(|error| match error {
                AnswerError::UnknownViewer => MediaError::UnknownResource,
                AnswerError::Answered => MediaError::WrongState {
                    reason: error.to_string(),
                },
                AnswerError::Call(error) => describe(error),
            })
    }

    fn close(&mut self, resource: &ResourceId) {
        self.0.close(&resource.0);
    }

    fn stats(&mut self) -> Stats {
        Stats {
            publications: 1,
            playbacks: self.0.viewers() as u64,
            ..Stats::default()
        }
    }
}

fn describe(error: CallError) -> MediaError {
    match error {
        CallError::Ended => MediaError::Gone,
        error => MediaError::BadDescription {
            reason: error.to_string(),
        },
    }
}
