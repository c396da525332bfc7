//! Sockets bound to interfaces, clock, entropy and the driver loop.
