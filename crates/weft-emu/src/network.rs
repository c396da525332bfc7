use crate::address::{Addresses, MAX_HOSTS, MAX_LINKS};
use crate::host::{Host, HostPlan, Place};
use crate::interfaces::{Interface, free_subnet};
use crate::mover::{Mover, Port, Segment, Span};
use crate::processes;
use crate::window::ReceiveWindow;
use crate::{EmuError, HostId, LinkId, Logging, Running};
use weft_links::{MediumSpec, StationId, TrafficClass};
use weft_units::{Bytes, Duration, Rng};

/// Lateness at p99.9 above which a run is rejected: chosen by us, five times the lateness
/// of a real-time thread on a machine of two cores that also runs the clients, and below
/// every delay that affects a call.
const LATENESS_LIMIT: Duration = Duration::from_millis(1);

/// An emulated network: hosts, links, and the station of each host on its links.
///
/// Handles are valid only for the network that returned them.
pub struct Network {
    seed: u64,
    hosts: Vec<HostSetup>,
    links: Vec<Link>,
    lateness_limit: Duration,
    logging: Logging,
    counted: Span,
    /// Subnet of the first link.
    first_subnet: usize,
}

struct HostSetup {
    name: String,
    place: Place,
    home: Option<Addresses>,
    receive_window: Option<Bytes>,
    class: TrafficClass,
    /// In the order of the calls to [`Network::attach`].
    attachments: Vec<Attachment>,
}

#[derive(Clone, Copy)]
struct Attachment {
    link: LinkId,
    station: StationId,
    addresses: Addresses,
}

struct Link {
    name: String,
    medium: MediumSpec,
    hosts: usize,
}

impl Network {
    /// Creates a network without hosts and links. The seed determines every random loss,
    /// jitter and generated trace, as in the simulator.
    #[must_use]
    pub fn new(seed: u64) -> Network {
        Network {
            seed,
            hosts: Vec::new(),
            links: Vec::new(),
            lateness_limit: LATENESS_LIMIT,
            logging: Logging::Off,
            counted: (Duration::ZERO, None),
            first_subnet: 0,
        }
    }

    /// Creates a network whose first host is this machine (the network namespace of the
    /// calling thread). This host gets devices and addresses on its links, and no routes
    /// beyond them. Needs [`Privilege::Capabilities`](crate::Privilege::Capabilities).
    #[must_use]
    pub fn with_machine(seed: u64) -> (Network, HostId) {
        let mut network = Network::new(seed);
        network.first_subnet = free_subnet();
        let machine = network.add_host("machine", Place::Machine);
        (network, machine)
    }

    /// Adds a host with its own network namespace; `name` is for messages and reports.
    pub fn host(&mut self, name: &str) -> HostId {
        self.add_host(name, Place::Namespace)
    }

    /// Adds a link. Its name is also the name of its devices (the first 15 letters,
    /// digits and `-_.`; if that is invalid or taken, a name derived from its number) and
    /// of its random streams, which equal those of the simulator's link with the same
    /// name.
    pub fn link(&mut self, name: &str, medium: MediumSpec) -> LinkId {
        self.links.push(Link {
            name: name.to_owned(),
            medium,
            hosts: 0,
        });
        LinkId(self.links.len() - 1)
    }

    /// Attaches a host to a station of a link, [`NEAR`](crate::NEAR) or
    /// [`FAR`](crate::FAR) on a wired link: adds a device, and an address of each family.
    /// All hosts at one station share its queue; packets between them do not cross the
    /// link. A host with several links has a routing table for each of its addresses, so
    /// a socket bound to one of them (or to the device) sends over that link; other
    /// sockets use the first link.
    ///
    /// # Panics
    /// If the link has no such station.
    pub fn attach(&mut self, host: HostId, link: LinkId, station: StationId) -> Addresses {
        let setup = &mut self.links[link.0];
        let count = setup.medium.station_count();
        assert!(station.0 < count, "station {} of {count}", station.0);
        let addresses = Addresses::on_link(self.first_subnet + link.0, setup.hosts);
        setup.hosts += 1;
        self.hosts[host.0].attachments.push(Attachment {
            link,
            station,
            addresses,
        });
        addresses
    }

    /// Gives the host an address that belongs to none of its links and is reachable over
    /// all of them, like a server's. The host also receives packets for the other IPv4
    /// addresses of the same /24: programs that need their own address may add it to the
    /// host's loopback device.
    pub fn home_address(&mut self, host: HostId) -> Addresses {
        let addresses = Addresses::of_host(host.0);
        self.hosts[host.0].home = Some(addresses);
        addresses
    }

    /// Limits every TCP connection of the host to a receive window of this size, within
    /// the precision of its window scale (RFC 7323 section 2.2). The kernel chooses its
    /// own windows; the emulator writes smaller ones into the segments that the host
    /// sends, and gives all hosts except the machine itself buffers that do not limit.
    /// Default: the kernel's windows and buffers.
    ///
    /// Both ends must support window scaling, as Linux does.
    pub fn limit_receive_window(&mut self, host: HostId, window: Bytes) {
        self.hosts[host.0].receive_window = Some(window);
    }

