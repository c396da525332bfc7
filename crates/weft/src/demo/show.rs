//! The demo as it goes on: the ride's steps, what people do on its page, and
//! rest while nobody watches.

use std::ops::ControlFlow;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::Value;
use weft_net::Clock;

use super::calls::{DemoRun, SETUP};
use super::figures::Figures;
use super::page::{Board, Wish};
use super::terminal::Screen;
use crate::exit::Failure;

/// The ride moves on this often: a fade looks smooth and a cut is sharp.
const RIDE_STEP: Duration = Duration::from_millis(50);
/// The page and the terminal hear of it this often.
const TICK: Duration = Duration::from_millis(250);
/// When nobody has watched for so long, the cameras rest until somebody comes:
/// longer than a page takes that is loaded anew. Chosen by us.
const ALONE: Duration = Duration::from_secs(20);

pub struct Show {
    pub run: DemoRun,
    pub board: Board,
    pub clock: Clock,
    pub screen: Screen,
    /// Until Ctrl-C, if there is none.
    pub length: Option<Duration>,
    /// Ctrl-C.
    pub stopped: Receiver<()>,
}

/// The part of a show since it was begun, or begun anew.
struct Act {
    figures: Figures,
    began: Instant,
    next_tick: Instant,
}

/// What became of waiting for pictures.
#[derive(PartialEq, Eq)]
enum Waited {
    Shown,
    Stopped,
    InVain,
}

impl Show {
    /// Runs to the end, and returns what was measured.
    pub fn play(&mut self) -> Result<Value, Failure> {
        match self.wait_for_pictures() {
            Waited::Shown => {}
            Waited::Stopped => {
                return Err(Failure::Run("stopped before the calls stood".to_owned()));
            }
            Waited::InVain => {
                return Err(Failure::Run(format!(
                    "no picture arrived within {} s; is the machine overloaded?",
                    SETUP.as_secs()
                )));
            }
        }
        let mut act = self.begin();
        let started = act.began;
        let mut watched_at = started;
        while self.length.is_none_or(|l| started.elapsed() < l) {
            if self.length.is_some() || self.board.is_watched() {
                watched_at = Instant::now();
            }
            let mut anew = self.obey();
            if watched_at.elapsed() > ALONE {
                let measured = self.result(&act);
                if self.rest_till_watched().is_break() {
                    return Ok(measured);
                }
                anew = true;
            }
            if anew {
                act = self.begin();
            }
            self.step(&mut act);
            if self.stopped.recv_timeout(RIDE_STEP).is_ok() {
                break;
            }
        }
        self.screen.end();
        Ok(self.result(&act))
    }

    /// Does what people did on the page; whether it is to begin anew.
    fn obey(&mut self) -> bool {
        let mut anew = false;
        for wish in self.board.take_wishes() {
            match wish {
                Wish::Link(link, to) => self.run.ride.set(link, to),
                Wish::Set(setting) => self.run.set_weft(setting),
                Wish::Restart => {
                    self.run.reset_links();
                    anew = true;
                }
            }
        }
        anew
    }

    fn begin(&self) -> Act {
        let began = Instant::now();
        Act {
            figures: Figures::begin(self.clock.now(), &self.run),
            began,
            next_tick: began,
        }
    }

    fn result(&self, act: &Act) -> Value {
        let elapsed = act.began.elapsed();
        act.figures.result(self.clock.now(), elapsed, &self.run)
    }

    fn step(&mut self, act: &mut Act) {
        let elapsed = act.began.elapsed();
        self.run.ride.settle(elapsed.into());
        let state = self.run.ride.at(elapsed.into());
        self.run.apply(&state);
        if Instant::now() >= act.next_tick {
            act.next_tick += TICK;
            let tick = act
                .figures
                .tick(self.clock.now(), elapsed, state.headline(), &self.run);
            self.screen.show(&tick, self.length);
            self.board.publish(&tick);
        }
    }

    /// Takes no pictures while nobody watches, over links that are good, so
    /// that both calls are there for who comes. Breaks off at Ctrl-C.
    fn rest_till_watched(&mut self) -> ControlFlow<()> {
        self.run.reset_links();
        self.run.rest();
        self.screen.rest();
        while !self.board.is_watched() {
            self.obey();
            if self.stopped.recv_timeout(RIDE_STEP).is_ok() {
                return ControlFlow::Break(());
            }
        }
        self.obey();
        self.run.reset_links();
        self.run.wake();
        match self.wait_for_pictures() {
            Waited::Stopped => ControlFlow::Break(()),
            // Who came sees that a call stands still.
            Waited::Shown | Waited::InVain => ControlFlow::Continue(()),
        }
    }

    /// Measuring begins when both calls stand.
    fn wait_for_pictures(&self) -> Waited {
        let since = self.clock.now();
        let deadline = Instant::now() + SETUP;
        while !self.run.both_show_pictures_since(since) {
            if self.stopped.recv_timeout(RIDE_STEP).is_ok() {
                return Waited::Stopped;
            }
            if Instant::now() > deadline {
                return Waited::InVain;
            }
        }
        Waited::Shown
    }
}
