//! Sans-IO selective forwarding: rooms, subscriptions, layer choice.
