//! Datums to core.
