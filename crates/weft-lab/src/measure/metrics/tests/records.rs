//! Small handmade records.

use weft_experiment::{
    CallRecord, CallSetup, CameraSetup, CongestionKind, DelaySample, Distribution, FlowDetail,
    FlowKind, FlowRecord, FlowSetup, FrameRecord, FrameShown, LegRecord, LegSample, LinkRecord,
    LinkSetup, MicrophoneSetup, ModelSetup, Quality, Record, Route, RouteRecord, Setup, SideRecord,
    SideSetup, StationRecord, StreamRecord, TcpRecord, TcpSetup, Transfer,
};
use weft_units::{Bytes, Codec, Duration, Freezes, Instant, Rate};

use crate::measure::capacity::Capacities;
use crate::measure::metrics::{Wanted, measure};
use crate::measure::run::Run;

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn at(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

/// One flow over one link, sampled once a second.
pub struct Small {
    setup: Setup,
    record: Record,
}

impl Small {
    fn new(seconds: u64, kind: FlowKind, detail: FlowDetail) -> Small {
        let mut setup = Setup::new(ms(seconds * 1000));
        setup.sample_every = ms(1000);
        let spec = "rate=10mbit,delay=20ms".parse().unwrap();
        setup.links.push(LinkSetup::symmetric("line", &spec));
        setup
            .flows
            .push(FlowSetup::new("flow", Route::forward(&[0]), kind));
        let station = || StationRecord {
            counters: Default::default(),
            in_flight: Default::default(),
            service: None,
            carried_to: None,
            radio: None,
            queue_delay: Distribution::default(),
            series: Vec::new(),
        };
        let record = Record {
            ended_at: at(seconds * 1000),
            sample_every: ms(1000),
            links: vec![LinkRecord {
                name: "line".into(),
                stations: vec![station(), station()],
                channels: Vec::new(),
            }],
            flows: vec![FlowRecord {
                name: "flow".into(),
                routes: vec![RouteRecord {
                    there: leg(&[]),
                    back: leg(&[]),
                }],
                detail,
            }],
            events: 0,
        };
        Small { setup, record }
    }

    /// Creates a call in which these frames were sent, one list for each camera.
    pub fn call(seconds: u64, cameras: &[&[FrameRecord]]) -> Small {
        Small::of_call(seconds, cameras, &[])
    }

    /// Creates a call that also sends frames back.
    pub fn both_ways(seconds: u64, there: &[FrameRecord], back: &[FrameRecord]) -> Small {
        Small::of_call(seconds, &[there], &[back])
    }

    /// Creates a call of one microphone with these packets.
    pub fn sound(seconds: u64, packets: &[FrameRecord]) -> Small {
        let mut small = Small::call(seconds, &[packets]);
        if let FlowKind::Call(setup) = &mut small.setup.flows[0].kind {
            setup.caller.cameras.clear();
            setup.caller.microphones.push(MicrophoneSetup::default());
        }
        small
    }

    fn of_call(seconds: u64, there: &[&[FrameRecord]], back: &[&[FrameRecord]]) -> Small {
        let camera = || {
            let rate = Rate::from_mbps(2);
            CameraSetup::model(ModelSetup::new(Codec::Vp8, 1280, 720, rate), rate)
        };
        let side = |count| SideSetup::filming((0..count).map(|_| camera()).collect());
        let setup = CallSetup {
            callee: side(back.len()),
            ..CallSetup::one_way(side(there.len()))
        };
        let record = CallRecord {
            caller: sent(there),
            callee: sent(back),
        };
        let kind = FlowKind::Call(Box::new(setup));
        Small::new(seconds, kind, FlowDetail::Call(Box::new(record)))
    }

    /// Creates a connection that made these transfers.
    pub fn tcp(seconds: u64, transfers: &[(u64, u64)]) -> Small {
        let transfers = transfers.iter().map(|&(from, to)| Transfer {
            started_at: at(from),
            ended_at: at(to),
            size: Bytes(100_000),
        });
        let record = TcpRecord {
            delivered: Bytes::ZERO,
            retransmissions: 0,
            timeouts: 0,
            reductions: 0,
            transfers: transfers.collect(),
            series: Vec::new(),
        };
        let setup = TcpSetup::long_lived(CongestionKind::Cubic);
        Small::new(seconds, FlowKind::Tcp(setup), FlowDetail::Tcp(record))
    }

    /// Sets the bytes of each second, forward and backward.
    pub fn carrying(mut self, there: &[u64], back: &[u64]) -> Small {
        let route = &mut self.record.flows[0].routes[0];
        route.there = leg(there);
        route.back = leg(back);
        self
    }

    /// Sets one-way delays of packets, in milliseconds; one list for each route.
    pub fn delayed(mut self, routes: &[&[u64]]) -> Small {
        let routes = routes.iter().map(|delays| RouteRecord {
            there: LegRecord {
                one_way_delay: delays.iter().map(|&delay| ms(delay)).collect(),
                ..leg(&[])
            },
            back: leg(&[]),
        });
        self.record.flows[0].routes = routes.collect();
        self
    }

    /// Delays the start of the flow.
    pub fn starting(mut self, start: u64) -> Small {
        self.setup.flows[0].start = ms(start);
        self
    }

    /// Adds a TCP flow over this link, with these bytes of each second.
    pub fn beside(mut self, name: &str, start: u64, bytes: &[u64]) -> Small {
        let kind = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Cubic));
        let mut flow = FlowSetup::new(name, Route::forward(&[0]), kind);
        flow.start = ms(start);
        self.setup.flows.push(flow);
        let detail = self.record.flows[0].detail.clone();
        let route = RouteRecord {
            there: leg(bytes),
            back: leg(&[]),
        };
        self.record.flows.push(FlowRecord {
            name: name.to_owned(),
            routes: vec![route],
            detail,
        });
        self
    }

    /// Sets the delay of its cameras and screens.
    pub fn with_devices(mut self, delay: u64) -> Small {
        let FlowKind::Call(call) = &mut self.setup.flows[0].kind else {
            panic!("no call");
        };
        for camera in &mut call.caller.cameras {
            camera.device_delay = ms(delay);
        }
        self
    }

    /// Replaces the link by one with this specification.
    pub fn over(mut self, spec: &str) -> Small {
        self.setup.links = vec![LinkSetup::symmetric("line", &spec.parse().unwrap())];
        self
    }

    /// Sets queueing delays of the first flow's packets, in milliseconds.
    pub fn queued(mut self, waits: &[u64]) -> Small {
        let there = &mut self.record.flows[0].routes[0].there;
        there.queue_delay = waits.iter().map(|&wait| ms(wait)).collect();
        self
    }

    fn find(&self, from: u64, wanted: &Wanted<'_>, metric: &str) -> Option<f64> {
        let capacities = Capacities::of(&self.setup);
        let run = Run {
            setup: &self.setup,
            focus: &[0],
            from: ms(from),
            until: None,
            capacities: &capacities,
            record: &self.record,
        };
        let found = measure(&run, wanted)
            .into_iter()
            .find(|(name, _)| name == metric);
        found.map(|(_, value)| value)
    }

    /// Returns the value of a metric measured from this time.
    pub fn value_from(&self, from: u64, metric: &str) -> Option<f64> {
        self.find(from, &Wanted::default(), metric)
    }

    /// Returns the value of a metric of sections that start at these times.
    pub fn value_in(&self, bounds: &[u64], metric: &str) -> Option<f64> {
        let sections: Vec<_> = bounds
            .windows(2)
            .map(|pair| (ms(pair[0]), ms(pair[1])))
            .collect();
        let sections = Wanted {
            sections: &sections,
            ..Wanted::default()
        };
        self.find(0, &sections, metric)
    }

    /// Returns the flow-rate equality of a pair of flows.
    pub fn equality(&self, pair: &str) -> Option<f64> {
        let pairs = Wanted {
            pairs: &[pair],
            ..Wanted::default()
        };
        self.find(0, &pairs, &format!("flow_rate_equality.{pair}"))
    }

    /// Returns the value of a metric over the whole run.
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.value_from(0, metric)
    }
}

