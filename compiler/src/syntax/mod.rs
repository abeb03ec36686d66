//! Source text to datums with positions.
