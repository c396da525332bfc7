//! `weft join`: publish over all links, receive everybody else.
//!
//! The main loop ([`call`]) takes Ctrl-C and records; it never waits for the
//! network. Requests run at desks ([`desk`]), the room's events are read on a
//! thread of their own, and all of them tell the loop through one mailbox
//! ([`inbox`]).

pub mod board;
mod call;
mod desk;
mod fault;
mod inbox;
mod playing;
mod publishing;
mod record;
mod room;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use weft_net::Clock;

use crate::cli::JoinArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::statistics::StatsFile;
use weft_endpoint::links::Links;
use weft_endpoint::signalling::{Room, Server, Trust};
use weft_endpoint::sources::{self, Sources};

use call::{Call, Myself, Outlets};
use inbox::Wish;
use record::Recording;

pub fn run(args: JoinArgs) -> Result<(), Failure> {
    let clock = Clock::start();
    let notices = exit::notices();
    let send = &args.send;
    if args.send_only && send.cameras.is_empty() && send.mic.is_none() {
        let remedy = "--send-only: there is nothing to send; name a --camera or a --mic";
        return Err(Failure::usage(remedy));
    }
    let (specs, scope) = sources::links_or_all(&send.links, loopback(&args.url))?;
    let server = Server {
        url: args.url.clone(),
        token: args.token.clone(),
        trust: match (&args.ca, args.insecure) {
            (Some(file), _) => Trust::File(file.clone()),
            (None, true) => Trust::Anybody,
            (None, false) => Trust::Public,
        },
        links: specs.clone(),
    };
    let room = Room::new(&server, &args.room).map_err(Failure::usage)?;
    let links = Links::check(specs, scope, &notices).map_err(Failure::usage)?;
    let (mic, codec) = (send.mic.clone(), send.codec);
    let sources = Sources::open(&send.cameras, mic, codec, 3, send.degradation, clock)?;
    let own = Myself {
        name: send.name.clone(),
        sections: sources.sections(),
        receiving: !args.send_only,
        identity: None,
    };
    let mut stats = send.stats.as_deref().map(StatsFile::create).transpose()?;
    if let Some(stats) = stats.as_mut().filter(|_| args.watch) {
        stats.watch(clock);
    }
    let outlets = Outlets {
        stats,
        recording: args.record.as_deref().map(Recording::new).transpose()?,
    };
    let driver = sources::start(clock, links, send.sending(), sources, notices)?;
    let (mailbox, inbox) = inbox::mail();
    interrupt::on_ctrl_c({
        let mailbox = mailbox.clone();
        move || {
            mailbox.send(Wish::End);
        }
    });
    let mut call = Call::new(room, driver.remote.clone(), mailbox, own, outlets);
    let ended = call.run(&inbox, send.seconds.map(Duration::from_secs));
    let kept = call.leave();
    driver.join();
    ended.and(kept)
}

/// The address of this machine that a server's URL means, if it does.
fn loopback(url: &str) -> Option<IpAddr> {
    let host = url.split_once("://")?.1;
    let host = host.split(['/', '?', '#']).next()?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host.split(':').next()?,
    };
    match host {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        _ => host.parse().ok().filter(IpAddr::is_loopback),
    }
}
