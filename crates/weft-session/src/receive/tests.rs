mod scenarios;
mod support;
