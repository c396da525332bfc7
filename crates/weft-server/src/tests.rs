//! HTTP side over real sockets, in front of a media plane that only answers.

mod admin;
mod admission;
mod certificate;
mod client;
mod cluster;
mod cors;
mod http;
mod ice_servers;
mod log;
mod moderation;
mod nats;
mod playing;
mod presence;
mod quotas;
mod reception;
mod reconfiguration;
mod recordings;
mod redirects;
mod roles;
mod security;
mod stub;
mod talk;
mod tokens;
mod turn;
mod webhooks;
