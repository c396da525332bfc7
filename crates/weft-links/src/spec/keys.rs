/// Keys of a link specification.
pub const KEYS: &[&str] = &[
    "rate",
    "trace",
    "delay",
    "loss",
    "burst-loss",
    "queue",
    "jitter",
    "aqm",
    "ecn",
    "burst",
];
