mod properties;
mod scenarios;
mod support;
mod units;
