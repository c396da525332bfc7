use super::event::Queued;
use super::queue::Queue;
use super::target::WebhookTarget;
use aws_lc_rs::rand;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_rustls::rustls::crypto;
use ureq::Agent;
use ureq::tls::TlsConfig;

/// Longest time of an attempt, from the name's resolution to the answer's
/// headers. Chosen by us: shorter than the 15 to 30 s that the specification
/// suggests, because later events wait.
const ATTEMPT: Duration = Duration::from_secs(5);
/// Delay before the second attempt; each further one waits twice as long, up to
/// [`LONGEST_DELAY`]. Chosen by us.
const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(60);
/// Number of answers other than success after which an event is dropped: the target may
/// be unable to accept this event. Chosen by us: two minutes.
const REFUSALS: u32 = 8;
/// Age at which an event is dropped if the target does not answer. Chosen by
/// us: long enough for a restart by hand.
const OLDEST: Duration = Duration::from_secs(3600);

/// Delays and limits of a delivery.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) attempt: Duration,
    pub(super) first_delay: Duration,
    pub(super) longest_delay: Duration,
    pub(super) refusals: u32,
    pub(super) oldest: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            attempt: ATTEMPT,
            first_delay: FIRST_DELAY,
            longest_delay: LONGEST_DELAY,
            refusals: REFUSALS,
            oldest: OLDEST,
        }
    }
}

/// Sends the events of a queue, one after the other.
pub(super) struct Delivery {
    target: WebhookTarget,
    queue: Arc<Queue>,
    agent: Agent,
    pace: Pace,
}

/// Failed attempt.
enum Failure {
    /// The target answered with this status.
    Refused(u16),
    /// There was no answer, for this reason.
    Unanswered(String),
}

impl Delivery {
    pub(super) fn new(target: WebhookTarget, queue: Arc<Queue>) -> Delivery {
        Delivery::with(target, queue, Pace::default())
    }

    pub(super) fn with(target: WebhookTarget, queue: Arc<Queue>, pace: Pace) -> Delivery {
        let provider = Arc::new(crypto::aws_lc_rs::default_provider());
        let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .timeout_global(Some(pace.attempt))
            .http_status_as_error(false)
            // A redirect would send names of participants to a host that the operator did
            // not configure.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("weft/", env!("CARGO_PKG_VERSION")));
        Delivery {
            target,
            queue,
            agent: config.build().new_agent(),
            pace,
        }
    }

    /// Runs until the queue is closed. Then each waiting event has one more
    /// attempt, until one fails.
    pub(super) fn run(&self) {
        while let Some(queued) = self.queue.first() {
            if !self.deliver(&queued) {
                return;
            }
        }
    }

    /// Delivers an event or drops it; returns false if the server ends first.
    fn deliver(&self, queued: &Queued) -> bool {
        let mut delay = self.pace.first_delay;
        let mut refusals = 0;
        loop {
            let error = match self.attempt(queued) {
                Ok(()) => {
                    self.queue.delivered();
                    return true;
                }
                Err(Failure::Refused(status)) => {
                    refusals += 1;
                    format!("the target answers with status {status}")
                }
                Err(Failure::Unanswered(reason)) => reason,
            };
            self.queue.failed(&error);
            let age = queued.at.elapsed().unwrap_or_default();
            if refusals >= self.pace.refusals || age > self.pace.oldest {
                self.queue.drop_first(&error);
                return true;
            }
            if self.queue.pause(jittered(delay)) {
                return false;
            }
            delay = (delay * 2).min(self.pace.longest_delay);
        }
    }

    fn attempt(&self, queued: &Queued) -> Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let timestamp = now.unwrap_or_default().as_secs();
        let signature = self.target.secret.sign(&queued.id, timestamp, &queued.body);
        let request = self
            .agent
            .post(self.target.url.as_str())
            .header("content-type", "application/json")
            .header("webhook-id", &queued.id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature);
        match request.send(&queued.body) {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(Failure::Refused(answer.status().as_u16())),
            Err(error) => Err(Failure::Unanswered(error.to_string())),
        }
    }
}

/// Random part of the delay, at least half: several servers with one target
/// spread their attempts.
fn jittered(delay: Duration) -> Duration {
    let mut byte = [0];
    // Without randomness, the delay is the longest.
    let part = rand::fill(&mut byte).map_or(1.0, |()| f64::from(byte[0]) / 255.0);
    delay.mul_f64(0.5 + part / 2.0)
}
