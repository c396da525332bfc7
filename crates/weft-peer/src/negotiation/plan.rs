//! Plan of an answer: the use of each section of an offer.

use weft_session::Delivery;
use weft_units::{Codec, MediaKind};
use weft_wire::payload::{self, Form};
use weft_wire::sdp::{Media, SectionKind, SessionDescription};

use super::{NegotiationError, PayloadTypes, forms};
use crate::stream::StreamDirection;

/// Parts of an offer that an answer accepts.
#[derive(Clone, Debug)]
pub struct AnswerPolicy {
    /// Form in which the offerer's streams are received.
    pub receive: Option<Delivery>,
    /// Streams that the answer sends; each uses the first section that accepts it.
    pub send: Vec<Outgoing>,
}

/// Stream that an answer sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// Kind of media.
    pub kind: MediaKind,
    /// The only form that it may have. Default: weft's own form of every codec of its
    /// kind that the [`PeerConfig`](crate::PeerConfig) allows.
    pub form: Option<Form>,
}

impl From<MediaKind> for Outgoing {
    fn from(kind: MediaKind) -> Outgoing {
        Outgoing { kind, form: None }
    }
}

/// Treatment of a section in an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plan {
    /// It carries streams.
    Used(Use),
    /// It is accepted but carries nothing, because there is no stream for the offerer to
    /// receive. A rejection would end the call of clients that require ICE and DTLS
    /// attributes in every section (aiortc).
    Idle(PayloadTypes),
    /// It carries data channels.
    Data,
    /// It is rejected with port zero.
    Rejected,
}

/// Streams of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub types: PayloadTypes,
    /// Index of the stream that we send, among the streams of its kind.
    pub sent: Option<usize>,
    pub received: bool,
}

impl Plan {
    pub fn is_used(&self) -> bool {
        matches!(self, Plan::Used(_))
    }
}

/// Returns the plan of each section, in the offer's order.
///
/// # Errors
///
/// If a stream that the offer or the answer would send has no common codec (RFC 9725
/// section 4.4.3: no partially successful answers), if no stream remains, or if the
/// streams do not share one transport.
pub(crate) fn plan(
    offer: &SessionDescription,
    allowed: &[Codec],
    policy: &AnswerPolicy,
) -> Result<Vec<Plan>, NegotiationError> {
    let mut waiting = Waiting::all(&policy.send);
    let each = offer.media.iter();
    let plans = each.map(|offered| plan_of(offered, allowed, policy, &mut waiting));
    let mut plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
    if !plans.iter().any(Plan::is_used) {
        return Err(nothing_flows(offer, policy));
    }
    check_transport(offer, &plans)?;
    let grouped = |media: &Media| is_grouped(offer, media);
    let used = plans.iter().zip(&offer.media).filter(|(p, _)| p.is_used());
    let shared = used.map(|(_, media)| media).all(grouped);
    for (plan, media) in plans.iter_mut().zip(&offer.media) {
        // Outside the group, it would need its own transport.
        let shares = shared && grouped(media) && media.rtcp_mux;
        if matches!(plan, Plan::Idle(_)) && !shares {
            *plan = Plan::Rejected;
        }
    }
    Ok(plans)
}

/// Plans to accept the offer's data channels if they share the transport of media.
pub(crate) fn accept_data(offer: &SessionDescription, plans: &mut [Plan]) {
    // Only the first of several sections, because a transport has only one SCTP association.
    let mut sections = plans.iter_mut().zip(&offer.media);
    let data = sections.find(|(_, media)| {
        !media.is_rejected() && media.data_channel_terms().is_some() && is_grouped(offer, media)
    });
    if let Some((plan, _)) = data {
        *plan = Plan::Data;
    }
}

fn is_grouped(offer: &SessionDescription, media: &Media) -> bool {
    media.mid.is_some_and(|mid| offer.bundle.contains(&mid))
}

