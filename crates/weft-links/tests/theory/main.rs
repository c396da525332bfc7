//! Link models against what theory and their specifications say of them.

mod codel;
mod droptail;
mod fq_codel;
mod pie;
mod world;
