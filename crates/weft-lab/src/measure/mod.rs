//! What is found out about one run: metrics, time series, and whether the
//! links did what they should.

pub mod capacity;
pub mod check;
pub mod metrics;
pub mod percentiles;
pub mod run;
pub mod series;
pub mod view;
