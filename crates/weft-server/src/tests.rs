//! The HTTP side over real sockets, before a media plane that only answers.

mod client;
mod http;
mod presence;
mod security;
mod stub;
