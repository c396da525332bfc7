//! Link models against what theory and their specifications say of them.

mod codel;
mod droptail;
mod dualpi2;
mod fq_codel;
mod pie;
mod world;
