use crate::certificate::{Certificate, Fingerprint};
use crate::failure::FailReason;
use crate::keying::Keying;
use crate::role::DtlsRole;
use crate::rsa;
use crate::srtp::{Profile, Srtp};
use crate::trouble::Trouble;
use dimpl::{Dtls, SrtpProfile};
use std::time::Instant as StdInstant;
use weft_units::{Deadline, Duration, Instant};

/// If no timer runs, the library returns one that is years away.
const NEVER: Duration = Duration::from_secs(24 * 3600);

/// Minimum interval between calls that the library requests. Without it, there would be none: if
/// a datagram of a flight is lost, dimpl 0.9 acknowledges the rest at once, and then again and
/// again until the gap is filled. Chosen by us: a tenth of the first retransmission.
const SPACING: Duration = Duration::from_millis(20);

/// DTLS association: negotiates the keys, then remains for the closing alert.
pub(crate) struct Handshake {
    certificate: Certificate,
    keying: Keying,
    /// `None` until the peer's description is known: role and configuration depend on it.
    dtls: Option<Dtls>,
    epoch: StdInstant,
    state: State,
    timer: Option<Instant>,
    /// Latest time given to the library.
    ticked: Instant,
    buffer: Vec<u8>,
    progress: Progress,
    trouble: Trouble,
    failure: Option<FailReason>,
}

/// Parts of the handshake seen so far; all of them make the connection.
#[derive(Default)]
struct Progress {
    peer: Option<Fingerprint>,
    finished: Option<Finished>,
    keys: Option<(Profile, Box<Srtp>)>,
}

struct Finished;

