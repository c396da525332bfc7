//! Main loop of the demo: the ride's steps, actions on the page, and a pause
//! while it has no visitor.

use std::ops::ControlFlow;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::Value;
use weft_net::Clock;

use super::calls::{DemoRun, SETUP};
use super::figures::Figures;
use super::page::{PageAction, PageState};
use super::terminal::Screen;
use crate::exit::Failure;

/// Interval of the ride's steps: short enough for a smooth fade and a sharp
/// cut.
const RIDE_STEP: Duration = Duration::from_millis(50);
/// Interval of updates for the page and the terminal.
const TICK: Duration = Duration::from_millis(250);
/// Time without visitors after which the cameras pause: longer than a page
/// takes to reload. Chosen by us.
const ALONE: Duration = Duration::from_secs(20);

pub struct Show {
    pub run: DemoRun,
    pub page_state: PageState,
    pub clock: Clock,
    pub screen: Screen,
    /// `None`: until Ctrl-C.
    pub length: Option<Duration>,
    /// Notified by Ctrl-C.
    pub stopped: Receiver<()>,
}

/// Measured part of a show since its start or restart.
struct Act {
    figures: Figures,
    began: Instant,
    next_tick: Instant,
}

/// Outcome of waiting for pictures.
#[derive(PartialEq, Eq)]
enum Waited {
    Shown,
    Stopped,
    InVain,
}

impl Show {
    /// Runs to the end, and returns the measurements.
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
            if self.length.is_some() || self.page_state.is_watched() {
                watched_at = Instant::now();
            }
            let mut again = self.obey();
            if watched_at.elapsed() > ALONE {
                let measured = self.result(&act);
                if self.rest_till_watched().is_break() {
                    return Ok(measured);
                }
                again = true;
            }
            if again {
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

    /// Executes the actions from the page; returns whether to restart.
    fn obey(&mut self) -> bool {
        let mut again = false;
        for action in self.page_state.take_actions() {
            match action {
                PageAction::Link(link, to) => self.run.ride.set(link, to),
                PageAction::Set(setting) => self.run.set_weft(setting),
                PageAction::Restart => {
                    self.run.reset_links();
                    again = true;
                }
            }
        }
        again
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
            self.page_state.publish(&tick);
        }
    }

    /// Pauses the cameras while there is no visitor. The links are good, so both calls
    /// are ready for the next visitor. Ctrl-C ends the pause.
    fn rest_till_watched(&mut self) -> ControlFlow<()> {
        self.run.reset_links();
        self.run.rest();
        self.screen.rest();
        while !self.page_state.is_watched() {
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
            // The page shows visitors that a call has no pictures.
            Waited::Shown | Waited::InVain => ControlFlow::Continue(()),
        }
    }

    /// Waits for both calls to show pictures; then measuring starts.
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
