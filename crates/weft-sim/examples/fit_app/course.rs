//! Call of an application over one link, second by second.

use weft_apps::{App, Model};
use weft_experiment::{
    AppMedia, AppSetup, CongestionKind, FlowKind, FlowSetup, LegRecord, LinkSetup, Record, Route,
    Setup, TcpSetup,
};
use weft_links::{Capacity, LineStep, LinkSpec, Schedule};
use weft_units::{Duration, Rate};

/// Setup of a run; the call is the first flow.
pub struct Course {
    seconds: u64,
    there: LinkSpec,
    back: LinkSpec,
    flows: Vec<FlowSetup>,
}

/// Record of a run.
pub struct CourseResult(Record);

impl Course {
    /// Creates a run of the call alone for this many seconds, over a link with equal
    /// directions.
    pub fn of(model: &Model, seconds: u64, link: &str) -> Course {
        let link: LinkSpec = link.parse().expect("a link");
        let app = AppSetup {
            // Only used in messages.
            app: App::Skype,
            model: model.clone(),
            media: AppMedia::OneWay,
        };
        let kind = FlowKind::App(Box::new(app));
        Course {
            seconds,
            there: link.clone(),
            back: link,
            flows: vec![FlowSetup::new("call", Route::forward(&[0]), kind)],
        }
    }

    /// Creates the setup of Boyaci et al.: 1 Mbit/s up and 3 down, a round trip of 114
    /// ms, 60 kB.
    pub fn at_home(model: &Model, seconds: u64) -> Course {
        let up = Course::of(model, seconds, "rate=1mbit,delay=57ms,queue=60kB");
        let back = LinkSpec {
            capacity: Capacity::Constant(Rate::from_kbps(3_000)),
            ..up.back
        };
        Course { back, ..up }
    }

    /// Gives the link these rates, each from its second on.
    pub fn steps(mut self, steps: &[(u64, u64)]) -> Course {
        let steps = steps.iter();
        let steps = steps.map(|(at, kbps)| (Duration::from_secs(*at), Rate::from_kbps(*kbps)));
        let schedule = Schedule::new(steps.collect()).expect("steps from zero on");
        self.there.capacity = Capacity::Schedule(schedule);
        self
    }

    /// Makes the link lose this share from this second on.
    pub fn losing(mut self, from: u64, loss: f64) -> Course {
        let step = LineStep {
            at: Duration::from_secs(from),
            delay: None,
            loss: Some(loss),
        };
        self.there.line_steps.push(step);
        self
    }

    /// Adds TCP in the call's direction from this second on.
    pub fn beside(mut self, tcp: TcpSetup, from: u64) -> Course {
        let mut flow = FlowSetup::new("tcp", Route::forward(&[0]), FlowKind::Tcp(tcp));
        flow.start = Duration::from_secs(from);
        self.flows.push(flow);
        self
    }

    /// Lets both ends of the call send media.
    pub fn both_ways(mut self) -> Course {
        if let FlowKind::App(app) = &mut self.flows[0].kind {
            app.media = AppMedia::BothWays;
        }
        self
    }

    /// Adds one long-lived connection.
    pub fn beside_one(self, congestion: CongestionKind, from: u64) -> Course {
        self.beside(TcpSetup::long_lived(congestion), from)
    }

    /// Delays the start of the call.
    pub fn joined_at(mut self, second: u64) -> Course {
        self.flows[0].start = Duration::from_secs(second);
        self
    }

    pub fn run(&self, seed: u64) -> CourseResult {
        let mut setup = Setup::new(Duration::from_secs(self.seconds));
        setup.sample_every = Duration::from_secs(1);
        let (there, back) = (self.there.clone(), self.back.clone());
        setup.links.push(LinkSetup::wired("line", there, back));
        setup.flows = self.flows.clone();
        CourseResult(weft_sim::run(&setup, seed, &mut ()).expect("a setup that can be run"))
    }
}

impl CourseResult {
    fn leg(&self, flow: usize) -> &LegRecord {
        &self.0.flows[flow].routes[0].there
    }

    /// Returns the rate that the call sent between two seconds, kbit/s.
    pub fn sent(&self, from: usize, to: usize) -> f64 {
        let bytes: u64 = self.leg(0).series[from..to].iter().map(|s| s.sent.0).sum();
        bytes as f64 * 0.008 / (to - from) as f64
    }

    /// Returns the rate at which a flow arrived in that time, kbit/s; the call is flow 0.
    pub fn arrived(&self, flow: usize, from: usize, to: usize) -> f64 {
        let bytes: u64 = self.leg(flow).series[from..to]
            .iter()
            .map(|s| s.delivered.0)
            .sum();
        bytes as f64 * 0.008 / (to - from) as f64
    }
}
