//! Conference server: HTTP, WHIP, WHEP, rooms, the embedded page.
