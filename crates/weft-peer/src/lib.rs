//! Sans-IO peer: one association and one session behind one offer or answer.
