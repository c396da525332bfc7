//! Processor time and memory of processes, from /proc or the server's metrics.

use std::fs;
use std::time::Duration;

use weft_net::ProcessUsage;

/// Time limit for a response with metrics. Chosen by us.
const METRICS: Duration = Duration::from_secs(5);
/// Maximum size of a response with metrics.
const MAX_METRICS: u64 = 4 << 20;

/// Processor time and memory of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    /// Processor time since its start, in seconds.
    pub cpu_s: f64,
    /// Resident memory, in bytes.
    pub memory: u64,
}

impl From<ProcessUsage> for Usage {
    fn from(usage: ProcessUsage) -> Usage {
        Usage {
            cpu_s: usage.cpu.as_secs_f64(),
            memory: usage.memory.0,
        }
    }
}

/// Source of the server's usage.
#[derive(Clone, Debug)]
pub(crate) enum UsageSource {
    /// Process on this machine.
    Process(u32),
    /// Metrics at this URL, with the token.
    Metrics(String, Option<String>),
}

/// Reason why the usage cannot be read. The text names the option and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// No such process.
    #[error(
        "--server-pid {0}: there is no such process on this machine; `pgrep -a weft` shows them"
    )]
    Process(u32),
    /// The URL does not answer.
    #[error(
        "--metrics {url}: {problem}; the URL is that of `weft serve --metrics`, such as \
         http://127.0.0.1:9100/metrics"
    )]
    Metrics {
        /// URL as given.
        url: String,
        /// Problem.
        problem: String,
    },
}

impl UsageSource {
    /// Reads the present usage.
    pub fn read(&self) -> Result<Usage, UsageError> {
        match self {
            UsageSource::Process(pid) => {
                let usage = ProcessUsage::of(*pid);
                Ok(usage.ok_or(UsageError::Process(*pid))?.into())
            }
            UsageSource::Metrics(url, token) => {
                let wrong = |problem: String| UsageError::Metrics {
                    url: url.clone(),
                    problem,
                };
                let text = fetch(url, token.as_deref()).map_err(|e| wrong(e.to_string()))?;
                let lacking = || wrong("it lacks process_cpu_seconds_total".into());
                from_metrics(&text).ok_or_else(lacking)
            }
        }
    }
}

fn fetch(url: &str, token: Option<&str>) -> Result<String, ureq::Error> {
    let mut request = ureq::get(url)
        .config()
        .timeout_global(Some(METRICS))
        .build();
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut response = request.call()?;
    let body = response.body_mut().with_config().limit(MAX_METRICS);
    body.read_to_string()
}

/// Reads the usage from metrics in Prometheus' text format.
fn from_metrics(text: &str) -> Option<Usage> {
    let value = |name: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line?.trim().parse().ok()
    };
    Some(Usage {
        cpu_s: value("process_cpu_seconds_total ")?,
        memory: value("process_resident_memory_bytes ")? as u64,
    })
}

/// Times of all processors of this machine, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MachineTime {
    idle: f64,
    all: f64,
}

impl MachineTime {
    pub fn read() -> Option<MachineTime> {
        MachineTime::of(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Fields of the first line of /proc/stat: user, nice, system, idle, iowait, ...
    fn of(stat: &str) -> Option<MachineTime> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?;
        let fields: Vec<f64> = fields
            .split_whitespace()
            .take(8)
            .filter_map(|field| field.parse().ok())
            .collect();
        Some(MachineTime {
            idle: fields.get(3)? + fields.get(4)?,
            all: fields.iter().sum(),
        })
    }

    /// Returns the share of the time since `before` in which the processors were idle, 0
    /// to 1.
    pub fn idle_since(self, before: MachineTime) -> f64 {
        let all = self.all - before.all;
        match all > 0.0 {
            true => (self.idle - before.idle) / all,
            false => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_exist_names_its_option() {
        let error = UsageSource::Process(u32::MAX).read().expect_err("none");
        assert!(error.to_string().contains("--server-pid"), "{error}");
    }

    #[test]
    fn metrics_give_the_same() {
        let text = "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.5\n\
                    process_resident_memory_bytes 1048576\n";
        let usage = from_metrics(text).expect("both");
        assert_eq!((usage.cpu_s, usage.memory), (1.5, 1 << 20));
        assert_eq!(from_metrics("weft_rooms 1\n"), None);
    }

    #[test]
    fn idle_time_is_a_share() {
        let before = MachineTime::of("cpu  100 0 100 700 100 0 0 0 0 0\n").expect("a line");
        let after = MachineTime::of("cpu  160 0 110 725 105 0 0 0 0 0\n").expect("a line");
        assert_eq!(after.idle_since(before), 0.3);
    }
}