fn plan_of(
    offered: &Media,
    allowed: &[Codec],
    policy: &AnswerPolicy,
    waiting: &mut Vec<Waiting>,
) -> Result<Plan, NegotiationError> {
    let SectionKind::Media(kind) = offered.kind else {
        // Data channels and similar: pages open them in addition to media, and rejecting
        // them loses no media.
        return Ok(Plan::Rejected);
    };
    if offered.is_rejected() {
        return Ok(Plan::Rejected);
    }
    let sent = match offered.direction.receives() {
        true => Waiting::take(waiting, offered, kind, allowed)?,
        false => None,
    };
    let received = policy.receive.is_some() && offered.direction.sends();
    let types = sent
        .map(|(types, _)| types)
        .or_else(|| PayloadTypes::of_codecs(offered, allowed));
    let Some(types) = types else {
        return match received {
            true => Err(NegotiationError::no_codec(
                StreamDirection::Receive,
                kind,
                offered,
                payload::wanted(&of_kind(allowed, kind)),
            )),
            false => Ok(Plan::Rejected),
        };
    };
    let sent = sent.map(|(_, place)| place);
    Ok(match sent.is_some() || received {
        true => Plan::Used(Use {
            types,
            sent,
            received,
        }),
        false => Plan::Idle(types),
    })
}

/// Checks that all streams in use share one transport: one BUNDLE group (RFC 9143),
/// unless there is only one section, and RTCP on the same port.
fn check_transport(offer: &SessionDescription, plans: &[Plan]) -> Result<(), NegotiationError> {
    let used = plans.iter().zip(&offer.media).filter(|(p, _)| p.is_used());
    let used: Vec<&Media> = used.map(|(_, media)| media).collect();
    if used.len() > 1 && !used.iter().all(|media| is_grouped(offer, media)) {
        return Err(NegotiationError::NotBundled);
    }
    match used.iter().all(|media| media.rtcp_mux) {
        true => Ok(()),
        false => Err(NegotiationError::NoRtcpMux),
    }
}

/// Returns the reason why no section of an offer is used.
fn nothing_flows(offer: &SessionDescription, policy: &AnswerPolicy) -> NegotiationError {
    let live = offer.media.iter().filter(|media| !media.is_rejected());
    let live = live.filter_map(|media| match media.kind {
        SectionKind::Media(kind) => Some((kind, media.direction)),
        _ => None,
    });
    let live: Vec<_> = live.collect();
    let receives = live.iter().find(|(_, direction)| direction.receives());
    match (policy.receive, receives) {
        _ if live.is_empty() => NegotiationError::NoMedia,
        (None, Some((kind, _))) => NegotiationError::NothingToSend { offered: *kind },
        (receive, _) => NegotiationError::Direction {
            wanted: match receive {
                Some(_) => StreamDirection::Receive,
                None => StreamDirection::Send,
            },
            offered: live.iter().map(|(_, direction)| *direction).collect(),
        },
    }
}

fn of_kind(codecs: &[Codec], kind: MediaKind) -> Vec<Codec> {
    let of_kind = codecs.iter().filter(|codec| codec.kind() == kind);
    of_kind.copied().collect()
}

/// Stream that has no section so far, and its index among the streams of its kind.
#[derive(Clone, Copy)]
struct Waiting {
    outgoing: Outgoing,
    place: usize,
}

impl Waiting {
    fn all(wanted: &[Outgoing]) -> Vec<Waiting> {
        let place = |index: usize, kind| wanted[..index].iter().filter(|o| o.kind == kind).count();
        let all = wanted.iter().enumerate();
        let waiting = all.map(|(index, outgoing)| Waiting {
            outgoing: *outgoing,
            place: place(index, outgoing.kind),
        });
        waiting.collect()
    }

    /// Removes and returns the first of `waiting` that fits this section, with its
    /// payload types there. Returns `None` if no stream of this kind waits.
    fn take(
        waiting: &mut Vec<Waiting>,
        offered: &Media,
        kind: MediaKind,
        allowed: &[Codec],
    ) -> Result<Option<(PayloadTypes, usize)>, NegotiationError> {
        let sent = |w: &Waiting| forms(kind, allowed, w.outgoing.form);
        let of_kind = || {
            waiting
                .iter()
                .enumerate()
                .filter(|(_, w)| w.outgoing.kind == kind)
        };
        let Some((_, first)) = of_kind().next() else {
            return Ok(None);
        };
        let found = of_kind()
            .find_map(|(index, w)| Some((index, PayloadTypes::taking(offered, &sent(w))?)));
        let (index, types) = found.ok_or_else(|| {
            NegotiationError::no_codec(
                StreamDirection::Send,
                kind,
                offered,
                payload::one_of(sent(first)),
            )
        })?;
        Ok(Some((types, waiting.remove(index).place)))
    }
}
