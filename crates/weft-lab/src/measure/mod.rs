//! Evaluation of one run: metrics, time series, and the self-check of the links.

pub mod capacity;
pub mod check;
pub mod metrics;
pub mod percentiles;
pub mod run;
pub mod series;
pub mod view;