#[cfg(feature = "simulation")]
impl Progress {
    /// Complete progress, without a handshake.
    fn without_handshake(peer: Fingerprint, keys: Srtp) -> Progress {
        Progress {
            peer: Some(peer),
            finished: Some(Finished),
            keys: Some((Profile::AeadAes128Gcm, Box::new(keys))),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waiting for the remote description.
    Idle,
    Running(DtlsRole, Fingerprint),
    Connected,
    Failed,
}

/// Output of the handshake.
pub(crate) enum Wanted {
    Send(Vec<u8>),
    Connected(Profile, Box<Srtp>),
    /// The peer sent application data.
    Data(Vec<u8>),
    Failed(FailReason),
}

impl Handshake {
    pub fn new(
        now: Instant,
        epoch: StdInstant,
        certificate: Certificate,
        keying: Keying,
    ) -> Handshake {
        Handshake {
            certificate,
            keying,
            dtls: None,
            epoch,
            state: State::Idle,
            timer: None,
            ticked: now,
            buffer: vec![0; 2048],
            progress: Progress::default(),
            trouble: Trouble::default(),
            failure: None,
        }
    }

    pub fn start(&mut self, now: Instant, role: DtlsRole, expected: Fingerprint) {
        #[cfg(feature = "testing")]
        if crate::testing::leaves_out_handshakes() {
            let keys = Srtp::new(Profile::AeadAes128Gcm, &[7; 56], role);
            return self.leave_out(role, expected, keys.expect("the profile's length"));
        }
        let seed = match self.keying {
            Keying::Dtls { seed } => seed,
            #[cfg(feature = "simulation")]
            Keying::Plain => return self.leave_out(role, expected, Srtp::plain()),
        };
        let config = self.certificate.handshake_config(role, seed);
        let own = self.certificate.for_library();
        let mut dtls = Dtls::new_auto(config, own, at(self.epoch, now));
        dtls.set_active(role == DtlsRole::Client);
        self.dtls = Some(dtls);
        self.state = State::Running(role, expected);
        self.tick(now);
    }

    /// Makes both ends agree on these keys at once, without a handshake.
    #[cfg(feature = "simulation")]
    fn leave_out(&mut self, role: DtlsRole, expected: Fingerprint, keys: Srtp) {
        self.state = State::Running(role, expected);
        self.progress = Progress::without_handshake(expected, keys);
    }

    /// Whether the remote description is known.
    pub fn is_started(&self) -> bool {
        self.state != State::Idle
    }

    fn is_running(&self) -> bool {
        matches!(self.state, State::Running(..))
    }

    /// Handles a record from the peer; `false` if it was refused.
    pub fn handle_packet(&mut self, now: Instant, packet: &[u8]) -> bool {
        if self.state == State::Failed {
            return false;
        }
        self.tick(now);
        let Some(dtls) = &mut self.dtls else {
            return false;
        };
        // An error does not end the handshake: anybody can inject a record that is refused.
        let handled = dtls.handle_packet(packet);
        if let State::Running(role, _) = self.state {
            self.trouble.on_packet(now, role, packet, &handled);
        }
        handled.is_ok()
    }

    /// Handles the passing of time; `true` if the library's timer expired.
    pub fn handle_timeout(&mut self, now: Instant) -> bool {
        if self.trouble.ends_at().is_some_and(|at| at <= now) && self.is_running() {
            self.failure = self.obstacle();
        }
        let is_due = self.timer.is_some_and(|at| at <= now);
        if is_due {
            self.timer = None;
            self.tick(now);
        }
        is_due
    }

    /// Returns the reason, as far as known, why the handshake is not finished.
    pub fn obstacle(&self) -> Option<FailReason> {
        let State::Running(role, _) = self.state else {
            return None;
        };
        Some(self.trouble.reason(role))
    }

    /// Encrypts application data; `None` before the handshake is finished. Poll all
    /// waiting outputs first.
    pub fn protect_data(&mut self, now: Instant, data: &[u8]) -> Option<Vec<u8>> {
        let (State::Connected, Some(dtls)) = (self.state, &mut self.dtls) else {
            return None;
        };
        dtls.send_application_data(data).ok()?;
        match self.poll_connected(now)? {
            Wanted::Send(datagram) => Some(datagram),
            _ => None,
        }
    }

    pub fn close(&mut self) {
        if let (State::Connected, Some(dtls)) = (self.state, &mut self.dtls) {
            // Fails if it is no longer connected; then nobody needs the alert.
            let _ = dtls.close();
        }
    }

    pub fn deadline(&self) -> Option<Deadline> {
        let ends_at = self.trouble.ends_at().filter(|_| self.is_running());
        let at = self.timer.into_iter().chain(ends_at).min()?;
        Some(Deadline { at, reason: "dtls" })
    }

    /// Returns, once, the failure that time or the peer caused.
    pub fn poll_failure(&mut self) -> Option<FailReason> {
        let reason = self.failure.take()?;
        self.state = State::Failed;
        self.timer = None;
        Some(reason)
    }

    /// Returns the next output. Call it only if there is a path to send on: the library
    /// starts its retransmission timer when it returns a flight.
    pub fn poll(&mut self, now: Instant) -> Option<Wanted> {
        let (role, expected) = match self.state {
            State::Idle | State::Failed => return None,
            State::Running(role, expected) => (role, expected),
            State::Connected => return self.poll_connected(now),
        };
        let Some(dtls) = &mut self.dtls else {
            return self.finish();
        };
        loop {
            match dtls.poll_output(&mut self.buffer) {
                dimpl::Output::Packet(packet) => {
                    let packet = match role {
                        DtlsRole::Server => rsa::widen_request(packet).into_owned(),
                        DtlsRole::Client => packet.to_vec(),
                    };
                    return Some(Wanted::Send(packet));
                }
                dimpl::Output::BufferTooSmall { needed } => self.buffer.resize(needed, 0),
                dimpl::Output::Timeout(timer) => {
                    self.set_timer(now, timer);
                    return self.finish();
                }
                dimpl::Output::PeerCert(certificate) => {
                    let peer = Fingerprint::of(certificate);
                    if peer != expected {
                        return self.fail(FailReason::Fingerprint);
                    }
                    self.progress.peer = Some(peer);
                }
                dimpl::Output::KeyingMaterial(material, profile) => {
                    let profile = profile_of(profile);
                    let keys =
                        profile.and_then(|p| Some((p, Box::new(Srtp::new(p, &material, role)?))));
                    self.progress.keys = keys;
                }
                dimpl::Output::Connected => self.progress.finished = Some(Finished),
                dimpl::Output::CloseNotify => return self.fail(FailReason::Closed),
                _ => {}
            }
        }
    }

    fn poll_connected(&mut self, now: Instant) -> Option<Wanted> {
        let dtls = self.dtls.as_mut()?;
        loop {
            match dtls.poll_output(&mut self.buffer) {
                dimpl::Output::Packet(packet) => return Some(Wanted::Send(packet.to_vec())),
                dimpl::Output::BufferTooSmall { needed } => self.buffer.resize(needed, 0),
                dimpl::Output::Timeout(timer) => {
                    self.set_timer(now, timer);
                    return None;
                }
                dimpl::Output::ApplicationData(data) => return Some(Wanted::Data(data.to_vec())),
                dimpl::Output::CloseNotify => return self.fail(FailReason::Closed),
                _ => {}
            }
        }
    }

    /// Reports the connection only if the handshake is finished, the keys are exported
    /// and the peer is verified. Keys are exported after the library's event.
    fn finish(&mut self) -> Option<Wanted> {
        self.progress.finished.as_ref()?;
        let progress = std::mem::take(&mut self.progress);
        match (progress.peer, progress.keys) {
            (Some(_), Some((profile, srtp))) => {
                self.state = State::Connected;
                Some(Wanted::Connected(profile, srtp))
            }
            (None, _) => self.fail(FailReason::Fingerprint),
            (_, None) => self.fail(FailReason::Profile),
        }
    }

    fn fail(&mut self, reason: FailReason) -> Option<Wanted> {
        self.state = State::Failed;
        self.timer = None;
        Some(Wanted::Failed(reason))
    }

    fn set_timer(&mut self, now: Instant, timer: StdInstant) {
        let since_epoch = timer.saturating_duration_since(self.epoch);
        let timer = Instant::ZERO + Duration::from(since_epoch);
        let timer = timer.max(self.ticked + SPACING);
        self.timer = (timer.saturating_since(now) < NEVER).then_some(timer);
    }

    /// Handles the passing of time; keeps a failure for [`Handshake::poll`].
    fn tick(&mut self, now: Instant) {
        self.ticked = now;
        let Some(dtls) = &mut self.dtls else {
            return;
        };
        let ticked = dtls.handle_timeout(at(self.epoch, now));
        if let (Err(_), State::Running(role, _)) = (ticked, self.state) {
            self.failure = Some(self.trouble.reason(role));
        }
    }
}

fn at(epoch: StdInstant, now: Instant) -> StdInstant {
    epoch + std::time::Duration::from_nanos(now.as_nanos())
}

fn profile_of(profile: SrtpProfile) -> Option<Profile> {
    Some(match profile {
        SrtpProfile::AES128_CM_SHA1_80 => Profile::Aes128CmSha1_80,
        SrtpProfile::AEAD_AES_128_GCM => Profile::AeadAes128Gcm,
        SrtpProfile::AEAD_AES_256_GCM => Profile::AeadAes256Gcm,
        _ => return None,
    })
}
