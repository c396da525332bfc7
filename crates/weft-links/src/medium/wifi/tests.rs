//! Tests of the cell against closed forms of the literature.

mod anomaly;
mod any;
mod bianchi;
mod edca;
mod goodput;
mod hidden;
mod noise;
mod rules;
mod saturated;