    /// Assigns this class to all packets that the host sends, regardless of their
    /// headers. Default: best effort.
    pub fn set_class(&mut self, host: HostId, class: TrafficClass) {
        self.hosts[host.0].class = class;
    }

    /// Sets the lateness at p99.9 above which the report rejects the run. Default: 1 ms.
    pub fn reject_above(&mut self, limit: Duration) {
        self.lateness_limit = limit;
    }

    /// Selects whether every packet is logged. Default: off.
    pub fn set_logging(&mut self, logging: Logging) {
        self.logging = logging;
    }

    /// Sets the part of the run, from its time zero, in which the usage of media is
    /// counted ([`StationReport`](crate::StationReport)'s `service`, `carried_to` and
    /// `radio`, [`LinkReport`](crate::LinkReport)'s `channels`). Both ends are exact,
    /// even if the machine is late. Default: the whole run.
    pub fn count_service(&mut self, from: Duration, until: Duration) {
        self.counted = (from, Some(until));
    }

    /// Creates and connects the hosts and starts to move packets. First ends programs
    /// that a killed process left in its networks.
    ///
    /// # Errors
    /// If the machine does not allow it, or if there are too many hosts or links. Nothing
    /// remains in that case.
    pub fn start(self) -> Result<Running, EmuError> {
        if self.links.len() + self.first_subnet > MAX_LINKS {
            return Err(EmuError::TooManyLinks(self.links.len()));
        }
        let most = self.links.iter().map(|l| l.hosts).max().unwrap_or(0);
        if most.max(self.hosts.len()) > MAX_HOSTS {
            return Err(EmuError::TooManyHosts(most.max(self.hosts.len())));
        }
        processes::end_left_behind();
        let (mut hosts, mut ports) = (Vec::new(), Vec::new());
        for (index, setup) in self.hosts.iter().enumerate() {
            let (host, tuns) = Host::make(&self.plan(setup))?;
            hosts.push(host);
            for (attachment, tun) in setup.attachments.iter().zip(tuns) {
                let Attachment {
                    link,
                    station,
                    addresses,
                } = *attachment;
                let own = [Some(addresses), setup.home]
                    .into_iter()
                    .flatten()
                    .collect();
                let mut port = Port::new(tun, HostId(index), link, station, own);
                port.class = setup.class;
                port.window = setup.receive_window.map(ReceiveWindow::new);
                ports.push(port);
            }
        }
        let mover = Mover::new(self.segments(), ports, self.logging)?;
        let names = self.links.into_iter().map(|link| link.name).collect();
        Running::start(hosts, names, mover, self.lateness_limit)
    }

    fn add_host(&mut self, name: &str, place: Place) -> HostId {
        self.hosts.push(HostSetup {
            name: name.to_owned(),
            place,
            home: None,
            receive_window: None,
            class: TrafficClass::default(),
            attachments: Vec::new(),
        });
        HostId(self.hosts.len() - 1)
    }

    fn plan(&self, setup: &HostSetup) -> HostPlan {
        let interface = |(index, attachment): (usize, &Attachment)| {
            let link = attachment.link.0;
            let name = match setup.place {
                Place::Machine => format!("weft{}.{link}", std::process::id()),
                Place::Namespace => self.device_name(setup, index),
            };
            Interface {
                name,
                addresses: attachment.addresses,
            }
        };
        HostPlan {
            name: setup.name.clone(),
            place: setup.place,
            home: setup.home,
            tcp_buffer: self.tcp_buffer(),
            interfaces: setup
                .attachments
                .iter()
                .enumerate()
                .map(interface)
                .collect(),
        }
    }

    /// Returns a buffer size that no receive window of the network fills: bookkeeping
    /// takes as much as the bytes at either end, and a factor of two is the margin.
    fn tcp_buffer(&self) -> Option<Bytes> {
        let windows = self.hosts.iter().filter_map(|host| host.receive_window);
        windows
            .max()
            .map(|window| Bytes(window.0.saturating_mul(4)))
    }

    /// Returns the link's name if it is valid for a device and unused.
    fn device_name(&self, setup: &HostSetup, index: usize) -> String {
        const LONGEST: usize = libc::IFNAMSIZ - 1;
        let name_of = |attachment: &Attachment| {
            let name = self.links[attachment.link.0].name.chars();
            let fits = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
            name.filter(fits).take(LONGEST).collect::<String>()
        };
        let name = name_of(&setup.attachments[index]);
        let before = &setup.attachments[..index];
        let is_reserved = ["", ".", "..", "lo", "all", "default"].contains(&name.as_str());
        if is_reserved || before.iter().any(|other| name_of(other) == name) {
            return format!("link{index}");
        }
        name
    }

    /// Returns the links' media by their numbers. Random streams have the simulator's
    /// names.
    fn segments(&self) -> Vec<Segment> {
        let rng = Rng::new(self.seed).stream("links");
        let segment = |link: &Link| {
            let rng = rng.stream(&link.name);
            Segment::new(link.medium.clone(), rng, self.counted)
        };
        self.links.iter().map(segment).collect()
    }
}
