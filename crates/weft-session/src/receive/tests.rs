mod dead_path;
mod h264;
mod profile;
mod properties;
mod scenarios;
mod support;
mod units;