/// Returns a frame that took 50 ms until its display, and no time from its first packet
/// to its last.
pub fn frame(captured: u64) -> FrameRecord {
    FrameRecord {
        captured_at: at(captured),
        size: Bytes(1000),
        keyframe: false,
        quality: None,
        shown: Some(FrameShown {
            at: at(captured + 50),
            complete_at: at(captured + 50),
            lateness: Duration::ZERO,
            construction: Duration::ZERO,
            skew: Duration::ZERO,
        }),
    }
}

/// Returns a frame that was never shown.
pub fn unseen(captured: u64) -> FrameRecord {
    FrameRecord {
        shown: None,
        ..frame(captured)
    }
}

/// Returns a frame that took this long from its first packet to its last.
pub fn built_in(captured: u64, construction: u64) -> FrameRecord {
    let mut frame = frame(captured);
    frame.shown.as_mut().unwrap().construction = ms(construction);
    frame
}

/// Returns a frame with this quantizer.
pub fn quantised(captured: u64, quantizer: u8) -> FrameRecord {
    FrameRecord {
        quality: Some(Quality {
            quantizer,
            psnr_db: 40.0,
            ssim: 0.98,
            brisque: f32::from(quantizer),
            width: 1280,
            height: 720,
        }),
        ..frame(captured)
    }
}

/// Returns a frame every 40 ms, from the first time up to the second.
pub fn film(from: u64, to: u64) -> Vec<FrameRecord> {
    (from..to).step_by(40).map(frame).collect()
}

fn sent(cameras: &[&[FrameRecord]]) -> SideRecord {
    let streams = cameras.iter().map(|frames| StreamRecord {
        frames: frames.iter().copied().collect(),
        freezes: Freezes::new(),
        keyframe_requests: Vec::new(),
        packets: 0,
        media_packets: 0,
        repair_packets: 0,
        retransmissions: 0,
        receiver: Default::default(),
    });
    SideRecord {
        streams: streams.collect(),
        ..SideRecord::default()
    }
}

/// Returns a leg with this many bytes sent and delivered in each second.
fn leg(seconds: &[u64]) -> LegRecord {
    let samples = (1..).zip(seconds).map(|(second, &bytes)| LegSample {
        at: at(second * 1000),
        sent: Bytes(bytes),
        sent_packets: 1,
        delivered: Bytes(bytes),
        drops: 0,
        queue_delay: DelaySample::default(),
        one_way_delay: DelaySample::default(),
    });
    LegRecord {
        sent: Default::default(),
        delivered: Default::default(),
        dropped: Vec::new(),
        in_access: Default::default(),
        queue_delay: Distribution::default(),
        one_way_delay: Distribution::default(),
        series: samples.collect(),
    }
}
