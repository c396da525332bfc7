//! Congestion controllers and the pacer, one instance per path.
