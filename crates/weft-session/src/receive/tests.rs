mod h264;
mod properties;
mod scenarios;
mod support;
mod units;
